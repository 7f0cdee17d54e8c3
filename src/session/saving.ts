import type { Session } from 'express-session'

/**
 * Lets the session be saved once for the same content. express-session saves a session with a new id again at the end of the
 * response, and prolongs another one that was saved already: one more round trip to the store each, which could also bring
 * a session back that another request ended in the meantime (R07). `beforeSave` may change the session each time before.
 */
export function skipRepeatedSaves(session: Session, beforeSave: () => unknown = () => {}): void {
  // Not express-session's own property of that name: after it, the end of the response prolongs the session instead of saving it.
  const save: unknown = Reflect.get(Reflect.getPrototypeOf(session) ?? {}, 'save')
  if (typeof save !== 'function') return
  let saved: string | undefined
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: Session, done: (cause?: unknown) => void = () => {}) {
      beforeSave()
      const content = contentOf(this)
      if (content === saved) done()
      else {
        save.call(this, (cause: unknown) => {
          saved = cause ? undefined : content
          done(cause)
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
