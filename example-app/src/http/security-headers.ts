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
  // Pages belong to one user. The files in public/ set their own header.
  'Cache-Control': 'no-store',
}

/** Sets the headers of every response: no foreign content, no framing, no sniffing, no caching. */
export const securityHeaders: RequestHandler = function securityHeaders(_req, res, next) {
  res.set(HEADERS)
  next()
}

/** Allows the app's own scripts on a page, and WebSockets to `origin`. */
export function ownScripts(origin: string | undefined): RequestHandler {
  // Older browsers do not take a WebSocket to this host for `'self'`.
  return function allowStreams(req, res, next) {
    const host = origin ?? `${req.secure ? 'wss' : 'ws'}://${req.get('host') ?? ''}`
    const policy = [...POLICY, "script-src 'self'", `connect-src 'self' ${host}`]
    res.set('Content-Security-Policy', policy.join('; '))
    next()
  }
}
