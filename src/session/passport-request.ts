import type { Request } from 'express'
import { HostError } from '../errors.js'

/** The methods of Passport 0.6 and 0.7 on a request that we use. */
export interface PassportRequest
  extends Record<'logIn' | 'login', LogIn>,
    Record<'logOut' | 'logout', LogOut> {}

/** The function `req.logOut` of Passport. */
export type LogOut = (this: Request, ...rest: unknown[]) => void

/** The function `req.logIn` of Passport. */
export type LogIn = (
  this: Request,
  user: Express.User,
  options: LogInOptions,
  done: (error?: unknown) => void,
) => void

/** The options of `req.logIn`. */
export interface LogInOptions {
  readonly session?: boolean
  readonly keepSessionInfo?: boolean
}

/** The request with Passport's methods. @throws {HostError} when `passport.session()` did not run for it. */
export function requirePassport(req: Request): Request & PassportRequest {
  if (typeof Reflect.get(req, 'logIn') === 'function' && typeof Reflect.get(req, 'logOut') === 'function') {
    return req as Request & PassportRequest
  }
  throw new HostError(
    'ERR_MFA_NO_PASSPORT',
    'passport.session() did not run for this request. Mount it after express-session and before mfa.session: app.use(passport.session()). An app that keeps the user in the session itself (session.userId) must also sign users in with req.logIn, or nobody is asked for a second factor: see recipes/without-passport in the repository.',
  )
}

/** Has the request sign users in for itself alone, in an app that mounts no `passport.session()`. */
export function signInForRequest(req: Request): void {
  const logIn: LogIn = (user, _options, done) => {
    showUser(req, user)
    done()
  }
  const logOut: LogOut = (...rest) => {
    withholdUser(req)
    for (const part of rest) if (typeof part === 'function') part()
  }
  Object.assign(req, { logIn, login: logIn, logOut, logout: logOut })
}

/** Signs the user in by `req.logIn`, which is our replacement where `passGate` ran. */
export function logIn(req: Request, user: Express.User, options: LogInOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    requirePassport(req).logIn(user, options, (error) => (error ? reject(error) : resolve()))
  })
}

/** Passport's user, under the property name that the host chose (`userProperty`). */
export function getUser(req: Request): Express.User | undefined {
  const user: unknown = Reflect.get(req, userProperty(req))
  // Only the host knows the shape of its users.
  return typeof user === 'object' && user !== null ? (user as Express.User) : undefined
}

/** The user whom the strategy before has signed in for this request. `handler` is what needs one. @throws {HostError} without. */
export function requireUser(req: Request, handler: string): Express.User {
  const user = getUser(req)
  if (user) return user
  throw new HostError(
    'ERR_MFA_NO_PASSPORT',
    `${handler} found no user on the request. Mount it after passport.authenticate('local', { session: false }).`,
  )
}

/** Removes the user of a pending login from the request. */
export function withholdUser(req: Request): void {
  const name = userProperty(req)
  // On Node 20, adding a property to a request of Express costs 5 µs.
  if (Reflect.get(req, name) !== undefined) Reflect.set(req, name, undefined)
}

/** Sets the user of the request. */
export function showUser(req: Request, user: Express.User): void {
  Reflect.set(req, userProperty(req), user)
}

function userProperty(req: Request): string {
  const name: unknown = Reflect.get(req, '_userProperty')
  return typeof name === 'string' ? name : 'user'
}
