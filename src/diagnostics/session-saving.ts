import type { Request, Response } from 'express'
import { passportUserWasRemoved, sessionOf } from '../session/store.js'

/** How express-session treats a session that a request did not change. */
export type Saving = 'left alone' | 'resaved' | 'saved though new'

/**
 * Watches one request to its end, since express-session does not show its options: who finds an unchanged session
 * saved there, knows them. Nothing is told of a request that changed its session, or saved it by itself.
 */
export function watchSaving(
  req: Request,
  res: Response,
  emit: (saving: Saving, isNew: boolean) => void,
): void {
  // Then Passport has changed the session before we could look.
  if (passportUserWasRemoved(req)) return
  const session = sessionOf(req)
  const isNew = !req.get('cookie')?.includes(req.sessionID)
  const before = contentOf(session)
  const { save } = session
  let saves = 0
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: typeof session, ...rest: Parameters<typeof save>) {
      saves++
      return save.apply(this, rest)
    },
  })

  const { end } = res
  Object.defineProperty(res, 'end', {
    configurable: true,
    writable: true,
    value(this: Response, ...rest: Parameters<typeof end>) {
      const unchanged = saves === 0 && isStill(req, session) && contentOf(session) === before
      const result = end.apply(this, rest)
      if (unchanged) emit(saves === 0 ? 'left alone' : isNew ? 'saved though new' : 'resaved', isNew)
      return result
    },
  })
}

function isStill(req: Request, session: object): boolean {
  try {
    return sessionOf(req) === session
  } catch {
    return false
  }
}

/** As express-session compares: all but the cookie, whose times move. */
function contentOf(session: object): string {
  return JSON.stringify({ ...session, cookie: undefined })
}
