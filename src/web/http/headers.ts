import type { Response } from 'express'

const HEADERS = new Map([
  ['Cache-Control', 'no-store'],
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  ],
  ['Referrer-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
])

/** Sets the security headers that every response of this package has (R12). */
export function setSecurityHeaders(res: Response): void {
  res.setHeaders(HEADERS)
}

/** Sets `Retry-After` in seconds (RFC 9110 §10.2.3), if the problem has a time. */
export function setRetryAfter(res: Response, problem: { readonly retryAfterSeconds?: number }): void {
  const { retryAfterSeconds } = problem
  if (retryAfterSeconds !== undefined) res.set('Retry-After', String(Math.max(1, retryAfterSeconds)))
}

export function sendPage(res: Response, markup: string): void {
  sendText(res, 'text/html', markup)
}

/** Responds with a text of this media type. It has no `ETag`, since no browser may keep it (`Cache-Control: no-store`). */
export function sendText(res: Response, mediaType: string, text: string): void {
  const body = Buffer.from(text)
  res.setHeader('Content-Type', `${mediaType}; charset=utf-8`)
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
