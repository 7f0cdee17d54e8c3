import type { Request, Response } from 'express'
import {
  cookieOf,
  hasUserBesidePassport,
  passportUserWasRemoved,
  requestedUrl,
  sessionOf,
  storeNameOf,
} from '../session/store.js'
import type { Settings } from '../settings.js'
import type { WarningCode } from './warnings.js'
import { isObject, routerOf } from './wiring.js'

// The default limit of Express's parsers. A larger body means that the host raised the limit.
const LARGE_BODY_BYTES = 100 * 1024

/** The warnings that one request reveals about the app. The request has a session. */
export function warningsAtRequest(
  req: Request,
  settings: Pick<Settings, 'limits' | 'path' | 'pathPrefix'>,
): WarningCode[] {
  return [
    ...warningsInProxy(req),
    ...warningsInPrefix(req, settings),
    ...warningsInBody(req, settings),
    ...warningsInRoutes(req),
    ...(hasUserBesidePassport(req) ? (['MFA_WARN_USER_BESIDE_PASSPORT'] as const) : []),
    ...(process.env.NODE_ENV === 'production' ? warningsInSession(req, settings) : []),
  ]
}

function warningsInProxy(req: Request): WarningCode[] {
  const isProxied = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'].some(
    (name) => req.get(name) !== undefined,
  )
  const setting: unknown = req.app.get('trust proxy')
  return isProxied && !setting ? ['MFA_WARN_TRUST_PROXY'] : []
}

function warningsInPrefix(req: Request, { path }: Pick<Settings, 'path'>): WarningCode[] {
  const prefix = req.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  return path.startsWith(`${prefix}/`) ? [] : ['MFA_WARN_PATH_PREFIX']
}

function warningsInBody(req: Request, settings: Pick<Settings, 'path' | 'pathPrefix'>): WarningCode[] {
  const isOurs = requestedUrl(req, settings).startsWith(`${settings.path}/`)
  const isLarge = Number(req.get('content-length') ?? 0) > LARGE_BODY_BYTES
  return isOurs && isLarge && req.readableEnded ? ['MFA_WARN_BODY_PARSER'] : []
}

/** Looks for routes between passport.session() and the gate. */
function warningsInRoutes({ app }: Request): WarningCode[] {
  const router = routerOf(app)
  const stack: unknown = isObject(router) ? Reflect.get(router, 'stack') : undefined
  const layers = Array.isArray(stack) ? stack.filter(isObject) : []
  const names = layers.map((layer) => Reflect.get(layer, 'name'))
  const gate = names.indexOf('mfaSession')
  // passport.session() is a top-level `authenticate`; that of a login route is inside a route.
  const passport = names.lastIndexOf('authenticate', gate)
  const between = passport < 0 ? [] : layers.slice(passport + 1, gate)
  const isRoute = (layer: object) =>
    Reflect.get(layer, 'route') || ['router', 'mounted_app'].includes(String(Reflect.get(layer, 'name')))
  return gate > 0 && between.some(isRoute) ? ['MFA_WARN_ROUTES_BEFORE_GATE'] : []
}

function warningsInSession(req: Request, { limits }: Pick<Settings, 'limits'>): WarningCode[] {
  const { secure, httpOnly, sameSite } = cookieOf(req)
  const inMemory = storeNameOf(req) === 'MemoryStore'
  const countsAlone = limits.store === 'memory'
  return [
    ...(inMemory ? (['MFA_WARN_MEMORY_SESSIONS'] as const) : []),
    // A shared session store suggests several processes.
    ...(!inMemory && countsAlone ? (['MFA_WARN_SEPARATE_COUNTERS'] as const) : []),
    ...(secure ? [] : (['MFA_WARN_COOKIE_SECURE'] as const)),
    ...(httpOnly === false ? (['MFA_WARN_COOKIE_HTTP_ONLY'] as const) : []),
    ...(sameSite === 'none' ? (['MFA_WARN_COOKIE_SAME_SITE'] as const) : []),
  ]
}

/** What a request for a page of keys, or for their options, shows. */
export interface KeyRequestFacts {
  /** The host that the browser requested, without the port. */
  readonly hostname: string
  /** The header `Permissions-Policy` of the response. */
  readonly permissionsPolicy: unknown
  /** The relying party's id, if it is known. */
  readonly relyingPartyId?: unknown
}

/** A feature whose list of origins is empty, so that no page may use it. */
const FORBIDS_KEYS = /publickey-credentials-(?:get|create)\s*=\s*\(\s*\)/i

const IP_ADDRESS = /^[\d.]+$|^\[?[\da-f]*:/i

/** The warnings about what keeps browsers from using keys on any site. */
export function warningsAboutKeys({ hostname, permissionsPolicy }: KeyRequestFacts): WarningCode[] {
  return [
    ...(IP_ADDRESS.test(hostname) ? (['MFA_WARN_KEY_IP_ADDRESS'] as const) : []),
    ...(FORBIDS_KEYS.test([permissionsPolicy].flat().join(','))
      ? (['MFA_WARN_KEY_PERMISSIONS_POLICY'] as const)
      : []),
  ]
}

/** Whether the host is in the domain of the relying party. An IP address has a warning of its own. */
export function isInDomain({ hostname, relyingPartyId: id }: KeyRequestFacts): boolean {
  return typeof id !== 'string' || hostname === id || hostname.endsWith(`.${id}`) || IP_ADDRESS.test(hostname)
}

/** What express-session does with a session that the request did not change. */
export type Saving = 'not saved' | 'resaved' | 'saved new'

/**
 * Observes whether express-session saves an unchanged session at the end of the request. This reveals its options, which
 * it does not expose. `report` is not called if the request changed its session or saved it itself.
 */
export function observeSaving(
  req: Request,
  res: Response,
  report: (saving: Saving, isNew: boolean) => void,
): void {
  // Passport has already changed the session.
  if (passportUserWasRemoved(req)) return
  const session = sessionOf(req)
  const isNew = !req.get('cookie')?.includes(req.sessionID)
  const before = contentOf(session)
  const { save } = session
  let saves = 0
  Object.defineProperty(session, 'save', {
    configurable: true,
    writable: true,
    value(this: typeof session, ...args: Parameters<typeof save>) {
      saves++
      return save.apply(this, args)
    },
  })

  const { end } = res
  Object.defineProperty(res, 'end', {
    configurable: true,
    writable: true,
    value(this: Response, ...args: Parameters<typeof end>) {
      const unchanged = saves === 0 && hasSameSession(req, session) && contentOf(session) === before
      const result = end.apply(this, args)
      if (unchanged) report(saves === 0 ? 'not saved' : isNew ? 'saved new' : 'resaved', isNew)
      return result
    },
  })
}

function hasSameSession(req: Request, session: object): boolean {
  try {
    return sessionOf(req) === session
  } catch {
    return false
  }
}

/** The content that express-session compares: everything except the cookie, whose times change. */
function contentOf(session: object): string {
  return JSON.stringify({ ...session, cookie: undefined })
}
