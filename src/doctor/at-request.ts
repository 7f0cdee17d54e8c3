import type { Request } from 'express'
import { askedUrl } from '../session/return-to.js'
import { cookieOf, storeNameOf } from '../session/slot.js'
import type { Settings } from '../settings.js'
import type { FindingCode } from './findings.js'

/** What is larger than the default limit of Express's parsers was let in by a limit of the host's own. */
const HUGE_BODY_BYTES = 100 * 1024

/** What one request shows of the app around us. It has a session; that was seen to before. */
export function findAtRequest(
  req: Request,
  settings: Pick<Settings, 'limits' | 'path' | 'pathPrefix'>,
): FindingCode[] {
  return [
    ...findInProxy(req),
    ...findInPrefix(req, settings),
    ...findInBody(req, settings),
    ...findInRoutes(req),
    ...(process.env.NODE_ENV === 'production' ? findInSession(req, settings) : []),
  ]
}

function findInProxy(req: Request): FindingCode[] {
  const comesByProxy = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'].some(
    (name) => req.get(name) !== undefined,
  )
  const setting: unknown = req.app.get('trust proxy')
  return comesByProxy && !setting ? ['MFA_DOCTOR_TRUST_PROXY'] : []
}

function findInPrefix(req: Request, { path }: Pick<Settings, 'path'>): FindingCode[] {
  const prefix = req.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  return path.startsWith(`${prefix}/`) ? [] : ['MFA_DOCTOR_PATH_PREFIX']
}

function findInBody(req: Request, settings: Pick<Settings, 'path' | 'pathPrefix'>): FindingCode[] {
  const isOurs = askedUrl(req, settings).startsWith(`${settings.path}/`)
  const isHuge = Number(req.get('content-length') ?? 0) > HUGE_BODY_BYTES
  return isOurs && isHuge && req.readableEnded ? ['MFA_DOCTOR_BODY_PARSER'] : []
}

/** Express 4 and 5 keep what is mounted on an app in a list, under different names. */
function findInRoutes({ app }: Request): FindingCode[] {
  const router: unknown = Reflect.get(app, '_router') ?? Reflect.get(app, 'router')
  const stack: unknown = hasParts(router) ? Reflect.get(router, 'stack') : undefined
  const layers = Array.isArray(stack) ? stack.filter(hasParts) : []
  const names = layers.map((layer) => Reflect.get(layer, 'name'))
  const gate = names.indexOf('mfaSession')
  // passport.session() is `authenticate` of the strategy "session"; a login route's is inside a route.
  const passport = names.lastIndexOf('authenticate', gate)
  const between = passport < 0 ? [] : layers.slice(passport + 1, gate)
  const isRoute = (layer: object) =>
    Reflect.get(layer, 'route') || ['router', 'mounted_app'].includes(String(Reflect.get(layer, 'name')))
  return gate > 0 && between.some(isRoute) ? ['MFA_DOCTOR_ROUTES_BEFORE_GATE'] : []
}

function findInSession(req: Request, { limits }: Pick<Settings, 'limits'>): FindingCode[] {
  const { secure, httpOnly, sameSite } = cookieOf(req)
  const inMemory = storeNameOf(req) === 'MemoryStore'
  const countsAlone = !limits.redis && !limits.postgres
  return [
    ...(inMemory ? (['MFA_DOCTOR_MEMORY_SESSIONS'] as const) : []),
    // Whoever shares sessions has several processes, or will have.
    ...(!inMemory && countsAlone ? (['MFA_DOCTOR_SEPARATE_COUNTERS'] as const) : []),
    ...(secure ? [] : (['MFA_DOCTOR_COOKIE_SECURE'] as const)),
    ...(httpOnly === false ? (['MFA_DOCTOR_COOKIE_HTTP_ONLY'] as const) : []),
    ...(sameSite === 'none' ? (['MFA_DOCTOR_COOKIE_SAME_SITE'] as const) : []),
  ]
}

function hasParts(value: unknown): value is object {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}
