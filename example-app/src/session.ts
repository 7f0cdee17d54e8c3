import type { Request } from 'express'
import session from 'express-session'
import type { VaultContext } from './context.js'
import type { PageMessage } from './views/page-message.js'

declare module 'express-session' {
  interface SessionData {
    /** The address that the user requested before signing in, under the name that connect-ensure-login uses. */
    returnTo?: string
    /** Shown once, on the next page. */
    pageMessage?: PageMessage
    /** A phone number that waits for its code, and the id of that challenge. */
    newPhone?: { readonly phone: string; readonly challenge?: string }
  }
}

/** The session middleware. */
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

/** The message that an earlier request left for this page. */
export function takePageMessage(req: Request): PageMessage | undefined {
  const { pageMessage } = req.session
  delete req.session.pageMessage
  return pageMessage
}
