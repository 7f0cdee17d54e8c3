import type { Request, Response } from 'express'

const COOKIE = 'mfa_language'
const YEAR_MS = 365 * 24 * 60 * 60_000

/** The language that was chosen in this browser. What a cookie says is only compared with what is offered. */
export function chosenLanguage(req: Request): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([a-zA-Z0-9-]{2,35})(?:;|$)`).exec(req.get('cookie') ?? '')?.[1]
}

/** Remembers it, for the messages of the host's own routes too (R11). */
export function rememberLanguage(req: Request, res: Response, tag: string): void {
  res.cookie(COOKIE, tag, { httpOnly: true, sameSite: 'lax', secure: req.secure, path: '/', maxAge: YEAR_MS })
}
