import type { Request, RequestHandler } from 'express'
import { Problem } from './problem.js'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Refuses requests that change something when a browser says that they come from another site. */
export const sameOrigin: RequestHandler = function sameOrigin(req, _res, next) {
  if (SAFE.has(req.method) || isOurs(req)) return next()
  next(new Problem('cross_site', 'Open the page on this site and try again.'))
}

function isOurs(req: Request): boolean {
  // Fetch Metadata cannot be set by a script. `none`: typed into the address bar or a bookmark.
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  // Neither header: not a browser, so there is no cookie that another site could ride on.
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === req.get('host')
}
