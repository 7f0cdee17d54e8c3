import type { Request, Response } from 'express'
import { DAY_MS } from '../../time.js'

/** Returns a function that reads the cookie `name`, if its whole value matches `value`. */
export function cookieReader(name: string, value: RegExp): (req: Request) => string | undefined {
  const cookie = new RegExp(`(?:^|;\\s*)${name}=(${value.source})(?:;|$)`)
  return (req) => cookie.exec(req.get('cookie') ?? '')?.[1]
}

/** Sets a cookie that no script reads, and that a browser sends for a form of another site only with `GET`. */
export function setCookie(
  req: Request,
  res: Response,
  name: string,
  value: string,
  path: string,
  maxAge: number,
): void {
  res.cookie(name, value, { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge })
}

/*
 * What a browser remembers for its user. These cookies prove nothing.
 */

/** How long a browser remembers what was chosen or used in it. */
export const YEAR_MS = 365 * DAY_MS

const FACTOR_COOKIE = 'mfa_last'

/** The factor that was last used in this browser, offered first the next time. It proves nothing. */
export const lastUsedFactor = cookieReader(FACTOR_COOKIE, /[a-z0-9_-]{1,32}/)

/** Remembers the factor that was used, for this package's routes only (R11). */
export function rememberUsedFactor(req: Request, res: Response, factorId: string, path: string): void {
  setCookie(req, res, FACTOR_COOKIE, factorId, path, YEAR_MS)
}

const OFFER_COOKIE = 'mfa_key_offer'

const hasOfferCookie = cookieReader(OFFER_COOKIE, /1/)

/** Whether this browser was offered a passkey lately. The cookie identifies no user and proves nothing. */
export function wasOfferedKey(req: Request): boolean {
  return hasOfferCookie(req) !== undefined
}

/** Remembers for that long that this browser was offered a passkey, for this package's routes only (R11). */
export function rememberKeyOffer(req: Request, res: Response, path: string, maxAge: number): void {
  setCookie(req, res, OFFER_COOKIE, '1', path, maxAge)
}

const LANGUAGE_COOKIE = 'mfa_language'

/** The language that was chosen in this browser. The value is only compared with the offered languages. */
export const chosenLanguage = cookieReader(LANGUAGE_COOKIE, /[a-zA-Z0-9-]{2,35}/)

/** Remembers the chosen language. The cookie is sent to all paths, since the host's own routes send messages, too (R11). */
export function rememberLanguage(req: Request, res: Response, tag: string): void {
  setCookie(req, res, LANGUAGE_COOKIE, tag, '/', YEAR_MS)
}
