import type { Request } from 'express'
import type { Settings } from '../options/settings.js'

const PLACEHOLDER_ORIGIN = 'http://countersign.invalid'

/** Path, query and fragment of an address on this site, as a browser would parse it (R15), or `undefined`. */
export function sanitizeReturnTo(address: unknown): string | undefined {
  if (typeof address !== 'string' || isTooLong(address) || !address.startsWith('/')) return undefined
  if (!URL.canParse(address, PLACEHOLDER_ORIGIN)) return undefined
  const url = new URL(address, PLACEHOLDER_ORIGIN)
  // In a redirect, a path that begins with two slashes leads to another host.
  if (url.origin !== PLACEHOLDER_ORIGIN || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}

/** Whether an address is too long to return to: many proxies refuse a header of more than 4 KB. */
export function isTooLong(address: string): boolean {
  return address.length > 4_096
}

/** An address to return to, if it is safe; for one that is too long, the page that says so. */
export function returnTarget(address: unknown, { urls }: Pick<Settings, 'urls'>): string | undefined {
  const isLost = typeof address === 'string' && address.startsWith('/') && isTooLong(address)
  return isLost ? `${urls.path}/verify?page-lost` : sanitizeReturnTo(address)
}

/** The address of a request as the browser requested it, including the prefix that a proxy removed. */
export function getRequestedUrl({ originalUrl }: Request, { urls }: Pick<Settings, 'urls'>): string {
  return urls.pathPrefix + originalUrl
}
