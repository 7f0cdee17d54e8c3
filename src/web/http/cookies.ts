import type { Request, Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { DEFAULT_USERS } from '../../products.js'
import { getTokenLogin } from '../../session/transport.js'
import { DAY_MS } from '../../time.js'

/** The name of a cookie for a table of users, of which another one knows nothing (R144). */
export function nameCookie(users: string, name: string): string {
  return users === DEFAULT_USERS ? name : `${name}_${users}`
}

/** Reads a cookie of a table of users. */
export type CookieReader = (req: Request, users: string) => string | undefined

/** Returns a function that reads the cookie `name`, if its whole value matches `value`. */
export function cookieReader(name: string, value: RegExp): CookieReader {
  const patterns = new Map<string, RegExp>()
  const createPattern = (users: string) =>
    new RegExp(`(?:^|;\\s*)${nameCookie(users, name)}=(${value.source})(?:;|$)`)
  return (req, users) => {
    // A client that keeps tokens has no cookie of ours.
    if (getTokenLogin(req)) return undefined
    const cookie = patterns.get(users) ?? createPattern(users)
    patterns.set(users, cookie)
    return cookie.exec(req.get('cookie') ?? '')?.[1]
  }
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
  if (getTokenLogin(req)) return
  res.cookie(name, value, { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge })
}

/*
 * Values that a browser remembers for its user. These cookies prove nothing.
 */

/** How long a browser remembers what was chosen or used in it. */
export const YEAR_MS = 365 * DAY_MS

const FACTOR_COOKIE = 'mfa_last'

/** The factor that was last used in this browser, offered first the next time. It proves nothing. */
export const lastUsedFactor = cookieReader(FACTOR_COOKIE, /[a-z0-9_-]{1,32}/)

/** Remembers the factor that was used, for this package's routes only (R11). */
export function rememberUsedFactor(req: Request, res: Response, factorId: string, settings: Settings): void {
  const { users, urls } = settings
  setCookie(req, res, nameCookie(users, FACTOR_COOKIE), factorId, urls.path, YEAR_MS)
}

const OFFER_COOKIE = 'mfa_key_offer'

const hasOfferCookie = cookieReader(OFFER_COOKIE, /1/)

/** Whether this browser was offered a passkey lately. The cookie identifies no user and proves nothing. */
export function wasOfferedKey(req: Request, { users }: Settings): boolean {
  return hasOfferCookie(req, users) !== undefined
}

/** Remembers for that long that this browser was offered a passkey, for this package's routes only (R11). */
export function rememberKeyOffer(req: Request, res: Response, settings: Settings, maxAge: number): void {
  const { users, urls } = settings
  setCookie(req, res, nameCookie(users, OFFER_COOKIE), '1', urls.path, maxAge)
}

const LANGUAGE_COOKIE = 'mfa_language'

/** The language that was chosen in this browser. The value is only compared with the offered languages. */
export const chosenLanguage = cookieReader(LANGUAGE_COOKIE, /[a-zA-Z0-9-]{2,35}/)

/** Remembers the chosen language. The cookie is sent to all paths, since the host's own routes send messages, too (R11). */
export function rememberLanguage(req: Request, res: Response, tag: string, { users }: Settings): void {
  setCookie(req, res, nameCookie(users, LANGUAGE_COOKIE), tag, '/', YEAR_MS)
}
