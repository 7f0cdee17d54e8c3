import type { Request } from 'express'
import { localPath } from './http/local-path.js'
import type { VaultUser } from './store/users.js'

/** The result of a login, and the next address. */
export interface LoggedIn {
  readonly status: 'mfa_required' | 'signed_in'
  readonly next: string
}

/**
 * Signs in a user whose password was correct. Countersign replaces `req.logIn`: for a user with a second factor this starts a
 * pending login, and the target is kept until the second factor is shown.
 */
export async function logIn(req: Request, user: VaultUser, target: string): Promise<LoggedIn> {
  req.session.returnTo = target
  await new Promise<void>((resolve, reject) =>
    req.logIn(user, (error: unknown) => (error ? reject(error) : resolve())),
  )
  if (req.mfa?.status === 'pending') return { status: 'mfa_required', next: '/mfa' }
  // After a step-up at the identity provider, countersign goes on with what it interrupted.
  const next = localPath(req.session.returnTo, target)
  delete req.session.returnTo
  return { status: 'signed_in', next }
}
