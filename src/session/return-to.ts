import type { Request } from 'express'
import type { Settings } from '../settings.js'

const ELSEWHERE = 'http://countersign.invalid'

/**
 * The path, query and fragment of an address on this site; `undefined` for anything that leads elsewhere. Decided by
 * parsing it as a browser would, not by looking at its beginning (R15).
 */
export function safeReturnTo(address: unknown): string | undefined {
  if (typeof address !== 'string' || address.length > 2_000 || !address.startsWith('/')) return undefined
  if (!URL.canParse(address, ELSEWHERE)) return undefined
  const url = new URL(address, ELSEWHERE)
  // A path that begins with two slashes would be another host when it is used as a redirect.
  if (url.origin !== ELSEWHERE || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}

/** The address of a request as the browser asked for it, with what a proxy in front has taken off. */
export function askedUrl({ originalUrl }: Request, { pathPrefix }: Pick<Settings, 'pathPrefix'>): string {
  return pathPrefix + originalUrl
}
