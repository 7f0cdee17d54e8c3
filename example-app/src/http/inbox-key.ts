import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { Problem } from './problem.js'

const COOKIE = 'vault_inbox'
const YEAR_MS = 365 * 24 * 60 * 60_000

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Whether both are the same, compared in constant time. */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)))

/**
 * Lets requests with the key of the inbox pass: programs send it in the header `MFA-Inbox-Key`, and a browser opens the address with
 * `?key=` once, which sets a cookie. From which machine a request seems to come says nothing: behind a proxy, all come from this one.
 */
export function requireInboxKey(keyOf: () => Promise<string>): RequestHandler {
  return async (req, res, next) => {
    const key = await keyOf()
    const { key: given, ...query } = req.query as Record<string, string>
    const cookie = digestOf(key)
    if (typeof given === 'string' && isSame(given, key)) {
      res.cookie(COOKIE, cookie, { httpOnly: true, sameSite: 'lax', path: req.path, maxAge: YEAR_MS })
      const kept = new URLSearchParams(query)
      return res.redirect(303, kept.size > 0 ? `${req.path}?${kept}` : req.path)
    }
    if (isSame(req.get('MFA-Inbox-Key') ?? '', key) || isSame(cookieOf(req), cookie)) return next()
    throw new Problem(
      'not_found',
      'The inbox asks each browser once for its key, which stands in the terminal. Open the address that Vault printed at its start, or send the key in the header MFA-Inbox-Key.',
    )
  }
}

function cookieOf(req: Request): string {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9a-f]+)(?:;|$)`).exec(req.get('cookie') ?? '')?.[1] ?? ''
}
