import type { Request } from 'express'
import passport from 'passport'
import { isObject, readObject } from '../json.js'
import { readParts } from './record-text.js'
import type { Awaitable } from './state.js'

/*
 * While a login is pending, what Passport serialized of the user is kept beside our record instead of where Passport keeps it, so that
 * nothing finds a user in a session that has not passed the gate: no WebSocket server, no route before the gate (R134).
 */

/** The property of the session that Passport uses. */
function findPassportKey(req: Request): string {
  const key = readObject(Reflect.get(req, '_sessionManager'))._key
  return typeof key === 'string' ? key : 'passport'
}

/** The part of Passport that brings back a user. Its own session strategy calls the same methods. */
interface Authenticator {
  serializeUser(user: Express.User, req: Request, done: (error: unknown, serialized?: unknown) => void): void
  deserializeUser(serialized: unknown, req: Request, done: (error: unknown, user?: unknown) => void): void
}

/** The instance of Passport of a request, if it is the default one or `passport.initialize()` ran. */
function findAuthenticator(req: Request): Authenticator | undefined {
  const manager: unknown = Reflect.get(req, '_sessionManager')
  const initialized = readObject(Reflect.get(req, '_passport')).instance
  const found = [passport, initialized].find(
    (one) => manager !== undefined && readObject(one)._sm === manager,
  )
  return typeof readObject(found).deserializeUser === 'function' ? (found as Authenticator) : undefined
}

/** Whether the instance of Passport is known, so that the user of a pending login can be withheld from the session. */
export function isPassportKnown(req: Request): boolean {
  return findAuthenticator(req) !== undefined
}

/** Finds the user that Passport once serialized, at once if the host does. `undefined` if the host no longer finds them. */
export function deserializeUser(req: Request, serialized: unknown): Awaitable<Express.User | undefined> {
  const authenticator = findAuthenticator(req)
  if (!authenticator) return undefined
  let first: { readonly error: unknown; readonly user: Express.User | undefined } | undefined
  const asked = new Promise<Express.User | undefined>((resolve, reject) => {
    authenticator.deserializeUser(serialized, req, (error, found) => {
      const user = typeof found === 'object' && found !== null ? (found as Express.User) : undefined
      first ??= { error, user }
      if (error) reject(error)
      else resolve(user)
    })
  })
  return first && !first.error ? first.user : asked
}

/** The user as Passport keeps them in a session; `undefined` if the instance of Passport is not known. */
export async function serializeUser(req: Request, user: Express.User): Promise<unknown> {
  const authenticator = findAuthenticator(req)
  if (!authenticator) return undefined
  return new Promise((resolve, reject) => {
    authenticator.serializeUser(user, req, (error, serialized) =>
      error ? reject(error) : resolve(serialized),
    )
  })
}

/** A session as this file uses it. `mfa` is the record as it is stored, with the user in it while the login is pending. */
type Holder = { mfa?: unknown }

/** Whether Passport data of a session name a user. */
export function isSerializedUser(user: unknown): boolean {
  return Boolean(user) || user === 0
}

/** Passport's part of a session. */
export function findPassportData(
  req: Request,
  session: object,
): Readonly<Record<string, unknown>> | undefined {
  const data: unknown = Reflect.get(session, findPassportKey(req))
  return isObject(data) ? data : undefined
}

/** Moves a pending user out of Passport's part of the session, if the gate can bring them back. */
export function withholdFromSession(req: Request, session: Holder): void {
  const { user, ...rest } = readObject(findPassportData(req, session))
  if (!isSerializedUser(user) || !isPassportKnown(req)) return
  keepBesideRecord(session, user)
  if (Object.keys(rest).length === 0) Reflect.deleteProperty(session, findPassportKey(req))
  else Reflect.set(session, findPassportKey(req), rest)
}

/** Adds the withheld user to the record in the session. */
export function keepBesideRecord(session: Holder, user: unknown): void {
  const { mfa } = session
  session.mfa = { ...readParts(mfa), user }
}

/** Puts the user back where Passport looks, since no second factor is required any more. */
export function returnToPassport(req: Request, session: Holder, user: unknown): void {
  Reflect.set(session, findPassportKey(req), { ...findPassportData(req, session), user })
}

/** The withheld user as Passport serialized them; `undefined` if the session has none. */
export function readWithheld({ mfa }: Holder): unknown {
  return readObject(mfa).user
}
