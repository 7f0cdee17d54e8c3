import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Request, Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { userOf } from '../../session/passport-request.js'
import { requestState } from '../../session/state.js'

/** Knows which parts of one `createMfa` were built, and whether the app mounts the gate and the routers where they work. */
export interface Wiring {
  /** Remembers a gate. */
  addGate(gate: object): void
  /** Remembers a part that works only behind the gate. A router is also looked for at its path. */
  addPart(part: object): void
  /** Called when a request passes the gate. */
  gatePassed(): void
  /** Says why a request reached a part without the gate, and what to do. It is logged once. */
  missingGate(req: Request): string
  /**
   * Where the app mounts the routers, if that is not at the option `urls.path`: the path, or `unknown` unless the request is for it.
   * `undefined` if they are at that option, and if it cannot be told.
   */
  wrongMountPath(req: Request): { readonly at: string | 'unknown' } | undefined
  /** Whether the app mounts routes between `passport.session()` and the gate, as far as Express shows it. */
  hasRoutesBeforeGate(req: Request): boolean
}

/** The channel of Node for every request that the process receives, before any handler sees it. */
const REQUEST_RECEIVED = 'http.server.request.start'

/** So many requests look for the routers in an app that does not show where they are. */
const MOST_LOOKUPS = 50

const REMEDY =
  'Mount app.use(mfa.session) without a path, after passport.session() and before the login routes and mfa.router.'

const NEVER_READ =
  'Parts of mfa are used, but nothing has read mfa.session, the gate, so users are signed in with the first factor alone.'

const NEVER_PASSED =
  'A user is signed in, but no request has passed mfa.session, the gate, so the first factor alone is enough.'

/** Creates the record of the parts that are built of the same options. */
export function wiringFor({ path, pathPrefix, logger }: Settings): Wiring {
  const gates = new Set<object>()
  const parts = new Set<object>()
  const target = path.slice(pathPrefix.length)
  let isWatching = false
  let isReported = false
  let lookups = 0

  const stop = () => {
    isWatching = false
    unsubscribe(REQUEST_RECEIVED, received)
  }
  const report = (what: string) => {
    if (isWatching) stop()
    if (!isReported) logger.error(`countersign: ${what} ${REMEDY} [ERR_MFA_NO_GATE]`)
    isReported = true
  }
  // An app may read its parts in any order before its first request.
  const received = (message: unknown) => {
    if (gates.size === 0) return report(NEVER_READ)
    const { request, response } = message as { readonly request: Request; readonly response: Response }
    response.once('close', () => {
      // A request behind the gate of other options says nothing about this one.
      const isUngated = requestState(request).gates === undefined && userOf(request) !== undefined
      if (isWatching && isUngated) report(NEVER_PASSED)
    })
  }

  return {
    addGate: (gate) => void gates.add(gate),
    addPart(part) {
      if (parts.size === 0) {
        isWatching = true
        subscribe(REQUEST_RECEIVED, received)
      }
      parts.add(part)
    },
    gatePassed() {
      if (isWatching) stop()
    },
    missingGate(req) {
      const what = gates.size === 0 ? NEVER_READ : whereGateIs(req, gates)
      report(what)
      return `${what} ${REMEDY}`
    },
    wrongMountPath(req) {
      // A gate below a path, or in an app below a router, does not show the path of its app.
      if (lookups >= MOST_LOOKUPS || req.baseUrl !== req.app.path()) return undefined
      lookups++
      const mounts = mountsIn(req, target)
      // The gate is running, so a tree in which it would not run is not understood.
      if (!mounts.some(({ handle, at }) => at !== undefined && gates.has(handle))) return undefined
      const isOurs = ({ handle }: Mount) => parts.has(handle) && isRouter(handle)
      const routers = mounts.filter(isOurs)
      if (routers.length === 0) return undefined
      lookups = 0
      if (!routers.some(({ at }) => at !== undefined)) {
        const [here] = mountsIn(req, req.baseUrl + req.path).filter((one) => isOurs(one) && one.at)
        return { at: here?.at ?? 'unknown' }
      }
      lookups = MOST_LOOKUPS
      return undefined
    },
    hasRoutesBeforeGate({ app }) {
      const router = routerOf(app)
      const layers = isRouter(router) ? router.stack.filter(isObject) : []
      const gate = layers.findIndex((layer) => gates.has(Object(Reflect.get(layer, 'handle'))))
      const before = layers.slice(0, Math.max(gate, 0))
      // passport.session() is a top-level `authenticate`; that of a login route is inside a route.
      const passport = before.map((layer) => Reflect.get(layer, 'name')).lastIndexOf('authenticate')
      return passport >= 0 && before.slice(passport + 1).some(isRoute)
    },
  }
}

/** What is wrong with a gate that did not run for a request. */
function whereGateIs(req: Request, gates: ReadonlySet<object>): string {
  const mount = mountsIn(req, req.baseUrl + req.path).find(({ handle }) => gates.has(handle))
  if (!mount) return 'mfa.session did not run before this route, so a pending login would not be withheld.'
  if (mount.at !== undefined)
    return 'mfa.session is mounted after this route, so a pending login would not be withheld.'
  return 'mfa.session is mounted at another path than this route, so a pending login would not be withheld.'
}

/** A handler in the tree of an app's routers. */
interface Mount {
  readonly handle: object
  /** The part of a path at which it is mounted; `undefined` if requests with that path do not reach it. */
  readonly at: string | undefined
}

/** The handlers of an app, as far as Express 4 or 5 shows them. */
function mountsIn({ app }: Request, path: string): readonly Mount[] {
  const base = app.path()
  return mountsBelow(routerOf(app), path, path.startsWith(base) ? path.slice(base.length) : undefined)
}

function isRoute(layer: object): boolean {
  const isMounted = ['router', 'mounted_app'].includes(String(Reflect.get(layer, 'name')))
  return isMounted || Boolean(Reflect.get(layer, 'route'))
}

/** The router of an app, which Express 4 and 5 keep under different names. */
function routerOf(app: object): unknown {
  return Reflect.get(app, '_router') ?? Reflect.get(app, 'router')
}

/** `rest`: what is left of the path at this router. */
function mountsBelow(router: unknown, path: string, rest: string | undefined): readonly Mount[] {
  if (!isRouter(router)) return []
  return router.stack.flatMap((layer: unknown) => {
    const handle: unknown = isObject(layer) ? Reflect.get(layer, 'handle') : undefined
    if (!isObject(layer) || !isObject(handle)) return []
    const behind = rest === undefined ? undefined : restBehind(layer, rest)
    const at = behind === undefined ? undefined : path.slice(0, path.length - behind.length)
    return [{ handle, at }, ...mountsBelow(handle, path, behind)]
  })
}

/** The rest of a path behind what a layer matches; `undefined` if the layer does not match. */
function restBehind(layer: object, path: string): string | undefined {
  const match: unknown = Reflect.get(layer, 'match')
  const found: unknown = typeof match === 'function' && Reflect.apply(match, layer, [path || '/'])
  if (!found) return undefined
  // Older versions leave on the layer what newer ones return.
  const matched: unknown = Reflect.get(isObject(found) ? found : layer, 'path')
  return typeof matched === 'string' ? path.slice(matched.length) : undefined
}

function isRouter(value: unknown): value is { readonly stack: readonly unknown[] } {
  return isObject(value) && Array.isArray(Reflect.get(value, 'stack'))
}

/** Whether a value has properties, as objects and functions have. */
function isObject(value: unknown): value is object {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}
