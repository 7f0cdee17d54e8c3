import type { Request } from 'express'
import type { Session, Store } from 'express-session'
import { ignore } from '../no-op.js'

/*
 * How a session with a record is saved: once for the same content, and a stored one only while the store still has it, so that no
 * request under way brings back a session that ended (R07, R149).
 */

/** What is known about a session before it is saved. */
interface Saving {
  /** Whether it came from the store. */
  readonly isStored?: boolean
  /** The content that the store has, if it is known. */
  readonly content?: string | undefined
  /** Called before each save. */
  readonly before?: (() => unknown) | undefined
  /** Called when it is saved unchanged at the end of a response, as with `resave: true`. */
  readonly onResave?: () => void
}

const GUARDED = Symbol('countersign.guarded')

/** Has a session saved if it changed and, once it is stored, only while the store has it. */
export function guardSaves(req: Request, session: Session, { before, onResave, ...found }: Saving): void {
  // Not express-session's own property of that name: after it, the end of the response prolongs the session instead of saving it.
  const save: unknown = Reflect.get(Reflect.getPrototypeOf(session) ?? {}, 'save')
  if (typeof save !== 'function') return
  const store = req.sessionStore
  let { isStored, content } = found
  let isSettled = false
  Object.defineProperty(session, GUARDED, { configurable: true, value: true })
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: Session, given?: (cause?: unknown) => void) {
      const done = given ?? ignore
      before?.()
      const now = contentOf(this)
      const settled = (cause?: unknown) => {
        if (!cause) [content, isStored, isSettled] = [now, true, true]
        done(cause)
      }
      const write = () => save.call(this, settled)
      const isUnchanged = now === content
      if (isUnchanged && isSettled) done()
      else {
        // The host's own save comes before the response, or without a callback.
        if (isUnchanged && given) setImmediate(() => req.res?.headersSent && onResave?.())
        if (isUnchanged && store.touch) store.touch(this.id, this, settled)
        else if (!isStored) write()
        else store.get(this.id, (cause, stored) => (cause || !stored ? done(cause) : write()))
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

/** After so many sessions, the content of further ones is noted only if one was saved unchanged. */
const SAMPLE = 1_000

const watched = new WeakSet<Store>()

/** Guards the session of a request and, from now on, every session with a record that its store loads, before any handler can change it. */
export function guardStored(req: Request, session: Session, onResave: () => void): void {
  if (!(GUARDED in session)) guardSaves(req, session, { isStored: true })
  const store = req.sessionStore
  if (watched.has(store)) return
  watched.add(store)
  const { createSession } = store
  let left = SAMPLE
  const resaved = () => {
    left = Number.POSITIVE_INFINITY
    onResave()
  }
  store.createSession = function guardedSession(forRequest, data) {
    const loaded = createSession.call(this, forRequest, data)
    if (!('mfa' in data)) return loaded
    const content = left-- > 0 ? contentOf(loaded) : undefined
    guardSaves(forRequest, loaded, { isStored: true, content, onResave: resaved })
    return loaded
  }
}
