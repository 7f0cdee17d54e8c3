import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EXIT_CODES } from './check.js'
import type { CommandIo } from './command-io.js'
import { type AppFacts, findApp, type Place, positionOf } from './find-app.js'
import { print } from './print.js'

const HELP = `Usage: countersign init [folder]

Prints what to add to the Express app in the folder: a module with the options and the service for development, and the
line that mounts it directly after passport.session(). It also prints the command that starts the app and proves that its
login asks for the second factor. It writes nothing.

Exit code: 0 with lines to add, or if the app has them, 2 if the app cannot have the gate.`

const FIT = 'docs/does-it-fit.md'
const MOUNTING = 'docs/mounting.md'
const TESTING = 'docs/testing.md#mfa-bypasses'

/** Packages that sign users in with tokens. */
const TOKENS =
  /^(?:passport-jwt|passport-http-bearer|express-jwt|express-oauth2-jwt-bearer|jsonwebtoken|jose|@nestjs\/jwt)$/
/** Packages that sign users in at a provider. */
const PROVIDERS =
  /^(?:passport-(?:google|github|gitlab|facebook|apple|microsoft|azure|twitter|linkedin|discord|auth0|okta|oauth|openidconnect|saml)\b.*|@node-saml\/passport-saml|openid-client)$/
const CSRF = /^(?:@dr\.pogodin\/csurf|csurf|csrf-csrf|csrf-sync|lusca|tiny-csrf)$/

/**
 * Runs `countersign init` and returns its exit code.
 * @throws {Error} for an argument that cannot be used, and if the app cannot be read.
 */
export async function runInit(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
    strict: true,
  })
  if (values.help) {
    print(HELP, io)
    return 0
  }
  if (positionals.length > 1) throw new Error('Expected one folder. See countersign init --help.')
  const app = await findApp(resolve(positionals[0] ?? '.'))
  const unfit = unfitness(app)
  if (unfit) {
    io.err(`${unfit.why}\nRead ${pageIn(unfit.page)}.`)
    return EXIT_CODES.unknown
  }
  io.out([...findings(app), ...additions(app), ...proof(app)].join('\n'))
  return 0
}

/** Where a page of the documents is, from the current folder. */
function pageIn(page: string): string {
  const [file = '', anchor] = page.split('#')
  // src/cli and dist/bin lie equally deep below the package.
  const path = relative(process.cwd(), fileURLToPath(new URL(`../../${file}`, import.meta.url)))
  return anchor === undefined ? path : `${path}#${anchor}`
}

/** Why the app cannot have the gate, in one sentence, and the page to read. */
function unfitness({ packages, mounts, folder }: AppFacts): { why: string; page: string } | undefined {
  const hasSession = packages.has('express-session')
  if (!hasSession && packages.has('cookie-session')) {
    return {
      why: 'The app keeps its session in the cookie (cookie-session), where an old cookie would bring back an earlier state: use express-session with a store.',
      page: FIT,
    }
  }
  if (mounts.length > 0) return undefined
  if (![...packages.keys()].some((name) => name === 'express' || name.startsWith('@nestjs/'))) {
    return { why: `There is no Express app in ${folder}: package.json does not name express.`, page: FIT }
  }
  if (hasSession && packages.has('passport')) {
    return {
      why: 'passport.session() is called nowhere in the sources, so no session has a user: mount it after express-session.',
      page: MOUNTING,
    }
  }
  if (hasSession) {
    return {
      why: 'The app has express-session without Passport, whose session Countersign gates: add six lines, as in recipes/without-passport in the repository.',
      page: FIT,
    }
  }
  const [token] = named(packages, TOKENS)
  return {
    why:
      token === undefined
        ? 'The app has no session: Countersign needs express-session and Passport.'
        : `The app signs users in with tokens only (${token}), and Countersign gates sessions: issue the token behind a session that has shown the second factor.`,
    page: FIT,
  }
}

function named(packages: AppFacts['packages'], pattern: RegExp): string[] {
  return [...packages.keys()].filter((name) => pattern.test(name))
}

function findings({ packages, mounts, gates }: AppFacts): string[] {
  const express = packages.get('express')
  const tokens = named(packages, TOKENS)
  const csrf = named(packages, CSRF)
  return [
    `Express${express === undefined ? '' : ` ${express}`}. Passport's session: ${mounts.map(positionOf).join(', ')}.`,
    ...(tokens.length > 0
      ? [`Tokens (${tokens.join(', ')}) are accepted without a second factor: see ${pageIn(FIT)}.`]
      : []),
    ...(csrf.length > 0 && gates.length === 0
      ? [
          `Call ${csrf.join(' and ')} after the new lines: the pages of Countersign have no token of it, and refuse requests of other sites themselves.`,
        ]
      : []),
  ]
}

/** The module with the second factor, and the lines that mount it; nothing for an app that has them. */
function additions(app: AppFacts): string[] {
  const { folder, gates, mounts } = app
  if (gates.length > 0) {
    return ['', `Nothing is left to add: Countersign is mounted at ${gates.map(positionOf).join(', ')}.`]
  }
  const [first] = mounts
  const module = first && moduleFor(first, app)
  if (!module) return []
  return [
    ...block(`Create ${module.path}:`, moduleLines(app, module)),
    ...mounts.flatMap((mount) => [
      ...block(`Add to ${mount.path}, at the top:`, [importLine(mount, module)]),
      ...block(`Add to ${mount.path}, directly after passport.session() in line ${mount.line}:`, [
        `${hostAt(mount)}.use(mfa.router) // withholds req.user until the second factor is shown; its pages are below /mfa`,
      ]),
    ]),
    ...(ignores(folder, '.data') ? [] : block('Add to .gitignore:', ['.data/'])),
  ]
}

function block(heading: string, lines: readonly string[]): string[] {
  return ['', heading, '', ...lines.map((line) => (line === '' ? '' : `    ${line}`))]
}

/** What the app is called that mounts `passport.session()` in this line: `app`. */
function hostAt({ text, line }: Place): string {
  const before = text.split('\n').slice(0, line).join('\n')
  return [...before.matchAll(/([\w$]+)\s*\.\s*use\s*\(/g)].at(-1)?.[1] ?? 'app'
}

/** The module to create, and how it is written. */
interface Module {
  /** From the folder of the app. */
  readonly path: string
  /** How its name ends where it is imported: `.js`, or nothing. */
  readonly ending: string
  readonly hasImports: boolean
  readonly isTypeScript: boolean
}

/** The module beside the file that mounts it. Node decides by the nearest package.json how both are loaded. */
function moduleFor({ path, text }: Place, { folder, manifest }: AppFacts): Module {
  const extension = { '.jsx': '.js', '.tsx': '.ts', '': '.js' }[extname(path)] ?? extname(path)
  const isTypeScript = extension.endsWith('ts')
  const isModule = extension.startsWith('.m') || (manifest.type === 'module' && !extension.startsWith('.c'))
  const [, written] = /from ['"]\.[^'"]*(\.[cm]?ts)['"]/.exec(text) ?? []
  const name = existsSync(join(folder, dirname(path), `mfa${extension}`)) ? 'second-factor' : 'mfa'
  return {
    path: posix.join(dirname(path), name + extension),
    ending: written ?? (isModule || !isTypeScript ? extension.replace('ts', 'js') : ''),
    hasImports: isModule || /^\s*import\s/m.test(text),
    isTypeScript,
  }
}

function importLine({ path }: Place, module: Module): string {
  const from = posix.relative(dirname(path), module.path.slice(0, -extname(module.path).length))
  const specifier = `${from.startsWith('.') ? '' : './'}${from}${module.ending}`
  return module.hasImports ? `import { mfa } from '${specifier}'` : `const { mfa } = require('${specifier}')`
}

function moduleLines({ manifest, folder }: AppFacts, { hasImports, isTypeScript }: Module): string[] {
  const appName = (manifest.name ?? basename(folder)).replace(/^@[^/]+\//, '')
  const importing = (names: string, from: string) =>
    hasImports ? `import { ${names} } from '${from}'` : `const { ${names} } = require('${from}')`
  return [
    importing('developmentSecret, startService', '@countersign/service'),
    importing('createMfa', 'countersign'),
    '',
    `const appName = '${appName}' // as your users know it`,
    '// In this process, with its data in the folder .data. Messages stay in an inbox, whose address the log has, until SERVICE_DELIVERY says where to send them.',
    'const service = startService({',
    '  applicationName: appName,',
    "  dataDir: '.data',",
    "  secret: process.env.SERVICE_SECRET ?? developmentSecret('.data'),",
    "  delivery: process.env.SERVICE_DELIVERY ?? 'inbox',",
    '})',
    '',
    `const mfa = createMfa${isTypeScript ? '<Express.User & { email: string }>' : ''}({`,
    '  service: service.mfa,',
    '  appName,',
    '  // The second factors of a user, from your own record: contacts that the user has confirmed.',
    "  factors: (user) => [{ method: 'email', email: user.email }],",
    '  // userId: (user) => String(user._id), // unless it is user.id',
    "  // login: { signInPath: '/login', signOutPath: '/logout', homePath: '/' }, // unless these are yours",
    '})',
    '',
    hasImports ? 'export { mfa }' : 'module.exports = { mfa }',
  ]
}

function ignores(folder: string, name: string): boolean {
  const path = join(folder, '.gitignore')
  return existsSync(path) && new RegExp(`^/?\\${name}/?\\s*$`, 'm').test(readFileSync(path, 'utf8'))
}

/** How to see that the login asks for the second factor. */
function proof({ packages, manifest, packageFolder, takesJson }: AppFacts): string[] {
  const providers = named(packages, PROVIDERS)
  if (providers.length > 0 && !packages.has('passport-local')) {
    return [
      '',
      `Users sign in at a provider (${providers.join(', ')}), where no command can sign in. Write a test with expectNoMfaBypass, whose login requests your callback route: see ${pageIn(TESTING)}.`,
    ]
  }
  return block('Then start the app, and prove that its login asks for the second factor:', [
    `npx --no countersign check --start '${startCommand(manifest, packageFolder)}' --sign-in 'POST /login username=…&password=$APP_PASSWORD'${takesJson ? ' --body json' : ''} --protected /…`,
  ])
}

/** How the app is started; compiled first if that runs what a build writes. */
function startCommand({ scripts = {}, main }: AppFacts['manifest'], packageFolder: string): string {
  const at = packageFolder === '' ? '' : ` -w ${packageFolder}`
  const { start, build, dev } = scripts
  if (start === undefined) return dev === undefined ? `node ${main ?? 'app.js'}` : `npm run dev${at}`
  const isBuilt = build !== undefined && !('prestart' in scripts) && /\b(?:dist|build|lib|out)\b/.test(start)
  return `${isBuilt ? `npm run build${at} && ` : ''}npm start${at}`
}
