import type { Request } from 'express'
import type { Settings } from '../../options/settings.js'
import type { WarningCode } from '../../options/warnings.js'
import { getRequestedUrl, isTooLong } from '../../session/return-to.js'
import { getCookie, hasUserBesidePassport, storeNameOf } from '../../session/store.js'
import { isPassportKnown } from '../../session/withheld-user.js'
import { listApplying } from './at-start.js'

// The default limit of Express's parsers. A larger body means that the host raised the limit.
const LARGE_BODY_BYTES = 100 * 1024

/** The warnings that one request reveals about the app. The request has a session. */
export function findRequestWarnings(req: Request, settings: Settings): WarningCode[] {
  return [
    ...listApplying({
      MFA_WARN_TRUST_PROXY: isBehindUnknownProxy(req),
      MFA_WARN_PATH_PREFIX: lacksPrefix(req, settings),
      MFA_WARN_BODY_PARSER: wasLargeBodyParsed(req, settings),
      MFA_WARN_PASSPORT_INSTANCE: !isPassportKnown(req),
      MFA_WARN_USER_BESIDE_PASSPORT: hasUserBesidePassport(req),
      MFA_WARN_NO_REFERRER: req.get('origin') === 'null' && req.get('sec-fetch-site') === undefined,
      MFA_WARN_RETURN_TOO_LONG: req.method === 'GET' && isTooLong(req.originalUrl),
    }),
    ...(process.env.NODE_ENV === 'production' ? findSessionWarnings(req, settings) : []),
  ]
}

function isBehindUnknownProxy(req: Request): boolean {
  const isProxied = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'].some(
    (name) => req.get(name) !== undefined,
  )
  const setting: unknown = req.app.get('trust proxy')
  return isProxied && !setting
}

function lacksPrefix(req: Request, { urls }: Settings): boolean {
  const prefix = req.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  return !urls.path.startsWith(`${prefix}/`)
}

function wasLargeBodyParsed(req: Request, settings: Settings): boolean {
  const isOurs = getRequestedUrl(req, settings).startsWith(`${settings.urls.path}/`)
  const isLarge = Number(req.get('content-length') ?? 0) > LARGE_BODY_BYTES
  return isOurs && isLarge && req.readableEnded
}

function findSessionWarnings(req: Request, { limits }: Settings): WarningCode[] {
  const { secure, httpOnly, sameSite } = getCookie(req)
  const inMemory = storeNameOf(req) === 'MemoryStore'
  const countsAlone = limits.store === 'memory'
  return listApplying({
    MFA_WARN_MEMORY_SESSIONS: inMemory,
    // A shared session store suggests several processes.
    MFA_WARN_SEPARATE_COUNTERS: !inMemory && countsAlone,
    MFA_WARN_COOKIE_SECURE: !secure,
    MFA_WARN_COOKIE_HTTP_ONLY: httpOnly === false,
    MFA_WARN_COOKIE_SAME_SITE: sameSite === 'none',
  })
}
