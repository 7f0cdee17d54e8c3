import type { Request, RequestHandler } from 'express'
import type { Config } from '../config.js'
import { Problem } from './problem.js'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Refuses requests that change something when a browser says that they come from another site. */
export function sameOrigin({ publicUrl }: Pick<Config, 'publicUrl'>): RequestHandler {
  return function checkOrigin(req, _res, next) {
    if (SAFE.has(req.method) || isOurs(req, publicUrl)) return next()
    next(new Problem('cross_site', 'Open the page on this site and try again.'))
  }
}

function isOurs(req: Request, publicUrl: string | undefined): boolean {
  // Fetch Metadata cannot be set by a script. `none`: typed into the address bar or a bookmark.
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  // Neither header: not a browser, so there is no cookie that another site could ride on.
  if (origin === undefined) return true
  // As Express sees the request: behind a proxy that is trusted, as the proxy does.
  const asked = `${req.protocol}://${req.host}`
  const ours = [publicUrl, asked].flatMap((url) => (url && URL.canParse(url) ? [new URL(url)] : []))
  // A page that came without encryption may be anybody's, whatever its name.
  const isEncrypted = ours.some(({ protocol }) => protocol === 'https:')
  return ours.some((url) => url.origin === origin && (url.protocol === 'https:' || !isEncrypted))
}
