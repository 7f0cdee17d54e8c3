import type { Request } from 'express'
import { HostError, type HostErrorCode, OptionsError } from '../../errors.js'
import { isGated } from '../../session/passport-request.js'
import type { RequestState } from '../../session/state.js'
import type { EnteredRequest, RouteDeps } from './context.js'

/*
 * Which gate a request passed, and where the app mounts it. What is mounted in a way that would let the first factor alone in is
 * refused; docs/diagnostics.md says what.
 */

/** A request with the gates that it passed. */
type GatedRequest = Pick<EnteredRequest, 'req' | 'shared'>

/** Marks a request as one that passed the gate, for the routes and guards after it. */
export function setGate(shared: RequestState<RouteDeps>, deps: RouteDeps): void {
  shared.gates = shared.gates ? [...shared.gates, deps] : [deps]
}

/** What the gate of these options works with for this request, if it passed that gate. */
export function ownGate({ gates }: RequestState<RouteDeps>, own: RouteDeps): RouteDeps | undefined {
  // What a gate in a mounted app works with is a copy. The counters of wrong codes are there once for each options object.
  return gates?.findLast(({ attempts }) => attempts === own.attempts)
}

/**
 * What the last gate that this request passed works with; with `own`, the last gate that was built from the same options.
 * @throws {HostError} when the request passed none.
 */
export function gateOf({ req, shared }: GatedRequest, own?: RouteDeps): RouteDeps {
  const gate = own ? ownGate(shared, own) : shared.gates?.at(-1)
  if (gate) return gate
  if (shared.gates) throw twoOptionsError(own)
  throw isGated(req) ? misuse(own, 'ERR_MFA_TWO_COPIES', TWO_COPIES) : noGateError(own)
}

const TWO_COPIES =
  'The gate before this route belongs to another copy of countersign, which keeps its own state. `npm ls countersign` shows where the copies are: keep one (npm dedupe), and leave the package out of bundles.'

/** No gate ran for a request. The error is in the log once for each options object. */
export function noGateError(own: RouteDeps | undefined): HostError {
  return misuse(
    own,
    'ERR_MFA_NO_GATE',
    'No gate ran for this request, so the first factor alone would be enough. Add app.use(mfa.router) without a path, or app.use(mfa.session), after passport.session() and before the login routes and all others.',
  )
}

/** A route and the gate before it were built from two options objects. */
export function twoOptionsError(own: RouteDeps | undefined): HostError {
  return misuse(
    own,
    'ERR_MFA_TWO_OPTIONS',
    'This route was built from another options object than the gate before it, so each would count wrong codes for itself. Call createMfa(options) once, and take every part from what it returned.',
  )
}

function misuse(own: RouteDeps | undefined, code: HostErrorCode, message: string): HostError {
  const error = new HostError(code, message)
  own?.diagnostics.report(error)
  return error
}

/**
 * Checks that Express calls a handler, and not the reader, who took it for a factory.
 * @throws {OptionsError}
 */
export function checkMounted(name: string, how: string, next: unknown): void {
  if (typeof next === 'function') return
  throw new OptionsError([`${name} was called by hand: mount it without calling it, ${how}`])
}

/** Whether a path is below another one. By default, Express matches paths without regard to case. */
export function isBelow(path: string, other: string): boolean {
  return path.toLowerCase().startsWith(`${other}/`.toLowerCase())
}

/**
 * What a gate works with for a request: its options, or in an app that is mounted in another one, these options with their paths below
 * that app, unless `urls.path` is below it already.
 * @throws {HostError} when the gate is mounted at a path, so that requests to all others would not pass it.
 */
export function depsAt(req: Request, own: RouteDeps): RouteDeps {
  if (req.baseUrl === '') return own
  const { settings, diagnostics } = own
  const { path, pathPrefix, publicUrl, pendingPaths } = settings
  const at = pathPrefix + req.baseUrl
  const base = req.app.path().replace(/\/$/, '')
  const isApp = base.toLowerCase() === req.baseUrl.toLowerCase()
  if (isBelow(path, at)) {
    if (!isApp) diagnostics.warn('MFA_WARN_GATE_AT_PATH', `It is mounted at ${at}.`)
    return own
  }
  // A proxy's prefix and the links in notices show the paths as a browser sees them, so all of them are written like this.
  if (!isApp || pathPrefix !== '' || publicUrl !== undefined) {
    throw misuse(
      own,
      'ERR_MFA_MOUNT_PATH',
      `The gate is mounted at ${at}, so requests to other paths do not pass it. Mount it without a path: app.use(mfa.router), or app.use(mfa.session). If the whole app is at ${at}, set urls.path: '${at}${path.slice(pathPrefix.length)}'.`,
    )
  }
  const below = (one: string) => (isBelow(one, base) ? one : base + one)
  const { signInPath, signOutPath, homePath } = settings
  return {
    ...own,
    settings: {
      ...settings,
      path: below(path),
      signInPath: below(signInPath),
      signOutPath: below(signOutPath),
      homePath: below(homePath),
      pendingPaths: pendingPaths.map(below),
    },
  }
}

/** The routers are mounted at `at` instead of at the option `urls.path`. */
export function mountPathError(own: RouteDeps, at: string): HostError {
  const { path, pathPrefix } = own.settings
  const before = at && path.endsWith(at) ? path.slice(0, -at.length) : ''
  return misuse(
    own,
    'ERR_MFA_MOUNT_PATH',
    [
      `The MFA routes are mounted at ${at || '/'}, but the option urls.path is ${path}. `,
      `Use the same path for both: app.use('${path.slice(pathPrefix.length)}', …), or urls.path: '${pathPrefix}${at}'`,
      before && `, or urls.pathPrefix: '${before}' behind a proxy that removes ${before}`,
      '.',
    ].join(''),
  )
}
