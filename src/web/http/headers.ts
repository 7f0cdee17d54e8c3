import type { Response } from 'express'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const HEADERS = new Map([
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', `${POLICY}; form-action 'self'`],
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

/** The routes whose answer to a form can be a page of the host. */
const LEADING_TO_HOST = ['/verify', '/cancel', '/keys/offer/decline', '/backup/saved', '/recover/complete']

/** Whether a page has such a form, or one of the host's own (`resume`). */
function leadsToHost(markup: string, base: string): boolean {
  const actions = markup.matchAll(/\saction="([^"?]*)/g)
  return [...actions].some(
    ([, path = '']) => !path.startsWith(`${base}/`) || LEADING_TO_HOST.includes(path.slice(base.length)),
  )
}

/** Responds with a page whose routes are below `base`. */
export function sendPage(res: Response, markup: string, base: string): void {
  // Chromium applies form-action to every redirect after a form, so the host could lead to no other origin.
  if (leadsToHost(markup, base)) res.setHeader('Content-Security-Policy', POLICY)
  sendText(res, 'text/html', markup)
}

/** Responds with a text of this media type. It has no `ETag`, since no browser may keep it (`Cache-Control: no-store`). */
export function sendText(res: Response, mediaType: string, text: string): void {
  const body = Buffer.from(text)
  res.setHeader('Content-Type', `${mediaType}; charset=utf-8`)
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
