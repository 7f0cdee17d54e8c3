import type { Request } from 'express'

/** Whether the caller asked for JSON rather than a page. A browser, or somebody who does not say, gets a page. */
export function wantsJson(req: Request): boolean {
  const best = req.accepts(['text/html', 'application/json', 'application/problem+json'])
  return typeof best === 'string' && best !== 'text/html'
}
