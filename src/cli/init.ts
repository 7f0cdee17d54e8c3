import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type AppSignIn, checkApp, pageAfterSignIn, type SeenPage } from '../testing/app-check.js'
import type { AppRoute } from '../testing/app-routes.js'
import { runningApp } from '../testing/probed-app.js'
import { changed, unifiedDiff } from './change.js'
import { type CommandIo, EXIT_CODES, pathOf, signInOf, table } from './check.js'
import { loginPaths, NEW_SECRET, type Plan, planChanges, TOKENS } from './plan-changes.js'
import { type AppFacts, positionOf, readApp, type SourceRoute } from './read-app.js'
import { type StartedApp, startApp } from './start-app.js'

const HELP = `Usage: countersign init [folder] [options]

Finds the session, Passport and the login routes of the Express app in the folder, and shows what to add to its files:
the gate and its routes, a module with the options and the service for development, and .env. With --write, it writes
them, starts the app, and runs countersign check. It changes no line that the app has.

  --write               Writes the files. Without it, nothing is written.
  --sign-in <request>   How to sign in as a test user, like 'POST /login username=bob&password=$APP_PASSWORD', to
                        check the app once it runs. As for countersign check.
  --body json           Sends the fields as JSON. By default, they are sent as a form, with its hidden fields.
  --sign-in-page <path> The page with the form. Defaults to the one in the sources.
  --protected <path>    A page that only signed-in users may see. Can be repeated.
  --start <command>     Starts the app. Defaults to npm start, or node with the main file.
  --no-start            Does not start the app.

Exit code: 0 if there is nothing left to do or nothing was to be written, 1 if the check finds a bypass, 2 if the app
cannot have the gate, does not start or was not checked.`

const OPTIONS = {
  write: { type: 'boolean', default: false },
  'sign-in': { type: 'string' },
  'sign-in-page': { type: 'string' },
  body: { type: 'string', default: 'form' },
  protected: { type: 'string', multiple: true, default: [] as string[] },
  start: { type: 'string' },
  'no-start': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const PACKAGES = ['countersign', '@countersign/service']
const START_MS = 90_000

/**
 * Runs `countersign init` and returns its exit code.
 * @throws {Error} for an argument that cannot be used, and if the app cannot be read or started.
 */
export async function runInit(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: true,
  })
  if (values.help) {
    io.out(HELP)
    return 0
  }
  if (positionals.length > 1) throw new Error('Expected one folder. See countersign init --help.')
  const app = await readApp(resolve(positionals[0] ?? '.'))
  const { signInPath } = loginPaths(app)
  const signIn =
    values['sign-in'] === undefined
      ? undefined
      : await signInOf({ 'sign-in-page': signInPath, ...values }, io)
  const protectedPaths = values.protected.map(pathOf)
  const plan = await planChanges(app)
  if (plan.outcome === 'refused') {
    const unread = app.unread.length > 0 ? [notUnderstood(app)] : []
    io.err([plan.why, `Read ${pageIn(plan.page)}.`, ...unread].join('\n'))
    return EXIT_CODES.unknown
  }
  io.out(findings(app, plan))
  for (const change of plan.changes) io.out(`\n${unifiedDiff(change)}`)
  if (!values.write) {
    io.out(
      plan.changes.length > 0
        ? `\nNothing was written. To write it: ${commandFor(app)}`
        : 'Nothing is left to add.',
    )
    return 0
  }
  await write(app, plan)
  io.out(
    plan.changes.length > 0
      ? `\nWritten: ${plan.changes.map(({ path }) => path).join(', ')}.`
      : 'Nothing is left to add.',
  )
  const missing = missingPackages(app)
  if (missing.length > 0) {
    io.err(
      `The app cannot start before ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} installed: see ${pageIn('docs/getting-started.md')}.`,
    )
    return EXIT_CODES.unknown
  }
  if (values['no-start']) return 0
  const command = values.start ?? startCommand(app)
  io.out(`Starts the app: ${command}`)
  const started = await startApp(app.folder, command, { path: '/mfa', timeoutMs: START_MS })
  try {
    return await prove(app, started, { signIn, protectedPaths }, io)
  } finally {
    await started.stop()
  }
}

/** Where a page of the documents is, from the current folder. */
function pageIn(page: string): string {
  const [file = '', anchor] = page.split('#')
  // src/cli and dist/bin lie equally deep below the package.
  const path = relative(process.cwd(), fileURLToPath(new URL(`../../${file}`, import.meta.url)))
  return anchor === undefined ? path : `${path}#${anchor}`
}

function signInRoutes({ routes }: AppFacts): SourceRoute[] {
  return routes.filter(({ does }) => does === 'sign in')
}

function notUnderstood({ unread }: AppFacts): string {
  return `Not understood, and left out: ${unread.join(', ')}`
}

function findings(app: AppFacts, { outcome, at }: Exclude<Plan, { outcome: 'refused' }>): string {
  const routes = signInRoutes(app).map(
    ({ method, path, place }) => `${method} ${path} (${positionOf(place)})`,
  )
  const sessions = app.sessionMounts.map(positionOf).join(', ') || 'not found in the sources'
  const tokens = TOKENS.filter((name) => app.packages.has(name))
  return [
    `Session (express-session): ${sessions}`,
    outcome === 'mounted' ? `Gate of Countersign: ${at}` : `Passport: ${at}`,
    `Login routes, which stay as they are: ${routes.length > 0 ? routes.join(', ') : 'none found in the sources'}`,
    ...(tokens.length > 0
      ? [
          `Tokens (${tokens.join(', ')}) are accepted without a second factor: see ${pageIn('docs/does-it-fit.md')}`,
        ]
      : []),
    ...(app.unread.length > 0 ? [notUnderstood(app)] : []),
  ].join('\n')
}

async function write(
  { folder }: AppFacts,
  { changes }: Exclude<Plan, { outcome: 'refused' }>,
): Promise<void> {
  const secret = randomBytes(32).toString('base64url')
  for (const change of changes) {
    const text = changed(change).replace(NEW_SECRET, () => secret)
    // A file that appeared in the meantime is not overwritten.
    const flag = change.before === undefined ? 'wx' : 'w'
    await writeFile(join(folder, change.path), text, { flag, ...(change.path === '.env' && { mode: 0o600 }) })
  }
}

/** The packages that the app cannot load. */
function missingPackages({ folder }: AppFacts): string[] {
  const { resolve: find } = createRequire(join(folder, 'package.json'))
  return PACKAGES.filter((name) => {
    try {
      find(name)
      return false
    } catch {
      return true
    }
  })
}

/** How the app is started; compiled first if that runs what a build writes. */
function startCommand({ manifest: { scripts = {}, main }, folder }: AppFacts): string {
  const { start, build, dev } = scripts
  if (start !== undefined) {
    const isBuilt =
      build !== undefined && !('prestart' in scripts) && /\b(?:dist|build|lib|out)\b/.test(start)
    return isBuilt ? 'npm run build && npm start' : 'npm start'
  }
  if (dev !== undefined) return 'npm run dev'
  const file = [main, 'server.js', 'app.js', 'index.js'].find(
    (one) => one !== undefined && existsSync(join(folder, one)),
  )
  if (file !== undefined) return `node ${file}`
  throw new Error(
    'package.json has no script "start": say how to start the app with --start, like --start "node server.js".',
  )
}

interface Proof {
  readonly signIn: AppSignIn | undefined
  readonly protectedPaths: readonly string[]
}

/** Checks the running app, and prints what a user sees. */
async function prove(
  app: AppFacts,
  { url, output }: StartedApp,
  { signIn, protectedPaths }: Proof,
  io: CommandIo,
): Promise<number> {
  if (!signIn) {
    io.out(
      `The app starts, and the routes of Countersign answer at /mfa. It was not checked whether each login asks for the second factor, which needs a test user:\n  ${exampleCheck(app)}`,
    )
    return EXIT_CODES.unknown
  }
  // Answers when the service has started; a login that has to wait for it could take too long.
  await runningApp(url.origin, {}, START_MS)
    .agent()('/mfa-inbox')
    .catch(() => {})
  const report = await checkApp({
    url,
    signIn,
    protectedPaths,
    routes: pagesIn(app),
    upgrades: [],
    pendingPaths: [],
    headers: {},
    path: '/mfa',
    maxRoutes: 50,
    maxSeconds: 120,
  })
  io.out(`\n${table(report)}`)
  if (report.status === 'pending')
    io.out(`\n${seen(await pageAfterSignIn(url.origin, signIn, loginPaths(app).homePath))}`)
  else io.err(`The app printed:\n${output().trim()}`)
  return EXIT_CODES[report.outcome]
}

/** The pages that the sources name, to be checked beside those that links lead to. */
function pagesIn({ routes }: AppFacts): AppRoute[] {
  return routes
    .filter(({ method, path, does }) => method === 'GET' && does === undefined && /^[\w./-]+$/.test(path))
    .map(({ method, path }) => ({ method, path }))
}

/** The command that writes, for the current folder. */
function commandFor({ folder }: AppFacts): string {
  const path = relative(process.cwd(), folder)
  return ['npx --no countersign init', ...(path === '' ? [] : [path]), '--write'].join(' ')
}

/** The command that checks the app, with a login route that the sources show. */
function exampleCheck(app: AppFacts): string {
  const routes = signInRoutes(app)
  const route =
    routes.find(({ method, path }) => method === 'POST' && /log-?in|sign-?in|session|auth/i.test(path)) ??
    routes[0]
  const { username, password } = app.loginFields
  return `${commandFor(app)} --sign-in '${route?.method ?? 'POST'} ${route?.path ?? '/login'} ${username}=…&${password}=$APP_PASSWORD'`
}

function seen({ steps, title, buttons }: SeenPage): string {
  return [
    'What a user sees after the first factor:',
    ...steps.map((step) => `  ${step}`),
    `  ${title}`,
    ...buttons.map((button) => `    [${button}]`),
    'The code is at /mfa-inbox, in development only.',
  ].join('\n')
}
