import type { Request } from 'express'
import type { VaultUser } from './store/users.js'

/** How a login ended, and where to go now. */
export interface LoggedIn {
  readonly status: 'mfa_required' | 'signed_in'
  readonly next: string
}

/**
 * Opens a session for somebody whose password was right. Countersign wraps `req.logIn`: for a person with second
 * factors this is only half of it, and the target is kept until the other half is done.
 */
export async function logIn(req: Request, user: VaultUser, target: string): Promise<LoggedIn> {
  req.session.returnTo = target
  await new Promise<void>((resolve, reject) =>
    req.logIn(user, (error: unknown) => (error ? reject(error) : resolve())),
  )
  if (req.mfa?.status === 'pending') return { status: 'mfa_required', next: '/mfa' }
  delete req.session.returnTo
  return { status: 'signed_in', next: target }
}
