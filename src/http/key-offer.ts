import type { Request, Response } from 'express'
import { cookieReader } from './request.js'

const COOKIE = 'mfa_key_offer'

const read = cookieReader(COOKIE, /1/)

/** Whether this browser was offered a passkey lately. The cookie identifies no user and proves nothing. */
export function wasOfferedKey(req: Request): boolean {
  return read(req) !== undefined
}

/** Remembers for that long that this browser was offered a passkey, for this package's routes only (R11). */
export function rememberKeyOffer(req: Request, res: Response, path: string, maxAge: number): void {
  res.cookie(COOKIE, '1', { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge })
}
