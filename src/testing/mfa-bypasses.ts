import { type AppRoute, listAppRoutes, type SkippedRoute } from '../probe/app-routes.js'
import { type MfaBypass, type ProbeLogin, probeLogin } from '../probe/probe-login.js'
import { type HostApp, probedApp, type UpgradeProbes } from '../probe/probed-app.js'
import { refuseProduction } from './kit.js'

/** The app to probe, and every login it has. */
export interface BypassOptions {
  /** The Express app with `mfa.session` mounted, as in production. */
  readonly app: HostApp
  /** Every login of the app, by a name of your choice. Each signs in a user who has a second factor. */
  readonly logins: Readonly<Record<string, ProbeLogin>>
  /** Paths that may differ for a pending login. One with a user is still reported. Defaults to `[]`. */
  readonly pendingPaths?: readonly string[] | undefined
  /**
   * Methods to probe, each with an empty JSON object as body. Defaults to `GET`, because other methods change data, and
   * to `GET` and `POST` for routes that handle every method (`.all()`, middleware at a path).
   */
  readonly methods?: readonly string[] | undefined
  /** Values of path parameters by name. Defaults to `1` for each. */
  readonly values?: Readonly<Record<string, string>> | undefined
  /** Headers to send with each request, such as `X-Forwarded-Proto`. Defaults to none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The WebSocket servers of the app, to probe their upgrades. Defaults to none. */
  readonly upgrades?: UpgradeProbes | undefined
  /** Where the plugin's routes are mounted. They are not probed. Defaults to `/mfa`. */
  readonly path?: string | undefined
}

/** The result of `findMfaBypasses`. */
export interface BypassReport {
  /** The routes that a pending login can use like a signed-in user. */
  readonly bypasses: readonly MfaBypass[]
  /** Routes that were requested. */
  readonly probed: readonly AppRoute[]
  /** Routes that were not requested, or did not respond. */
  readonly skipped: readonly SkippedRoute[]
}

/**
 * Signs in by each login without the second factor, and compares the app's responses with those to an anonymous request. A bypass
 * has a user when the route responds, or is alone in getting a success or content, or on `upgrades` a connection or messages.
 * @throws if a login fails, if the app has no routes, or with `NODE_ENV=production`, because it signs in and changes data.
 */
export async function findMfaBypasses(options: BypassOptions): Promise<BypassReport> {
  refuseProduction('findMfaBypasses')
  const { app, logins, pendingPaths = [], values = {}, headers = {}, path = '/mfa', upgrades } = options
  const methods = options.methods?.map((method) => method.toUpperCase())
  const { routes, ofAnyMethod, unreadable } = listAppRoutes(app, values, methods ?? ['GET', 'POST'])
  const isOfHost = (route: AppRoute) => route.path !== path && !route.path.startsWith(`${path}/`)
  const isSelected = ({ method }: AppRoute) => (methods ?? ['GET']).includes(method)
  const probed = [...routes.filter(isSelected), ...ofAnyMethod].filter(isOfHost)
  const reason = 'its method can change data; name the method in `methods` to probe it'
  const ofOtherMethods = routes
    .filter((route) => isOfHost(route) && !isSelected(route))
    .map((route) => ({ ...route, reason }))

  const connections = upgrades?.paths.map((path) => (typeof path === 'string' ? { path: path } : path)) ?? []
  const running = await probedApp(app, headers, upgrades?.attach)
  try {
    const bypasses: MfaBypass[] = []
    const silent: SkippedRoute[] = []
    for (const [login, how] of Object.entries(logins)) {
      const probe = { name: login, login: how, routes: probed, connections, path, pendingPaths }
      for (const { method, path: route, verdict, reason } of (await probeLogin(running, probe)).results) {
        const isKnown = bypasses.some(
          (bypass) => bypass.login === login && bypass.method === method && bypass.route === route,
        )
        if (verdict === 'bypass' && !isKnown) bypasses.push({ login, method, route, reason })
        if (verdict === 'silent') silent.push({ method, path: route, reason })
      }
    }
    return {
      bypasses,
      probed: [...probed, ...connections.map((connection) => ({ method: 'GET', path: connection.path }))],
      skipped: [...unreadable, ...ofOtherMethods, ...silent],
    }
  } finally {
    await running.close()
  }
}

/** Throws an error that lists every bypass that `findMfaBypasses` finds. Returns the routes that were not requested or answered. */
export async function expectNoMfaBypass(options: BypassOptions): Promise<readonly SkippedRoute[]> {
  const { bypasses, skipped } = await findMfaBypasses(options)
  if (bypasses.length === 0) return skipped
  const lines = bypasses.map(
    ({ login, method, route, reason }) => `- ${login}: ${method} ${route}: ${reason}`,
  )
  throw new Error(
    [
      'These routes treat a user without the second factor as signed in:',
      ...lines,
      'Mount mfa.session directly after passport.session(), before every login and route, and read the user only from ' +
        '`req.user`. Let `mfa.upgrade` decide about every upgrade request. If a route may show a pending login more than an anonymous visitor, add its path to `pendingPaths`.',
    ].join('\n'),
  )
}
