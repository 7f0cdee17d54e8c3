import { posix } from 'node:path'

/** A source file of the app. */
export interface SourceFile {
  /** From the folder of the app. */
  readonly path: string
  readonly text: string
}

const ROUTE = /(?:\.\s*(?=\w+\(\s*['"`]\/)|@)(get|post|put|delete|all)\(\s*(?:['"`]([^'"`]*)['"`])?/gi
const SIGN_IN = /^(?!.*(?:regist|sign-?up|forgot|reset|(?:log|sign)-?o)).*(?:log-?in|sign-?in|session)/i
const SIGNS_IN = /authenticate\(\s*['"`](?!session|jwt|mfa)|\.log[iI]n\(\s*\w/

/** The route that takes the password, as the sources of an app declare it. All paths are as a browser sees them. */
export type LoginFacts = ReturnType<typeof findLogin>

/** Finds the route that takes the password, and the pages around it; `undefined` if no route looks like it. */
export function findLogin(files: readonly SourceFile[]) {
  const routes = files.flatMap((file) => listRoutes(file, findPrefix(file, files)))
  const posts = routes.filter(({ method, path }) => method === 'post' && SIGN_IN.test(path))
  const login = posts.find(({ source }) => SIGNS_IN.test(source)) ?? posts[0]
  if (!login) return undefined
  const all = files.map(({ text }) => text).join('\n')
  const findName = (pattern: RegExp) => pattern.exec(login.source)?.[1] ?? pattern.exec(all)?.[1]
  const pages = routes.flatMap(({ method, path }) => (method === 'get' && SIGN_IN.test(path) ? path : []))
  const refused = findName(/failureRedirect:\s*['"`](\/[^'"`?]*)/)
  const read = [...login.source.matchAll(/\bbody\.(\w+)|(\w+)(?=[^{}]*\}\s*=\s*\w+\.body)/g)].map(
    ([, member, name]) => member ?? name,
  )
  return {
    path: login.path,
    fields: [
      findName(/usernameField:\s*['"`](\w+)/) ?? read.find((name = '') => !/pass/i.test(name)) ?? 'username',
      findName(/passwordField:\s*['"`](\w+)/) ?? read.find((name = '') => /pass/i.test(name)) ?? 'password',
    ],
    signInPath: [refused ?? '', login.path].find((path) => pages.includes(path)) ?? pages[0] ?? refused,
    signOutPath: routes.find(({ path }) => /(?:log|sign)-?(?:out|off)/i.test(path))?.path,
    homePath: findName(/success(?:ReturnToOr)?Redirect:\s*['"`](\/[^'"`?]*)/),
  }
}

/** The routes of a file, each with the source up to the next. */
function listRoutes({ text }: SourceFile, prefix: string) {
  const found = [...text.matchAll(ROUTE)]
  return found.map(({ index, 1: method = '', 2: path = '' }, at) => ({
    method: method.toLowerCase(),
    path: posix.join('/', prefix, path).replace(/(?<=.)\/$/, ''),
    source: text.slice(index, found[at + 1]?.index),
  }))
}

/** The path below which the routes of a file are mounted: by Nest's controller, or by `use(path, router)` in another file. */
function findPrefix(file: SourceFile, files: readonly SourceFile[]): string {
  const [, controller] = /@Controller\(\s*['"`]([^'"`]*)/.exec(file.text) ?? []
  if (controller !== undefined) return controller
  const isOwn = (path: string, from: string) =>
    normalizeModulePath(`${posix.dirname(path)}/${from}`) === normalizeModulePath(file.path)
  for (const { path, text } of files) {
    const imports = [...text.matchAll(/(\w+)\s*\}?\s*(?:=\s*require\(|from\s)\s*['"`](\.[^'"`]+)/g)]
    const names = imports.flatMap(([, name = '', from = '']) => (isOwn(path, from) ? name : []))
    for (const [, prefix = '', rest = ''] of text.matchAll(/\.use\(\s*['"`](\/[^'"`]*)['"`]\s*,(.*)/g)) {
      const [, from] = /require\(\s*['"`](\.[^'"`]+)/.exec(rest) ?? []
      const words = rest.split(/\W+/)
      if (from ? isOwn(path, from) : names.some((name) => words.includes(name))) return prefix
    }
  }
  return ''
}

const normalizeModulePath = (path: string) =>
  posix.normalize(path).replace(/(?:\/index)?(?:\.[cm]?[jt]sx?)?$/, '')
