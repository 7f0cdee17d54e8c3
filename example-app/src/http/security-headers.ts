import type { RequestHandler } from 'express'

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
]

const HEADERS = {
  'Content-Security-Policy': POLICY.join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  // Every page is somebody's own; the files under public/ say otherwise for themselves.
  'Cache-Control': 'no-store',
}

/** What every answer carries: nothing from elsewhere, no framing, no sniffing, no copies kept. */
export const securityHeaders: RequestHandler = function securityHeaders(_req, res, next) {
  res.set(HEADERS)
  next()
}

/** For a page with a script of ours, which may ask this app alone. */
export const ownScripts: RequestHandler = function ownScripts(_req, res, next) {
  res.set('Content-Security-Policy', [...POLICY, "script-src 'self'", "connect-src 'self'"].join('; '))
  next()
}
