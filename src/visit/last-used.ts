import type { Request, Response } from 'express'

const COOKIE = 'mfa_last'
const YEAR_MS = 365 * 24 * 60 * 60_000

/**
 * The factor that was last used in this browser, by its id: shown first the next time. It names nobody and proves
 * nothing.
 */
export function lastUsed(req: Request): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([a-z0-9_-]{1,32})(?:;|$)`).exec(req.get('cookie') ?? '')?.[1]
}

/** Remembers it, for our own routes alone (R11). */
export function rememberUsed(req: Request, res: Response, factorId: string, path: string): void {
  res.cookie(COOKIE, factorId, { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge: YEAR_MS })
}
