import type { Request } from 'express'
import { authenticatorOf, passportKeyOf } from './passport-request.js'

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

/** What Passport keeps in the session. */
export function passportDataOf(req: Request, session: object): object | undefined {
  const data: unknown = Reflect.get(session, passportKeyOf(req))
  return typeof data === 'object' && data !== null ? data : undefined
}

/**
 * Moves the user of a pending login out of Passport's part of the session, if the gate can bring them back: if Passport's instance
 * is known.
 */
export function withholdFromSession(req: Request, session: Holder): void {
  const { user, ...rest }: { user?: unknown } = passportDataOf(req, session) ?? {}
  if (!isSerializedUser(user) || !authenticatorOf(req)) return
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
