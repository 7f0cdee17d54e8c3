import type { Request, RequestHandler } from 'express'
import { isProduction } from '../process/production.js'
import { ConsoleError } from './form.js'
import { CHART_SCRIPTS, type Page } from './page.js'

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** The policy of a page whose scripts come from the console itself. Chart scripts reload the page. */
export function createPolicy(scripts: Page['scripts']): string {
  return scripts === CHART_SCRIPTS
    ? `${POLICY}; script-src 'self'; connect-src 'self'`
    : `${POLICY}; script-src 'self'`
}

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Sets the headers of every response: no scripts, unless its page has some, no framing, no caching, and no address of a page to other sites. */
export const securityHeaders: RequestHandler = function securityHeaders(_request, response, next) {
  response.set(HEADERS)
  next()
}

/** Refuses requests that did not come over TLS, in production. */
export const requireTls: RequestHandler = function requireTls(request, response, next) {
  if (!isProduction()) return next()
  if (!request.secure) return next(new ConsoleError(403, 'The console is available over https only.'))
  response.set('Strict-Transport-Security', 'max-age=31536000')
  next()
}

/** Where the identity provider, and no browser, says with a signed token who signed out there. */
export const LOGOUT_PATH = '/console/sign-in/oidc/logout'

const SAFE = new Set(['GET', 'HEAD'])

/** Refuses requests that change something and do not come from a page of the console (R13). */
export const requireSameOrigin: RequestHandler = function sameOrigin(request, _response, next) {
  if (SAFE.has(request.method) || request.path === LOGOUT_PATH || isOwn(request)) return next()
  next(new ConsoleError(403, 'The request came from another site. Open the page again and repeat it.'))
}

/** Browsers send `Sec-Fetch-Site`, older ones `Origin`. Only browsers use the console, so one of them is required. */
function isOwn(request: Request): boolean {
  const site = request.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  // Behind a trusted proxy, Express takes both parts from the proxy's headers.
  return request.get('origin') === `${request.protocol}://${request.host}`
}

/** Refuses a NUL character in the address or in a field of a form: no text of the database can hold one. */
export const refuseNul: RequestHandler = function refuseNul({ originalUrl, body }, _response, next) {
  const texts = Object.values<unknown>(Object(body)).flat().map(String)
  if (!originalUrl.includes('%00') && !texts.some((text) => text.includes('\0'))) return next()
  next(new ConsoleError(400, 'The request has a character that no text can contain. Remove it.'))
}
