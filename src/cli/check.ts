import { parseArgs } from 'node:util'
import { type AppCheckReport, awaitLogin, checkApp } from '../probe/app-check.js'
import { APP_OPTIONS, isThisMachine, parseAddress, readAppOptions } from './app-arguments.js'
import type { CommandIo } from './command-io.js'
import { print } from './print.js'
import { startApp } from './start-app.js'

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
  --provider <address>  The identity provider on this machine to which --sign-in redirects, with the fields for its forms.
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
  ...APP_OPTIONS,
  start: { type: 'string' },
  'allow-remote': { type: 'boolean', default: false },
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
    print(CHECK_HELP, io)
    return 0
  }
  const { start } = values
  if (positionals.length !== (start === undefined ? 1 : 0)) {
    throw new Error(
      "Expected one address or --start: countersign check http://localhost:3000, or countersign check --start 'npm start'. See countersign check --help.",
    )
  }
  const check = await readAppOptions(values, io)
  if (start === undefined) {
    const url = parseAddress(positionals[0] ?? '')
    if (!values['allow-remote'] && !isThisMachine(url)) {
      throw new Error(
        `${url.hostname} is not this machine: to sign in there and request its routes, add --allow-remote.`,
      )
    }
    return printReport(await checkApp({ ...check, url }), values, io)
  }
  const started = await startApp(process.cwd(), start, { path: check.path, timeoutMs: START_MS })
  try {
    await awaitLogin({ ...check, url: started.url })
    const report = await checkApp({ ...check, url: started.url })
    if (report.status !== 'pending') io.err(`The app printed:\n${started.output().trim()}`)
    const warnings = new Set(started.output().match(/countersign: .+? \[MFA_WARN_\w+\]/g))
    if (warnings.size > 0) io.err(['The app warns:', ...warnings].join('\n'))
    return printReport(report, values, io)
  } finally {
    await started.stop()
  }
}

function printReport(report: AppCheckReport, { json }: Values, io: CommandIo): number {
  if (json) io.out(JSON.stringify(report, null, 2))
  else print(table(report), io)
  return EXIT_CODES[report.outcome]
}

const VERDICTS = {
  bypass: 'BYPASS',
  unclear: 'cannot tell',
  mfa: 'asks for mfa',
  refused: 'refused',
  public: 'public',
} as const

/** The text that fits beside a reason. */
const MOST_OF_ROUTE = 24

/** The report as text. */
function table(report: AppCheckReport): string {
  const { outcome, problems, status, cookies, reference, routes, skipped, page } = report
  const rows = routes.map(({ method, path, verdict, reason }) => [
    VERDICTS[verdict],
    `${method} ${path}`,
    reason,
  ])
  const width = Math.max(...rows.map(([verdict = '']) => verdict.length))
  const fitting = rows.flatMap(([, route = '']) => (route.length <= MOST_OF_ROUTE ? route.length : []))
  const lines = rows.map(([verdict = '', route = '', reason]) => {
    const below = route.length > MOST_OF_ROUTE ? `\n${' '.repeat(width)}` : ''
    return `${verdict.padEnd(width)}  ${route.padEnd(Math.max(...fitting))}${below}  ${reason}`
  })
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
    ...(reference ? ['The login gives clients without cookies a reference.'] : []),
    ...lines,
    ...skipped.map(({ path, reason }) => `not requested: GET ${path}: ${reason}`),
    ...problems,
    ...(bypasses > 0
      ? ['If a pending login may get another response at a path, such as a help page, add --pending-path.']
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
