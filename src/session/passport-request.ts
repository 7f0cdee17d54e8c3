import type { Request } from 'express'
import passport from 'passport'
import { HostError } from '../errors.js'

/** The methods of Passport 0.6 and 0.7 on a request that we use. */
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

/** The request with Passport's methods. @throws {HostError} when `passport.session()` did not run for it. */
export function passportOf(req: Request): Request & PassportRequest {
  if (typeof Reflect.get(req, 'logIn') === 'function' && typeof Reflect.get(req, 'logOut') === 'function') {
    return req as Request & PassportRequest
  }
  throw new HostError(
    'ERR_MFA_NO_PASSPORT',
    'passport.session() did not run for this request. Mount it after express-session and before mfa.session: app.use(passport.session()). An app that keeps the user in the session itself (session.userId) must also sign users in with req.logIn, or nobody is asked for a second factor: see recipes/without-passport in the repository.',
  )
}

/** Marks our replacement of `req.logIn`, for other copies of the package in this process. */
export const GATED = Symbol.for('countersign.gated')

/** Whether `req.logIn` is our replacement, so that the request passed a gate, of this copy of the package or of another one. */
export function isGated(req: Request): boolean {
  return GATED in Object(Reflect.get(req, 'logIn'))
}

let areUngatedRefused = false

/** From now on, a sign-in by Passport's default instance fails if the request passed no gate (R01). */
export function refuseUngatedLogins(refusal: () => Error): void {
  const manager = propertyOf(passport, '_sm')
  const logIn = propertyOf(manager, 'logIn')
  if (areUngatedRefused || typeof logIn !== 'function') return
  areUngatedRefused = true
  Reflect.set(Object(manager), 'logIn', function gatedOnly(this: object, req: Request, ...rest: unknown[]) {
    if (isGated(req)) return Reflect.apply(logIn, this, [req, ...rest])
    const done = rest.find((part) => typeof part === 'function')
    Reflect.apply(done ?? (() => {}), undefined, [refusal()])
  })
}

/** Signs the user in by `req.logIn`, which is our replacement where `wrapLogIn` ran. */
export function logIn(req: Request, user: Express.User, options: LogInOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    passportOf(req).logIn(user, options, (error) => (error ? reject(error) : resolve()))
  })
}

/** Passport's user, under the property name that the host chose (`userProperty`). */
export function userOf(req: Request): Express.User | undefined {
  const user: unknown = Reflect.get(req, userProperty(req))
  // Only the host knows the shape of its users.
  return typeof user === 'object' && user !== null ? (user as Express.User) : undefined
}

export function withholdUser(req: Request): void {
  const name = userProperty(req)
  // On Node 20, adding a property to a request of Express costs 5 µs.
  if (Reflect.get(req, name) !== undefined) Reflect.set(req, name, undefined)
}

export function showUser(req: Request, user: Express.User): void {
  Reflect.set(req, userProperty(req), user)
}

/** The property of the session that Passport uses. */
function passportKeyOf(req: Request): string {
  const key = propertyOf(Reflect.get(req, '_sessionManager'), '_key')
  return typeof key === 'string' ? key : 'passport'
}

/** The part of Passport that brings back a user. Its own session strategy calls the same method. */
interface Authenticator {
  deserializeUser(serialized: unknown, req: Request, done: (error: unknown, user?: unknown) => void): void
}

/** The instance of Passport of a request, if it is the default one or `passport.initialize()` ran. */
function authenticatorOf(req: Request): Authenticator | undefined {
  const manager: unknown = Reflect.get(req, '_sessionManager')
  const initialized = propertyOf(Reflect.get(req, '_passport'), 'instance')
  const found = [passport, initialized].find(
    (one) => manager !== undefined && propertyOf(one, '_sm') === manager,
  )
  return typeof propertyOf(found, 'deserializeUser') === 'function' ? (found as Authenticator) : undefined
}

/** Whether the instance of Passport is known, so that the user of a pending login can be withheld from the session. */
export function isPassportKnown(req: Request): boolean {
  return authenticatorOf(req) !== undefined
}

/** The user that Passport once serialized; `undefined` if the host no longer finds them. */
export function deserializeUser(req: Request, serialized: unknown): Promise<Express.User | undefined> {
  return new Promise((resolve, reject) => {
    const found = (error: unknown, user: unknown) => {
      if (error) reject(error)
      else resolve(typeof user === 'object' && user !== null ? (user as Express.User) : undefined)
    }
    const authenticator = authenticatorOf(req)
    if (authenticator) authenticator.deserializeUser(serialized, req, found)
    else resolve(undefined)
  })
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function userProperty(req: Request): string {
  const name: unknown = Reflect.get(req, '_userProperty')
  return typeof name === 'string' ? name : 'user'
}

/*
 * While a login is pending, what Passport serialized of the user is kept beside our record instead of where Passport keeps it, so that
 * nothing finds a user in a session that has not passed the gate: no WebSocket server, no route before the gate (R134).
 */

/** A session as this file uses it. `mfa` is the record as it is stored, with the user in it while the login is pending. */
type Holder = { mfa?: unknown }

/** Whether Passport data of a session name a user. */
export function isSerializedUser(user: unknown): boolean {
  return Boolean(user) || user === 0
}

export function passportDataOf(req: Request, session: object): object | undefined {
  const data: unknown = Reflect.get(session, passportKeyOf(req))
  return typeof data === 'object' && data !== null ? data : undefined
}

/** Moves a pending user out of Passport's part of the session, if the gate can bring them back. */
export function withholdFromSession(req: Request, session: Holder): void {
  const { user, ...rest }: { user?: unknown } = passportDataOf(req, session) ?? {}
  if (!isSerializedUser(user) || !isPassportKnown(req)) return
  keepBesideRecord(session, user)
  if (Object.keys(rest).length === 0) Reflect.deleteProperty(session, passportKeyOf(req))
  else Reflect.set(session, passportKeyOf(req), rest)
}

/** Adds the withheld user to the record in the session. */
export function keepBesideRecord(session: Holder, user: unknown): void {
  const { mfa } = session
  session.mfa = { ...(typeof mfa === 'object' ? mfa : { record: mfa }), user }
}

/** Puts the user back where Passport looks, since no second factor is required any more. */
export function returnToPassport(req: Request, session: Holder, user: unknown): void {
  Reflect.set(session, passportKeyOf(req), { ...passportDataOf(req, session), user })
}

/** The withheld user as Passport serialized them; `undefined` if the session has none. */
export function withheldIn({ mfa }: Holder): unknown {
  return typeof mfa === 'object' && mfa !== null ? Reflect.get(mfa, 'user') : undefined
}
