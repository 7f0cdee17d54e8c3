import type { RequestHandler } from 'express'

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
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
