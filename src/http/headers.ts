import type { Response } from 'express'

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Sets the headers of every answer of ours (R12). */
export function setSecurityHeaders(res: Response): void {
  res.set(HEADERS)
}

/** Says when to come back, in seconds (RFC 9110 §10.2.3). */
export function setRetryAfter(res: Response, problem: { readonly retryAfterSeconds?: number }): void {
  const { retryAfterSeconds } = problem
  if (retryAfterSeconds !== undefined) res.set('Retry-After', String(Math.max(1, retryAfterSeconds)))
}
