import type { Request } from 'express'
import { HostError } from '../errors.js'

/** What Passport 0.6 and 0.7 put on a request, as far as we use it. */
export interface PassportRequest {
  logIn: LogIn
  logOut(done: (error?: unknown) => void): void
}

export type LogIn = (
  this: Request,
  user: Express.User,
  options: LogInOptions,
  done: (error?: unknown) => void,
) => void

export interface LogInOptions {
  readonly session?: boolean
  readonly keepSessionInfo?: boolean
}

/**
 * The request with Passport's methods.
 * @throws {HostError} when Passport has not seen it.
 */
export function passportOf(req: Request): Request & PassportRequest {
  if (typeof Reflect.get(req, 'logIn') === 'function' && typeof Reflect.get(req, 'logOut') === 'function') {
    return req as Request & PassportRequest
  }
  throw new HostError(
    'ERR_MFA_NO_PASSPORT',
    'Passport has not seen this request. Mount passport.session() after express-session and before mfaSession: app.use(passport.session()).',
  )
}

/** Signs somebody in as Passport does it, with whatever has been made of `req.logIn` on the way. */
export function logIn(req: Request, user: Express.User): Promise<void> {
  return new Promise((resolve, reject) => {
    passportOf(req).logIn(user, {}, (error) => (error ? reject(error) : resolve()))
  })
}

/** The user whom Passport found, under the name that the host chose (`userProperty`). */
export function userOf(req: Request): Express.User | undefined {
  const user: unknown = Reflect.get(req, userProperty(req))
  // What the host's user holds beyond being an object, only the host knows.
  return typeof user === 'object' && user !== null ? (user as Express.User) : undefined
}

/** Withholds the user from all that comes after. */
export function withholdUser(req: Request): void {
  Reflect.set(req, userProperty(req), undefined)
}

function userProperty(req: Request): string {
  const name: unknown = Reflect.get(req, '_userProperty')
  return typeof name === 'string' ? name : 'user'
}
