import type { Request, Response } from 'express'
import { passportUserWasRemoved, sessionOf } from '../session/store.js'

/** What express-session does with a session that the request did not change. */
export type Saving = 'not saved' | 'resaved' | 'saved new'

/**
 * Observes whether express-session saves an unchanged session at the end of the request. This reveals its options, which
 * it does not expose. `report` is not called if the request changed its session or saved it itself.
 */
export function observeSaving(
  req: Request,
  res: Response,
  report: (saving: Saving, isNew: boolean) => void,
): void {
  // Passport has already changed the session.
  if (passportUserWasRemoved(req)) return
  const session = sessionOf(req)
  const isNew = !req.get('cookie')?.includes(req.sessionID)
  const before = contentOf(session)
  const { save } = session
  let saves = 0
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: typeof session, ...args: Parameters<typeof save>) {
      saves++
      return save.apply(this, args)
    },
  })

  const { end } = res
  Object.defineProperty(res, 'end', {
    configurable: true,
    writable: true,
    value(this: Response, ...args: Parameters<typeof end>) {
      const unchanged = saves === 0 && hasSameSession(req, session) && contentOf(session) === before
      const result = end.apply(this, args)
      if (unchanged) report(saves === 0 ? 'not saved' : isNew ? 'saved new' : 'resaved', isNew)
      return result
    },
  })
}

function hasSameSession(req: Request, session: object): boolean {
  try {
    return sessionOf(req) === session
  } catch {
    return false
  }
}

/** The content that express-session compares: everything except the cookie, whose times change. */
function contentOf(session: object): string {
  return JSON.stringify({ ...session, cookie: undefined })
}
