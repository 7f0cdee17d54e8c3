import type { Request } from 'express'

/**
 * Whether a request that changes something comes from a page of this site, or from no page at all (R13). Browsers
 * say so in `Sec-Fetch-Site`, older ones in `Origin`; a program that sends neither carries no cookies that somebody
 * else could use.
 */
export function isSameOrigin(req: Request): boolean {
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host, protocol } = new URL(origin)
  // A page that came without encryption may be anybody's, whatever its name. Without TLS in sight there may still be a
  // proxy that has it and was not told of.
  return isOwnHost(req, host) && !(req.secure && protocol === 'http:')
}

/**
 * Whether that is the host which the browser asked, as Express is configured to see it: behind a proxy that
 * `trust proxy` trusts, what the proxy says. It is only compared, never built upon (R16).
 */
export function isOwnHost(req: Request, host: string): boolean {
  const trusts: unknown = req.app.get('trust proxy fn')
  const forwarded = req.get('x-forwarded-host')?.split(',')[0]?.trim()
  const trusted = forwarded && typeof trusts === 'function' && trusts(req.socket.remoteAddress, 0)
  return host === (trusted ? forwarded : req.get('host'))
}
