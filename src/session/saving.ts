import type { Request } from 'express'
import type { Session, Store } from 'express-session'
import { ignore } from '../no-op.js'

/** How a session was found, and what its saves call. */
interface Saving {
  readonly isStored?: boolean
  readonly content?: string | undefined
  readonly before?: () => unknown
  /** Called when it is saved unchanged at the end of a response, as with `resave: true`. */
  readonly onResave?: () => void
}

const GUARDED = Symbol('countersign.guarded')

/** Has a session saved if it changed and, once stored, only while the store has it: no request under way brings it back (R07, R149). */
export function guardSaves(
  req: Request,
  store: Store,
  session: Session,
  { before, onResave, ...found }: Saving,
): void {
  // Not express-session's own property of that name: after it, the end of the response prolongs the session instead of saving it.
  const save: unknown = Reflect.get(Reflect.getPrototypeOf(session) ?? {}, 'save')
  if (typeof save !== 'function') return
  let { isStored, content } = found
  let isSettled = false
  Object.defineProperty(session, GUARDED, { configurable: true, value: true })
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: Session, given?: (cause?: unknown) => void) {
      const done = given ?? ignore
      before?.()
      const now = describeContent(this)
      const settle = (cause?: unknown) => {
        if (!cause) [content, isStored, isSettled] = [now, true, true]
        done(cause)
      }
      const write = () => save.call(this, settle)
      const isUnchanged = now === content
      // The host's own save comes before the response, or without a callback.
      if (isUnchanged && !isSettled && given) setImmediate(() => req.res?.headersSent && onResave?.())
      if (isUnchanged && isSettled) done()
      else if (isUnchanged && store.touch) store.touch(this.id, this, settle)
      else if (!isStored) write()
      else store.get(this.id, (cause, stored) => (cause || !stored ? done(cause) : write()))
      return this
    },
  })
}

/** Everything that the store keeps, except when the cookie ends, which changes with each request. */
function describeContent(session: Session): string {
  return JSON.stringify([
    { ...session, cookie: undefined },
    { ...session.cookie, _expires: undefined },
  ])
}

const watched = new WeakSet<Store>()

/** Guards the session of a request and, from now on, every session with a record that its store loads, before any handler can change it. */
export function guardStored(req: Request, store: Store, session: Session, onResave: () => void): void {
  if (!(GUARDED in session)) guardSaves(req, store, session, { isStored: true })
  if (watched.has(store)) return
  watched.add(store)
  const { createSession } = store
  // Noting the content of further ones would cost each page, and is in vain unless one was saved unchanged.
  let left = 1_000
  store.createSession = function guardedSession(forRequest, data) {
    const loaded = createSession.call(this, forRequest, data)
    if (!('mfa' in data)) return loaded
    guardSaves(forRequest, store, loaded, {
      isStored: true,
      content: left-- > 0 ? describeContent(loaded) : undefined,
      onResave() {
        left = Number.POSITIVE_INFINITY
        onResave()
      },
    })
    return loaded
  }
}
