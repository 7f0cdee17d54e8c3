/** A route of an app, with values in the places of its parameters. */
export interface AppRoute {
  readonly method: string
  readonly path: string
}

/** A route that was not tried, and why. */
export interface UntriedRoute extends AppRoute {
  readonly why: string
}

/** What Express keeps of a route, a mounted router or a middleware. */
interface Layer {
  readonly name: string
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> }
  readonly handle?: { readonly stack?: readonly Layer[] }
  /** Express 5. */
  readonly rawPath?: unknown
  readonly slash?: boolean
  /** Express 4. */
  readonly keys?: readonly { readonly name: string | number }[]
  readonly regexp?: RegExp & { readonly fast_slash?: boolean }
}

type Values = Readonly<Record<string, string>>

/** The routes of an app. */
interface AppRoutes {
  /** Those that name their methods. */
  readonly routes: readonly AppRoute[]
  /** Those that answer any: of `.all()`, and of a middleware that is mounted at a path, which may answer. */
  readonly ofAnyMethod: readonly AppRoute[]
  readonly unreadable: readonly UntriedRoute[]
}

/**
 * Lists the routes of an Express app, those of its nested routers too. One that answers any method is listed with each
 * of `anyMethod` for which there is no route of the same path.
 * @throws when there is no Express app, or one that does not keep the paths of its routers.
 */
export function routesOf(app: object, values: Values, anyMethod: readonly string[]): AppRoutes {
  const named = new Map<string, AppRoute>()
  const any = new Map<string, AppRoute>()
  const unreadable: UntriedRoute[] = []

  const add = (given: readonly string[] | 'any', bases: readonly string[], path: unknown) => {
    const [methods, routes] = given === 'any' ? [anyMethod, any] : [given, named]
    for (const one of listed(path)) {
      for (const method of methods) {
        if (typeof one !== 'string') {
          const why = 'its path is a regular expression, from which no path can be made'
          unreadable.push({ method, path: String(one), why })
          continue
        }
        for (const base of bases) {
          const made = filled(base + one, values)
          routes.set(`${method} ${made}`, { method, path: made })
        }
      }
    }
  }

  const walk = (stack: readonly Layer[], bases: readonly string[]) => {
    for (const { route, handle, name, ...layer } of stack) {
      if (route) {
        add(methodsOf(route.methods), bases, route.path)
        continue
      }
      const mounts = listed(mountOf(layer))
      const rest = mounts.filter((mount) => !handle?.stack || typeof mount !== 'string')
      add(
        'any',
        bases,
        rest.filter((mount) => mount !== '/'),
      )
      if (handle?.stack) {
        const paths = mounts.filter((mount) => typeof mount === 'string')
        const below = bases.flatMap((base) => paths.map((path) => base + path.replace(/\/$/, '')))
        walk(handle.stack, below)
      } else if (name === 'mounted_app') {
        const why = 'it is an app of its own, which does not show its routes: look for its roads by itself'
        unreadable.push({ method: 'GET', path: mounts.map(String).join(', '), why })
      }
    }
  }

  walk(stackOf(app), [''])
  const ofAnyMethod = [...any].filter(([key]) => !named.has(key)).map(([, route]) => route)
  return { routes: [...named.values()], ofAnyMethod, unreadable }
}

function stackOf(app: object): readonly Layer[] {
  // Express 4 throws at whoever reads `router`.
  const router = '_router' in app ? app._router : 'router' in app ? app.router : undefined
  const { stack } = (router ?? {}) as { readonly stack?: readonly Layer[] }
  if (stack) return stack
  throw new Error('There are no routes to walk: `app` must be an Express app with its routes mounted.')
}

/** What nobody names one by one: `app.all()` registers every method that there is. */
const NOT_BY_HAND = ['get', 'post', 'put', 'patch', 'delete', 'options', 'trace']

function methodsOf({ _all, ...methods }: Readonly<Record<string, boolean>>): readonly string[] | 'any' {
  const isAny = _all || NOT_BY_HAND.every((method) => methods[method])
  return isAny ? 'any' : Object.keys(methods).map((method) => method.toUpperCase())
}

/** Where a router or middleware is mounted: paths, or regular expressions. */
function mountOf({ rawPath, slash, regexp, keys = [] }: Omit<Layer, 'name'>): unknown {
  if (rawPath !== undefined) return rawPath
  if (slash || regexp?.fast_slash) return '/'
  if (regexp) return readBack(regexp, keys)
  throw new Error(
    'This Express does not keep the paths of its routers: bring the package `router` below it to 2.3 or newer.',
  )
}

/** The paths that Express 4 made a regular expression of, if they can be read in it. */
function readBack(regexp: RegExp, keys: readonly { readonly name: string | number }[]): unknown {
  const end = '\\/?(?=\\/|$)'
  // In Express 4.19 a list of paths stands in a group of its own.
  const source = regexp.source.replace(/^\(\?:(\^.*)\)$/, '$1')
  if (!source.endsWith(end)) return regexp
  let nth = 0
  const named = source.replace(
    /\(\?:(\\\/)?\(\[\^\\?\/\]\+\?\)\)/g,
    (_, slash = '') => `${slash}:${keys[nth++]?.name ?? ''}`,
  )
  const paths = named.split('|^').map((one) => one.replace(/^\^/, '').replace(end, ''))
  if (paths.some((path) => /[()[\]*+?{}^$|]/.test(path))) return regexp
  return paths.map((path) => path.replace(/\\(.)/g, '$1'))
}

/** A path with values in the places of its parameters, and without its optional parts. */
function filled(path: string, values: Values): string {
  const value = (name: string) => encodeURIComponent(values[name] ?? '1')
  return path
    .replace(/\{[^}]*\}/g, '')
    .replace(/:(\w+)(?:\([^)]*\))?[?+*]?/g, (_, name: string) => value(name))
    .replace(/\*(\w*)/g, (_, name: string) => value(name))
}

function listed(path: unknown): readonly unknown[] {
  return Array.isArray(path) ? path.flat(Number.POSITIVE_INFINITY) : [path]
}
