import type { Request } from 'express'
import type { HostError } from '../../errors.js'
import { nameProduct } from '../../options/shared-accounts.js'
import { productName } from '../../products.js'
import { remember } from '../../remember.js'
import { misuse, type RouteDeps } from './context.js'

/** Whether a path is below another one. By default, Express matches paths without regard to case. */
export function isBelow(path: string, other: string): boolean {
  return path.toLowerCase().startsWith(`${other}/`.toLowerCase())
}

/** The dependencies of gates in mounted apps, by the options and the paths of these apps. */
const mounted = new WeakMap<RouteDeps, Map<string, RouteDeps>>()

/**
 * The parts that a gate works with for a request, in a mounted app with its paths below that app: the same for all its requests.
 * @throws {HostError} for a gate at a path. @throws {OptionsError} if its accounts are those of another product (R144).
 */
export function findDeps(req: Request, own: RouteDeps): RouteDeps {
  const { settings, diagnostics } = own
  const { path, pathPrefix, publicUrl } = settings.urls
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
  const known = mounted.get(own) ?? new Map<string, RouteDeps>()
  mounted.set(own, known)
  return known.get(base) ?? remember(known, base, createDepsBelow(base, own))
}

function createDepsBelow(base: string, own: RouteDeps): RouteDeps {
  const { settings } = own
  const { urls, login } = settings
  const below = (path: string) => (isBelow(path, base) ? path : base + path)
  nameProduct(settings, productName({ ...settings, urls: { ...urls, path: below(urls.path) } }))
  return {
    ...own,
    settings: {
      ...settings,
      urls: { ...urls, path: below(urls.path) },
      login: {
        ...login,
        signInPath: below(login.signInPath),
        signOutPath: below(login.signOutPath),
        homePath: below(login.homePath),
        pendingPaths: login.pendingPaths.map(below),
      },
    },
  }
}

/** The routers are mounted at `at` instead of at the option `urls.path`. */
export function mountPathError(own: RouteDeps, at: string): HostError {
  const { path, pathPrefix } = own.settings.urls
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
