import { basename, extname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EXIT_CODES } from './check.js'
import type { CommandIo } from './command-io.js'
import { type AppFacts, describePosition, findApp, getLine, type Place } from './find-app.js'
import { print } from './print.js'

const HELP = `Usage: countersign init [folder]

Prints what to add to the Express app in the folder: the import, and what mounts Countersign directly after
passport.session(). It also prints the command that starts the app and proves that its login asks for the second factor.
It writes nothing.

Exit code: 0 with lines to add, or if the app has them, 2 if the app cannot have the gate.`

const FIT = 'docs/does-it-fit.md'
const TOKENS_PAGE = 'docs/tokens.md'
const MOUNTING = 'docs/mounting.md'
const TESTING = 'docs/testing.md#mfa-bypasses'

/** Packages that sign users in with tokens. */
const TOKENS =
  /^(?:passport-jwt|passport-http-bearer|express-jwt|express-oauth2-jwt-bearer|jsonwebtoken|jose|@nestjs\/jwt)$/
/** Packages that sign users in at a provider. */
const PROVIDERS =
  /^(?:passport-(?:google|github|gitlab|facebook|apple|microsoft|azure|twitter|linkedin|discord|auth0|okta|oauth|openidconnect|saml)\b.*|@node-saml\/passport-saml|openid-client)$/
/** Packages with a session, or a user in it, of their own. */
const SESSIONS =
  /^(?:@adminjs\/express|express-openid-connect|@auth0\/nextjs-auth0|@clerk\/.+|supertokens-node|better-auth|next-auth|@auth\/express|lucia|iron-session|client-sessions|@fastify\/.*session)$/
const GRAPHQL =
  /^(?:@apollo\/server|apollo-server.*|express-graphql|graphql-(?:http|yoga|helix)|@nestjs\/graphql|type-graphql|postgraphile)$/
/** Packages in ranges that have no version with which Countersign works. */
const TOO_OLD =
  /^(?:express (?:\^?[0-3]\.|[~=v]?4\.(?:\d|1[0-8])\b)|express-session (?:\^?0\.|[~=v]?1\.(?:\d|1[0-6])\b)|passport [\^~=v]?0\.[0-5]\b)/
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

/** Why an app cannot have the gate. */
const REASONS = {
  cookie:
    'The app keeps its session in the cookie (cookie-session), where an old cookie would bring back an earlier state: use express-session with a store.',
  unmounted:
    'passport.session() is called nowhere in the sources, so no session has a user: mount it after express-session.',
  withoutPassport:
    'The app has express-session without Passport, whose session Countersign gates: add six lines, which this recipe has.',
  none: 'The app has no session: Countersign needs express-session and Passport.',
  express: (folder: string) => `There is no Express app in ${folder}: package.json does not name express.`,
  session: (name: string) =>
    `The app has the session of ${name}, and Countersign gates that of express-session with Passport: call req.logIn when ${name} has signed the user in.`,
  token: (name: string) =>
    `The app signs users in with tokens only (${name}), and this command adds lines to apps with sessions: give createMfa the option tokens.`,
}

/** Why the app cannot have the gate, in one sentence, and the page to read. */
function unfitness({ packages, mounts, folder }: AppFacts): { why: string; page: string } | undefined {
  const hasSession = packages.has('express-session')
  if (!hasSession && packages.has('cookie-session')) return { why: REASONS.cookie, page: FIT }
  if (mounts.length > 0) return undefined
  if (![...packages.keys()].some((name) => name === 'express' || name.startsWith('@nestjs/')))
    return { why: REASONS.express(folder), page: FIT }
  if (hasSession && packages.has('passport')) return { why: REASONS.unmounted, page: MOUNTING }
  const [other] = listPackages(packages, SESSIONS)
  if (other !== undefined) return { why: REASONS.session(other), page: FIT }
  if (hasSession) return { why: REASONS.withoutPassport, page: 'recipes/without-passport/README.md' }
  const [token] = listPackages(packages, TOKENS)
  return token === undefined
    ? { why: REASONS.none, page: FIT }
    : { why: REASONS.token(token), page: TOKENS_PAGE }
}

function listPackages(packages: AppFacts['packages'], pattern: RegExp): string[] {
  return [...packages.keys()].filter((name) => pattern.test(name))
}

function findings({ packages, mounts, gates, resaves }: AppFacts): string[] {
  const express = packages.get('express')
  const joinPackages = (pattern: RegExp) => listPackages(packages, pattern).join(' and ')
  const ranges = [...packages].map(([name, range]) => `${name} ${range}`)
  const old = ranges.filter((range) => TOO_OLD.test(range)).join(' and ')
  const [tokens, graphql, csrf] = [joinPackages(TOKENS), joinPackages(GRAPHQL), joinPackages(CSRF)]
  const lines = [
    `Express${express === undefined ? '' : ` ${express}`}. Passport's session: ${mounts.map(describePosition).join(', ')}.`,
    old &&
      `npm does not install Countersign beside ${old} (ERESOLVE). Run npm install express@4 express-session@1 passport@0.7, and then npm install with the packages of Countersign.`,
    resaves.length > 0 &&
      `Set resave to false in ${resaves.map(describePosition).join(', ')}: with true, a request that ends late brings back a session that a logout has ended.`,
    tokens &&
      `Tokens (${tokens}) are accepted without a second factor, unless createMfa has the option tokens: see ${pageIn(TOKENS_PAGE)}.`,
    graphql &&
      `While a login is pending, its requests to GraphQL (${graphql}) are refused, public queries too. The login belongs outside of that path, and public queries to a path of their own: see ${pageIn(`${MOUNTING}#graphql`)}.`,
    csrf &&
      gates.length === 0 &&
      `Call ${csrf} after the new lines: the pages of Countersign have no token of it, and refuse requests of other sites themselves.`,
  ]
  return lines.flatMap((line) => line || [])
}

/** The lines that mount the second factor; nothing for an app that has them. */
function additions(app: AppFacts): string[] {
  const { gates, mounts, engines } = app
  if (gates.length > 0) {
    return [
      '',
      `Nothing is left to add: Countersign is mounted at ${gates.map(describePosition).join(', ')}.`,
    ]
  }
  const describeInsertion = ({ path, line }: Place, lines: readonly string[]) =>
    block(`Add to ${path}, directly after passport.session() in line ${line}:`, lines)
  return mounts.flatMap((mount) => {
    const handshakes = engines.filter(({ path }) => path === mount.path)
    const name = handshakes.length > 0 ? 'createMfa' : 'mfaRouter'
    const [first, ...options] = optionLines(app, mount)
    const lines =
      name === 'mfaRouter'
        ? [`${findAppName(mount)}.use(mfaRouter${first}`, ...options, '}))']
        : [`const mfa = createMfa${first}`, ...options, '})', `${findAppName(mount)}.use(mfa.router)`]
    return [
      ...block(`Add to ${mount.path}, at the top:`, [importLine(app, mount, name)]),
      ...describeInsertion(mount, lines),
      // The handshakes of socket.io do not run through the app.
      ...handshakes.flatMap((place) =>
        describeInsertion(place, [
          getLine(place)
            .trim()
            .replace(/passport\w*\s*\.\s*\w+\([^()]*\)/i, 'mfa.session'),
        ]),
      ),
    ]
  })
}

function block(heading: string, lines: readonly string[]): string[] {
  return ['', heading, '', ...lines.map((line) => `    ${line}`)]
}

/** The name of the app that mounts `passport.session()` in this line: `app`. */
function findAppName({ text, line }: Place): string {
  const before = text.split('\n').slice(0, line).join('\n')
  return [...before.matchAll(/([\w$]+)\s*\.\s*use\s*\(/g)].at(-1)?.[1] ?? 'app'
}

function importLine({ manifest }: AppFacts, { path, text }: Place, name: string): string {
  const extension = extname(path)
  const isModule = extension.startsWith('.m') || (manifest.type === 'module' && !extension.startsWith('.c'))
  return isModule || /^\s*import\s/m.test(text)
    ? `import { ${name} } from 'countersign'`
    : `const { ${name} } = require('countersign')`
}

/** The options, from what opens their object. Those that the app seems not to need are comments. */
function optionLines({ manifest, folder, login, userKey, hasEmails }: AppFacts, { path }: Place): string[] {
  const appName = (manifest.name ?? basename(folder)).replace(/^@[^/]+\//, '')
  const { signInPath = '/login', signOutPath = '/logout', homePath = '/' } = login ?? {}
  const isUsual = `${signInPath} ${signOutPath} ${homePath}` === '/login /logout /'
  return [
    `${/\.[cm]?tsx?$/.test(path) ? '<Express.User & { email?: string }>' : ''}({`,
    `  appName: '${appName}', // as your users know it`,
    "  policy: () => 'require', // users without a factor set up an authenticator app at their next sign-in",
    `  ${hasEmails ? '' : '// '}factors: ({ email }) => (email ? [{ method: 'email', email }] : []), // contacts that the user has confirmed`,
    `  ${userKey === 'id' ? '// userId: (user) => String(user._id), // unless it is user.id' : `userId: (user) => String(user.${userKey}),`}`,
    `  ${isUsual ? '// ' : ''}login: { signInPath: '${signInPath}', signOutPath: '${signOutPath}', homePath: '${homePath}' },`,
  ]
}

/** How to see that the login asks for the second factor. */
function proof({ packages, manifest, packageFolder, takesJson, login }: AppFacts): string[] {
  const providers = listPackages(packages, PROVIDERS)
  if (providers.length > 0 && !packages.has('passport-local')) {
    return [
      '',
      `Users sign in at a provider (${providers.join(', ')}), where no command can sign in. Write a test with expectNoMfaBypass, whose login requests your callback route: see ${pageIn(TESTING)}.`,
    ]
  }
  const {
    path = '/login',
    fields = ['username', 'password'],
    signInPath = path,
    homePath = '/',
  } = login ?? {}
  const page = takesJson || signInPath === path ? '' : ` --sign-in-page ${signInPath}`
  return block('Then start the app, and prove that its login asks for the second factor:', [
    `npx --no countersign check --start '${startCommand(manifest, packageFolder)}' --sign-in 'POST ${path} ${fields[0]}=…&${fields[1]}=$APP_PASSWORD'${takesJson ? ' --body json' : page} --protected ${homePath === '/' ? '/…' : homePath}`,
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
