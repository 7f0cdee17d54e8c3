import { type AppRoute, routesOf, type UntriedRoute } from './app-routes.js'
import { type BypassLogin, type MfaBypass, probeLogin } from './probe-login.js'
import { type HostApp, probedApp } from './probed-app.js'
import { refuseProduction } from './production.js'

/** An app, and all the ways to sign in to it. */
export interface BypassOptions {
  /** The Express app with its gate, as it is in production. */
  readonly app: HostApp
  /** Every login that there is, by a name of its own, each of somebody who has a second factor. */
  readonly logins: Readonly<Record<string, BypassLogin>>
  /** Paths that may tell somebody halfway more than nobody. A user on their request is an open road all the same. */
  readonly open?: readonly string[] | undefined
  /**
   * Methods to try, with an empty JSON object as body. Defaults to `GET`, as others change things, and to `GET` and `POST`
   * where any method is answered: by `.all()`, or a middleware that is mounted at a path.
   */
  readonly methods?: readonly string[] | undefined
  /** Values of path parameters by name. Defaults to `1` for each. */
  readonly values?: Readonly<Record<string, string>> | undefined
  /** Sent with each request, such as `X-Forwarded-Proto`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Where the plugin's routes are; they are not tried. Defaults to `/mfa`. */
  readonly path?: string | undefined
}

/** What the walk found. */
export interface BypassReport {
  readonly findings: readonly MfaBypass[]
  readonly tried: readonly AppRoute[]
  readonly untried: readonly UntriedRoute[]
}

/**
 * Walks an app's routes as somebody who showed only the first factor, once for each login, and compares with what
 * nobody gets. An open road is a route whose request still holds a user when it is answered, that is a success for
 * them alone, or that answers them with something else.
 * @throws when a login is refused, there are no routes to walk, or in production: it signs in and changes things.
 */
export async function findMfaBypasses(options: BypassOptions): Promise<BypassReport> {
  refuseProduction('findMfaBypasses')
  const { app, logins, open = [], values = {}, headers = {}, path = '/mfa' } = options
  const wanted = options.methods?.map((method) => method.toUpperCase())
  const { routes, ofAnyMethod, unreadable } = routesOf(app, values, wanted ?? ['GET', 'POST'])
  const isForeign = (route: AppRoute) => route.path !== path && !route.path.startsWith(`${path}/`)
  const isWanted = ({ method }: AppRoute) => (wanted ?? ['GET']).includes(method)
  const tried = [...routes.filter(isWanted), ...ofAnyMethod].filter(isForeign)
  const why = 'its method changes things: it is tried when `methods` names it'
  const untried = routes
    .filter((route) => isForeign(route) && !isWanted(route))
    .map((route) => ({ ...route, why }))

  const probed = await probedApp(app, headers)
  try {
    const walks = []
    for (const [road, login] of Object.entries(logins)) {
      walks.push(await probeLogin(probed, { road, login, routes: tried, path, open }))
    }
    return {
      findings: walks.flatMap(({ findings }) => findings),
      tried,
      untried: [...unreadable, ...untried, ...walks.flatMap(({ silent }) => silent)],
    }
  } finally {
    await probed.close()
  }
}

/**
 * The same, for a test: throws when a road is open.
 * @returns the routes that were not tried.
 * @throws an error that names each open road, and what to do.
 */
export async function expectNoMfaBypass(options: BypassOptions): Promise<readonly UntriedRoute[]> {
  const { findings, untried } = await findMfaBypasses(options)
  if (findings.length === 0) return untried
  const lines = findings.map(({ road, method, route, why }) => `- ${road}: ${method} ${route}: ${why}`)
  throw new Error(
    [
      'Somebody who showed only the first factor is let in:',
      ...lines,
      'Mount mfaSession right behind passport.session(), before every login and route, and let nothing behind it look ' +
        'for the user in the session. A path that may tell them more than nobody belongs into `open`.',
    ].join('\n'),
  )
}
