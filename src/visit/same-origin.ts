import type { Request } from 'express'

/**
 * Whether a request that changes something comes from a page of this site, or from no page at all (R13). Browsers
 * say so in `Sec-Fetch-Site`, older ones in `Origin`; a program that sends neither carries no cookies that somebody
 * else could use. The Host header is only compared, never built upon (R16).
 */
export function isSameOrigin(req: Request): boolean {
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === req.get('host')
}
