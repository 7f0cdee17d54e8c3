import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import {
  type AppCheck,
  type AppCheckReport,
  type AppSignIn,
  awaitLogin,
  checkApp,
} from '../testing/app-check.js'
import type { AppRoute } from '../testing/app-routes.js'
import { startApp } from './start-app.js'

/** What a command reads and writes. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads standard input until its end. */
  readonly stdin: () => Promise<string>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The exit code of each outcome. */
export const EXIT_CODES = { none: 0, bypass: 1, unknown: 2 } as const

const CHECK_HELP = `Usage: countersign check <address> --sign-in 'POST /login username=bob&password=$APP_PASSWORD' [options]
       countersign check --start 'npm start' --sign-in … [options]

Signs in to an app with the first factor only, anew for each request, and finds the routes that skip the second factor.

  --start <command>     Starts the app in this folder, on a free port, and ends it after the check.
  --sign-in <request>   Method, path and form-encoded fields. The value $NAME is read from the environment and the
                        value - from standard input, so that a password is not in the list of processes.
  --body json           Sends the fields as JSON. By default, they are sent as a form, with its hidden fields.
  --sign-in-page <path> The page with the form. Defaults to the path of --sign-in.
  --protected <path>    A page that only signed-in users may see. Can be repeated.
  --route <route>       A route to request, like /orders or 'POST /orders'. Can be repeated.
  --routes <file>       The same, from a file with one route on each line.
  --upgrade <path>      A path that opens a WebSocket. Can be repeated.
  --pending-path <path> A path where a login without the second factor may get another response. Can be repeated.
  --header <header>     A header to send with each request, like 'X-Forwarded-Proto: https'. Can be repeated.
  --path <path>         Where the plugin's routes are mounted. Defaults to /mfa.
  --max-routes <n>      How many routes to find by following links. Defaults to 50.
  --max-seconds <n>     How long to look. Defaults to 120.
  --allow-remote        Checks an app that is not on this machine.
  --json                Prints the report as JSON.

Exit code: 0 without a bypass, 1 with one, 2 if the command cannot tell.`

const OPTIONS = {
  start: { type: 'string' },
  'sign-in': { type: 'string' },
  'sign-in-page': { type: 'string' },
  body: { type: 'string', default: 'form' },
  protected: { type: 'string', multiple: true, default: [] as string[] },
  route: { type: 'string', multiple: true, default: [] as string[] },
  routes: { type: 'string' },
  upgrade: { type: 'string', multiple: true, default: [] as string[] },
  'pending-path': { type: 'string', multiple: true, default: [] as string[] },
  header: { type: 'string', multiple: true, default: [] as string[] },
  path: { type: 'string', default: '/mfa' },
  'max-routes': { type: 'string', default: '50' },
  'max-seconds': { type: 'string', default: '120' },
  'allow-remote': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const read = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true })

type Values = ReturnType<typeof read>['values']

const START_MS = 90_000

/**
 * Runs `countersign check` and returns its exit code.
 * @throws {Error} for an argument that cannot be used.
 */
export async function runCheck(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = read(args)
  if (values.help) {
    io.out(CHECK_HELP)
    return 0
  }
  const { start } = values
  if (positionals.length !== (start === undefined ? 1 : 0)) {
    throw new Error(
      "Expected one address or --start: countersign check http://localhost:3000, or countersign check --start 'npm start'. See countersign check --help.",
    )
  }
  const check = await checkFrom(values, io)
  if (start === undefined) {
    return print(
      await checkApp({ ...check, url: addressOf(positionals[0] ?? '', values['allow-remote']) }),
      values,
      io,
    )
  }
  const started = await startApp(process.cwd(), start, { path: check.path, timeoutMs: START_MS })
  try {
    await awaitLogin({ ...check, url: started.url })
    const report = await checkApp({ ...check, url: started.url })
    if (report.status !== 'pending') io.err(`The app printed:\n${started.output().trim()}`)
    return print(report, values, io)
  } finally {
    await started.stop()
  }
}

function print(report: AppCheckReport, { json }: Values, io: CommandIo): number {
  io.out(json ? JSON.stringify(report, null, 2) : table(report))
  return EXIT_CODES[report.outcome]
}

async function checkFrom(values: Values, io: CommandIo): Promise<Omit<AppCheck, 'url'>> {
  const file = values.routes === undefined ? '' : await readFile(values.routes, 'utf8')
  const lines = file.split('\n').map((line) => line.trim())
  const routes = [...values.route, ...lines.filter((line) => line !== '' && !line.startsWith('#'))]
  return {
    routes: routes.map(routeOf),
    protectedPaths: values.protected.map(pathOf),
    upgrades: values.upgrade.map(pathOf),
    pendingPaths: values['pending-path'].map(pathOf),
    path: pathOf(values.path),
    headers: Object.fromEntries(values.header.map(headerOf)),
    maxRoutes: countOf('max-routes', values['max-routes']),
    maxSeconds: countOf('max-seconds', values['max-seconds']),
    signIn: await signInOf(values, io),
  }
}

function addressOf(address: string, allowRemote: boolean): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`The address must be like http://localhost:3000 (got ${address}).`)
  }
  if (allowRemote || /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)) return url
  throw new Error(
    `${url.hostname} is not this machine: to sign in there and request its routes, add --allow-remote.`,
  )
}

/** Reads `POST /login username=bob&password=$APP_PASSWORD`. */
async function signInOf(values: Values, io: CommandIo): Promise<AppSignIn> {
  const [, request, encoded = ''] = /^(\S+\s+\S+)\s*(.*)$/s.exec(values['sign-in']?.trim() ?? '') ?? []
  if (request === undefined) {
    throw new Error("--sign-in must be like 'POST /login username=bob&password=$APP_PASSWORD'.")
  }
  const { body } = values
  if (body !== 'form' && body !== 'json') throw new Error(`--body must be form or json (got ${body}).`)
  const fields: Record<string, string> = {}
  for (const pair of encoded.split('&').filter(Boolean)) {
    const [[name, literal] = ['', '']] = new URLSearchParams(pair)
    const raw = pair.slice(pair.indexOf('=') + 1)
    const variable = /^\$\{?(\w+)\}?$/.exec(raw)?.[1]
    if (variable !== undefined) fields[name] = fromEnvironment(variable, io.env)
    else if (raw === '-') fields[name] = (await io.stdin()).replace(/\r?\n$/, '')
    else {
      fields[name] = literal
      if (/pass|pwd|secret|pin$/i.test(name)) {
        io.err(
          `The value of "${name}" is in the list of processes and in the history of the shell. Write ${name}=$NAME in single quotes to read it from the environment, or ${name}=- to read it from standard input.`,
        )
      }
    }
  }
  const { method, path } = routeOf(request)
  return { method, path, fields, body, page: pathOf(values['sign-in-page'] ?? path) }
}

function fromEnvironment(name: string, env: CommandIo['env']): string {
  const value = env[name]
  if (value !== undefined) return value
  throw new Error(`The environment variable ${name} is not set. --sign-in reads a field from it.`)
}

/** Reads `/orders` or `POST /orders`. */
function routeOf(text: string): AppRoute {
  const [first = '', second] = text.trim().split(/\s+/)
  if (second === undefined) return { method: 'GET', path: pathOf(first) }
  const method = first.toUpperCase()
  if (!METHODS.includes(method)) throw new Error(`A route must be like 'POST /orders' (got ${text}).`)
  return { method, path: pathOf(second) }
}

function pathOf(text: string): string {
  if (/^\/(?![/\\])/.test(text)) return text
  throw new Error(`A path must begin with one slash (got ${text}).`)
}

function headerOf(text: string): [string, string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new Error(`A header must be like 'X-Forwarded-Proto: https' (got ${text}).`)
}

function countOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a whole number (got ${text}).`)
}

const VERDICTS = {
  bypass: 'BYPASS',
  unclear: 'cannot tell',
  mfa: 'asks for mfa',
  refused: 'refused',
  public: 'public',
} as const

/** The report as text. */
function table({ outcome, problems, status, cookies, routes, skipped, page }: AppCheckReport): string {
  const rows = routes.map(({ method, path, verdict, reason }) => [
    VERDICTS[verdict],
    `${method} ${path}`,
    reason,
  ])
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const [verdictWidth, routeWidth] = [widthOf(0), widthOf(1)]
  const lines = rows.map(
    ([verdict = '', route = '', reason]) =>
      `${verdict.padEnd(verdictWidth)}  ${route.padEnd(routeWidth)}  ${reason}`,
  )
  const bypasses = routes.filter(({ verdict }) => verdict === 'bypass').length
  const result = {
    none: `No bypass in ${routes.length} routes.`,
    bypass: `Routes that skip the second factor: ${bypasses} of ${routes.length}.`,
    unknown: 'Cannot tell whether there is a bypass.',
  }
  return [
    ...(status === undefined
      ? []
      : [
          `Signed in with the first factor. MFA status: ${status}. Cookies: ${cookies.join(', ') || 'none'}.`,
        ]),
    ...lines,
    ...skipped.map(({ path, reason }) => `not requested: GET ${path}: ${reason}`),
    ...problems,
    ...(bypasses > 0
      ? ['If a pending login may get another response at a path, such as the login page, add --pending-path.']
      : []),
    result[outcome],
    ...(page === undefined
      ? []
      : [
          '',
          'What a user sees after the first factor:',
          ...page.steps.map((step) => `  ${step}`),
          `  ${page.title}`,
          ...page.buttons.map((button) => `    [${button}]`),
        ]),
  ].join('\n')
}
