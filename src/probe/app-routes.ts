/** A route of an app, with its path parameters replaced by values. */
export interface AppRoute {
  /** The HTTP method in upper case. */
  readonly method: string
  /** The path, as a request asks for it. */
  readonly path: string
}

/** A route that was not probed. */
export interface SkippedRoute extends AppRoute {
  /** Why the route was skipped, in words. */
  readonly reason: string
}

/** Express's internal entry for a route, a mounted router or a middleware. */
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
  /** Routes registered for specific methods. */
  readonly routes: readonly AppRoute[]
  /** Routes that handle every method: `.all()`, and middleware at a path that may respond. */
  readonly ofAnyMethod: readonly AppRoute[]
  /** Routes whose paths cannot be determined. */
  readonly unreadable: readonly SkippedRoute[]
}

/** The routes of an app and its routers. @throws if they cannot be read; the error names the remedy. */
export function listAppRoutes(app: object, values: Values, anyMethod: readonly string[]): AppRoutes {
  const named = new Map<string, AppRoute>()
  const any = new Map<string, AppRoute>()
  const unreadable: SkippedRoute[] = []

  const add = (handled: readonly string[] | 'any', bases: readonly string[], paths: unknown) => {
    const [methods, routes] = handled === 'any' ? [anyMethod, any] : [handled, named]
    for (const path of ensureList(paths)) {
      for (const method of methods) {
        if (typeof path !== 'string') {
          const reason = 'its path is a regular expression, so no path can be derived from it'
          unreadable.push({ method, path: String(path), reason })
          continue
        }
        for (const base of bases) {
          const filled = fillPath(base + path, values)
          routes.set(`${method} ${filled}`, { method, path: filled })
        }
      }
    }
  }

  const collect = (stack: readonly Layer[], bases: readonly string[]) => {
    for (const { route, handle, name, ...layer } of stack) {
      if (route) {
        add(listMethods(route.methods), bases, route.path)
        continue
      }
      const mounts = ensureList(mountOf(layer))
      const handlers = mounts.filter((mount) => !handle?.stack || typeof mount !== 'string')
      add(
        'any',
        bases,
        handlers.filter((mount) => mount !== '/'),
      )
      if (handle?.stack) {
        const paths = mounts.filter((mount) => typeof mount === 'string')
        const below = bases.flatMap((base) => paths.map((path) => base + path.replace(/\/$/, '')))
        collect(handle.stack, below)
      } else if (name === 'mounted_app') {
        const reason = 'it is a mounted app whose routes are not visible; probe that app separately'
        unreadable.push({ method: 'GET', path: mounts.map(String).join(', '), reason })
      }
    }
  }

  collect(getStack(app), [''])
  const ofAnyMethod = [...any].filter(([key]) => !named.has(key)).map(([, route]) => route)
  return { routes: [...named.values()], ofAnyMethod, unreadable }
}

function getStack(app: object): readonly Layer[] {
  // In Express 4, reading `router` throws.
  const router = '_router' in app ? app._router : 'router' in app ? app.router : undefined
  const { stack } = (router ?? {}) as { readonly stack?: readonly Layer[] }
  if (stack) return stack
  throw new Error('No routes were found. `app` must be an Express app with its routes mounted.')
}

// `app.all()` registers every method. No app registers all of these one by one.
const METHODS_OF_ALL = ['get', 'post', 'put', 'patch', 'delete', 'options', 'trace']

function listMethods({ _all, ...methods }: Readonly<Record<string, boolean>>): readonly string[] | 'any' {
  const isAny = _all || METHODS_OF_ALL.every((method) => methods[method])
  return isAny ? 'any' : Object.keys(methods).map((method) => method.toUpperCase())
}

/** The paths or regular expressions at which a router or middleware is mounted. */
function mountOf({ rawPath, slash, regexp, keys = [] }: Omit<Layer, 'name'>): unknown {
  if (rawPath !== undefined) return rawPath
  if (slash || regexp?.fast_slash) return '/'
  if (regexp) return parsePaths(regexp, keys)
  throw new Error(
    'This version of Express does not store the paths of its routers. Update its dependency `router` to 2.3 or newer.',
  )
}

/** The paths from which Express 4 made a regular expression, or the expression itself if they cannot be restored. */
function parsePaths(regexp: RegExp, keys: readonly { readonly name: string | number }[]): unknown {
  const end = '\\/?(?=\\/|$)'
  // Express 4.19 puts a list of paths into a group.
  const source = regexp.source.replace(/^\(\?:(\^.*)\)$/, '$1')
  if (!source.endsWith(end)) return regexp
  let nth = 0
  const named = source.replace(
    /\(\?:(\\\/)?\(\[\^\\?\/\]\+\?\)\)/g,
    (_, slash = '') => `${slash}:${keys[nth++]?.name ?? ''}`,
  )
  const paths = named.split('|^').map((source) => source.replace(/^\^/, '').replace(end, ''))
  if (paths.some((path) => /[()[\]*+?{}^$|]/.test(path))) return regexp
  return paths.map((path) => path.replace(/\\(.)/g, '$1'))
}

/** Replaces the parameters of a path by values and removes its optional parts. */
function fillPath(path: string, values: Values): string {
  const value = (name: string) => encodeURIComponent(values[name] ?? '1')
  return path
    .replace(/\{[^}]*\}/g, '')
    .replace(/:(\w+)(?:\([^)]*\))?[?+*]?/g, (_, name: string) => value(name))
    .replace(/\*(\w*)/g, (_, name: string) => value(name))
}

function ensureList(path: unknown): readonly unknown[] {
  return Array.isArray(path) ? path.flat(Number.POSITIVE_INFINITY) : [path]
}
