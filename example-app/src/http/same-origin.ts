import type { Request, RequestHandler } from 'express'
import type { Config } from '../config.js'
import { Problem } from './problem.js'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Refuses requests that change something and come from another site, according to the browser. */
export function sameOrigin({ publicUrl }: Pick<Config, 'publicUrl'>): RequestHandler {
  return function checkOrigin(req, _res, next) {
    if (SAFE.has(req.method) || isOurs(req, publicUrl)) return next()
    next(new Problem('cross_site', 'Open the page on this site and try again.'))
  }
}

function isOurs(req: Request, publicUrl: string | undefined): boolean {
  // A script cannot set Fetch Metadata. `none` means the address bar or a bookmark.
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  // Without both headers the client is not a browser, and another site cannot make it send its cookies.
  if (origin === undefined) return true
  // Behind a trusted proxy, Express takes both parts from the proxy's headers.
  const requested = `${req.protocol}://${req.host}`
  const ours = [publicUrl, requested].flatMap((url) => (url && URL.canParse(url) ? [new URL(url)] : []))
  // Anyone on the network can forge a page that was loaded without TLS.
  const isEncrypted = ours.some(({ protocol }) => protocol === 'https:')
  return ours.some((url) => url.origin === origin && (url.protocol === 'https:' || !isEncrypted))
}
