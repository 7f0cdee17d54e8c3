import { isDeepStrictEqual } from 'node:util'
import type { Request } from 'express'
import type { Session, Store } from 'express-session'

/*
 * How the sessions of signed-in users and pending logins are saved: once for the same content, and a stored one only while the store
 * still has it, so that no request that is under way brings back a session that ended (R07, R149).
 */

/** What is known about how a session is stored. */
interface Saving {
  /** Whether the store has, or had, the session. */
  isStored?: boolean
  /** The content that the store has, if it is known. */
  content?: string | undefined
  /** Whether this request has saved or prolonged the session. */
  isSettled?: boolean
  /** Called before each save. */
  before?: (() => unknown) | undefined
  /** Called when an unchanged session is saved at the end of a response, as with `resave: true`. */
  onResave?: () => void
}

type Done = (cause?: unknown) => void

const SAVING = Symbol('countersign.saving')

function savingOf(session: Session): Saving {
  const known: Saving | undefined = Reflect.get(session, SAVING)
  if (known) return known
  const saving = {}
  Object.defineProperty(session, SAVING, { value: saving })
  return saving
}

/** Has the next save store the session, and further ones only what changed, while the store has it. */
export function storeNext(req: Request, session: Session, before?: () => unknown): void {
  Object.assign(savingOf(session), { isStored: false, content: undefined, before })
  replaceSave(req, session)
}

/** Has a session that came from the store saved only if it changed, and only while the store has it. `onResave`: see `Saving`. */
export function storeWhileStored(req: Request, session: Session, onResave: () => void): void {
  const saving = savingOf(session)
  if (saving.isStored !== undefined) return
  Object.assign(saving, { isStored: true, onResave })
  replaceSave(req, session)
  const { reload } = session
  Object.defineProperty(session, 'reload', {
    configurable: true,
    writable: true,
    value(this: Session, done: Done) {
      return reload.call(this, (cause?: unknown) => {
        if (!cause) storeWhileStored(req, req.session, onResave)
        done(cause)
      })
    },
  })
}

function replaceSave(req: Request, session: Session): void {
  // Not express-session's own property of that name: after it, the end of the response prolongs the session instead of saving it.
  const save: unknown = Reflect.get(Reflect.getPrototypeOf(session) ?? {}, 'save')
  if (typeof save !== 'function') return
  const saving = savingOf(session)
  const store = req.sessionStore
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: Session, given?: Done) {
      const done = given ?? (() => {})
      saving.before?.()
      const content = contentOf(this)
      const settled: Done = (cause) => {
        if (!cause) Object.assign(saving, { content, isStored: true, isSettled: true })
        done(cause)
      }
      const write = () => save.call(this, settled)
      const prolong = () => (store.touch ? store.touch(this.id, this, settled) : write())
      const isUnchanged = content === saving.content
      // The host's own save comes before the response, or without a callback.
      const isResaved = isUnchanged && !saving.isSettled
      if (isResaved && given) setImmediate(() => req.res?.headersSent && saving.onResave?.())
      if (isUnchanged && saving.isSettled) done()
      else if (isUnchanged && store.touch) prolong()
      else if (!saving.isStored) write()
      else {
        store.get(this.id, (cause, stored) => {
          if (cause || !stored) return done(cause)
          if (!isSameContent(this, stored)) return write()
          noteLoadedContent(store)
          prolong()
        })
      }
      return this
    },
  })
}

/** Everything that the store keeps, except when the cookie ends, which changes with each request. */
function contentOf(session: Session): string {
  return JSON.stringify([
    { ...session, cookie: undefined },
    { ...session.cookie, _expires: undefined },
  ])
}

/** Whether the store has the same. A database may return the members of an object in another order. */
function isSameContent(session: Session, stored: object): boolean {
  const [now, before] = [session, stored].map((one) => {
    const { cookie, ...rest } = JSON.parse(JSON.stringify(one))
    return [rest, { ...cookie, expires: undefined }]
  })
  return isDeepStrictEqual(now, before)
}

const noting = new WeakSet<Store>()

/**
 * From now on, notes the content of each session that comes from a store, where one was saved unchanged. Elsewhere, no page pays for it.
 * At the gate it would be too late: a handler before it may have changed the session.
 */
function noteLoadedContent(store: Store): void {
  if (noting.has(store)) return
  noting.add(store)
  const { createSession } = store
  store.createSession = function notedSession(...args) {
    const session = createSession.apply(this, args)
    savingOf(session).content = contentOf(session)
    return session
  }
}
