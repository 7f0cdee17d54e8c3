import type { Request } from 'express'
import type { Settings } from '../settings.js'

const PLACEHOLDER_ORIGIN = 'http://countersign.invalid'

/**
 * The path, query and fragment of an address on this site; `undefined` for an address on another site. The address is
 * parsed as a browser would parse it (R15).
 */
export function safeReturnTo(address: unknown): string | undefined {
  if (typeof address !== 'string' || address.length > 2_000 || !address.startsWith('/')) return undefined
  if (!URL.canParse(address, PLACEHOLDER_ORIGIN)) return undefined
  const url = new URL(address, PLACEHOLDER_ORIGIN)
  // In a redirect, a path that begins with two slashes leads to another host.
  if (url.origin !== PLACEHOLDER_ORIGIN || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}

/** The address of a request as the browser requested it, including the prefix that a proxy removed. */
export function requestedUrl({ originalUrl }: Request, { pathPrefix }: Pick<Settings, 'pathPrefix'>): string {
  return pathPrefix + originalUrl
}
