import type { Request } from 'express'
import * as z from 'zod'
import type { Settings } from '../settings.js'

/** Whether the answer should be a page. Who asks for nothing in particular, as programs do, gets JSON. */
export function wantsHtml(req: Request): boolean {
  return req.accepts(['json', 'html']) === 'html'
}

/** Whether the browser fetches a part of a page, like an image, rather than a page or data. */
export function isSubresource(req: Request): boolean {
  const destination = req.get('sec-fetch-dest')
  if (destination) return !['document', 'iframe', 'frame', 'empty'].includes(destination)
  return req.accepts(['json', 'html']) === false
}

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

const anAddress = z.union([z.ipv4(), z.ipv6()])

// Some proxies pass a port on with the address, in brackets when it is IPv6.
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/

/**
 * The browser's address as `trust proxy` lets Express see it; an IPv4 address is written as one. Nothing when it is
 * none: what a proxy passes on may be anything.
 */
export function addressOf({ ip = '' }: Request): string | undefined {
  const [, six, four] = WITH_PORT.exec(ip) ?? []
  const address = (six ?? four ?? ip).replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return anAddress.safeParse(address).data
}

/**
 * The address that limits count by (R31). An address of this very machine is a browser on it, or a proxy that Express
 * was not told to look behind: it stands for nobody in particular, so it is not counted.
 */
export function clientAddressOf(req: Request): string | undefined {
  const address = addressOf(req)
  return address === '::1' || address?.startsWith('127.') ? undefined : address
}

/** How long a host's own words may be that we keep. */
const MAX_LENGTH = 60

/** Where a browser is, in the host's words. Nothing when the host cannot tell, or fails at it: that keeps no notice back. */
export function locationOf(
  req: Request,
  { place, logger }: Pick<Settings, 'place' | 'logger'>,
): string | undefined {
  try {
    return place?.(req)?.trim().slice(0, MAX_LENGTH) || undefined
  } catch (error) {
    logger.error('countersign: the option place failed; what it was asked for goes on without a place', error)
    return undefined
  }
}
