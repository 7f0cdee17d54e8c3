import type { Request } from 'express'
import session from 'express-session'
import type { VaultContext } from './context.js'
import type { Notice } from './views/notice.js'

declare module 'express-session' {
  interface SessionData {
    /** Where somebody wanted to go before they were asked to sign in; the name that connect-ensure-login uses. */
    returnTo?: string
    /** Told on the next page, once. */
    notice?: Notice
  }
}

/** The session middleware, wired as any app would. */
export function vaultSession({ sessionSecret, sessionStore }: VaultContext) {
  return session({
    name: 'vault.sid',
    secret: sessionSecret,
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto' },
    ...(sessionStore && { store: sessionStore }),
  })
}

/** The notice that an earlier request left for this page. */
export function takeNotice(req: Request): Notice | undefined {
  const { notice } = req.session
  delete req.session.notice
  return notice
}
