import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join, posix } from 'node:path'
import { type Change, linesOf } from './change.js'
import {
  type AppFacts,
  child,
  children,
  gatesIn,
  isPassportSession,
  type Place,
  positionOf,
  type SourceFile,
  type SyntaxNode,
  textOf,
} from './read-app.js'

/** What has to change, or why it cannot work and the page to read. */
export type Plan =
  | { readonly outcome: 'refused'; readonly why: string; readonly page: string }
  | { readonly outcome: 'mounted'; readonly at: string; readonly changes: readonly Change[] }
  | { readonly outcome: 'planned'; readonly at: string; readonly changes: readonly Change[] }

/** Stands in a change for a secret that is made when the change is written. */
export const NEW_SECRET = '<a random secret, made with --write>'

const FIT = 'docs/does-it-fit.md'
const MOUNTING = 'docs/mounting.md'
/** Packages that sign users in with tokens. */
export const TOKENS = [
  'passport-jwt',
  'passport-http-bearer',
  'express-jwt',
  'express-oauth2-jwt-bearer',
  'jsonwebtoken',
  'jose',
  '@nestjs/jwt',
]

/** Decides what to add to an app. */
export async function planChanges(app: AppFacts): Promise<Plan> {
  const unfit = unfitness(app)
  if (unfit) return { outcome: 'refused', ...unfit }
  if (app.packages.has('countersign')) return mounted(app)
  const [mount, other] = app.passportMounts
  if (!mount) return refused('passport.session() is mounted nowhere in the sources.', MOUNTING)
  if (other) {
    const places = app.passportMounts.map(positionOf).join(', ')
    return refused(
      `passport.session() is mounted in several places (${places}), and init changes one app only: mount the parts yourself.`,
      MOUNTING,
    )
  }
  const taken = app.routes.find(({ path }) => /^\/mfa(?:-inbox)?(?:\/|$)/.test(path))
  if (taken) {
    return refused(
      `The app has a route of its own at ${taken.path} (${positionOf(taken.place)}): mount the parts at another path.`,
      'docs/options.md#urls',
    )
  }
  const target = targetOf(mount)
  if (typeof target === 'string')
    return refused(
      `${target} (${positionOf(mount)}): give it a call of its own, app.use(passport.session()), and run init again.`,
      MOUNTING,
    )
  const module = moduleFor(app, mount.file)
  return {
    outcome: 'planned',
    at: positionOf(mount),
    changes: [
      ...mountChanges(app, mount, target, module),
      {
        path: module.path,
        before: undefined,
        insertions: [{ line: 0, lines: moduleLines(app, mount.file, module) }],
      },
      ...(await environmentChanges(app.folder)),
    ],
  }
}

function refused(why: string, page: string): Plan {
  return { outcome: 'refused', why, page }
}

/** Why the app cannot have the gate, in one sentence. */
function unfitness({
  manifest,
  packages,
  passportMounts,
  sessionWrites,
  folder,
}: AppFacts): { readonly why: string; readonly page: string } | undefined {
  const installed = { ...manifest.dependencies, ...manifest.devDependencies }
  const has = (name: string) => packages.has(name) || name in installed
  const token = TOKENS.find((name) => packages.has(name))
  if (!has('express') && !has('@nestjs/platform-express') && !has('@nestjs/core')) {
    return {
      why: `There is no Express app in ${folder}: package.json and the sources do not name express.`,
      page: FIT,
    }
  }
  if (packages.has('cookie-session')) {
    return {
      why: 'The app keeps its session in the cookie (cookie-session), where an old cookie would bring back an earlier state: use express-session with a store.',
      page: FIT,
    }
  }
  if (!packages.has('express-session')) {
    return token === undefined
      ? { why: 'The app has no session: Countersign needs express-session and Passport.', page: FIT }
      : {
          why: `The app signs users in with tokens only (${token}), and Countersign gates sessions: issue the token behind a session that has shown the second factor.`,
          page: FIT,
        }
  }
  if (passportMounts.length > 0) return undefined
  const [write] = sessionWrites
  if (write) {
    return {
      why: `The app keeps its user in the session itself (${positionOf(write)}), where Countersign sees no user: add six lines, as in recipes/without-passport in the repository.`,
      page: FIT,
    }
  }
  if (token !== undefined) {
    return {
      why: `The app signs users in with tokens (${token}) and does not mount passport.session(), and Countersign gates sessions.`,
      page: FIT,
    }
  }
  return packages.has('passport')
    ? {
        why: 'The app uses Passport without passport.session(), so no session has a user: mount it after express-session.',
        page: MOUNTING,
      }
    : {
        why: 'The app has express-session without Passport, whose session Countersign gates: add six lines, as in recipes/without-passport in the repository.',
        page: FIT,
      }
}

/** What is missing around a gate that the app has already. */
async function mounted(app: AppFacts): Promise<Plan> {
  const gates = app.files.filter(({ imports }) => imports.size > 0).flatMap(gatesIn)
  if (gates.length === 0) {
    return refused(
      'The app imports countersign and mounts no gate: mount mfa.session after passport.session(), and mfa.router at /mfa.',
      MOUNTING,
    )
  }
  const readsEnvironment = app.files.some(
    ({ imports, text }) => [...imports.values()].includes('countersign') && text.includes('loadEnvFile'),
  )
  return {
    outcome: 'mounted',
    at: gates.map(positionOf).join(', '),
    changes: readsEnvironment ? await environmentChanges(app.folder) : [],
  }
}

/** Where to insert the mount. */
interface Target {
  /** What the app is called there: `app`. */
  readonly app: string
  readonly statement: SyntaxNode
  /** How `passport.session()` is written there. */
  readonly passportSession: string
}

/** Where to insert the mount, or why it cannot be inserted. */
function targetOf({ file, node, around }: Place): Target | string {
  const handlers = children(node, 'arguments')
  const last = handlers.at(-1)
  const written = last && file.text.slice(last.start, last.end)
  if (textOf(handlers[0]) !== undefined) return 'passport.session() is mounted at a path'
  if (!last || written === undefined || !isPassportSession(last, file)) {
    return 'passport.session() shares its call with handlers after it'
  }
  const [block, statement] = around.slice(-2)
  const object = child(child(node, 'callee'), 'object')
  const isStatement = statement?.type === 'ExpressionStatement' && child(statement, 'expression') === node
  if (!isStatement || object?.type === 'CallExpression')
    return 'passport.session() is mounted in a chain of calls'
  if (block?.type !== 'Program' && block?.type !== 'BlockStatement')
    return 'passport.session() is mounted under a condition'
  return { app: file.text.slice(object?.start, object?.end), statement, passportSession: written }
}

/** The module that holds the second factor. */
interface MfaModule {
  readonly path: string
  /** How the file of the mount imports it. */
  readonly specifier: string
}

function moduleFor({ folder, manifest }: AppFacts, { path, imports }: SourceFile): MfaModule {
  const extension = { '.jsx': '.js', '.tsx': '.ts', '': '.js' }[extname(path)] ?? extname(path)
  const name =
    ['mfa', 'countersign'].find((one) => !existsSync(join(folder, dirname(path), one + extension))) ??
    'second-factor'
  const siblings = [...imports.values()].filter((from) => from.startsWith('.'))
  const written = siblings.map((from) => extname(from)).find((one) => /^\.[cm]?[jt]s$/.test(one))
  const isStrict = manifest.type === 'module' || extension.startsWith('.m')
  const compiled = extension.replace('ts', 'js')
  const ending = written?.endsWith('ts')
    ? extension
    : written !== undefined || (siblings.length === 0 && isStrict) || /^\.[cm]/.test(extension)
      ? compiled
      : ''
  return { path: posix.join(dirname(path), name + extension), specifier: `./${name}${ending}` }
}

/** How a file is written. */
interface Style {
  readonly imports: boolean
  readonly typescript: boolean
  readonly format: (lines: readonly string[]) => string[]
}

function styleOf({ path, text, program }: SourceFile): Style {
  const isModule = children(program, 'body').some(
    ({ type }) => type === 'ImportDeclaration' || type === 'TSImportEqualsDeclaration',
  )
  const semicolons = (text.match(/;\r?$/gm) ?? []).length >= (text.match(/[)'"\w]\r?$/gm) ?? []).length / 4
  const double = (text.match(/"/g) ?? []).length > (text.match(/'/g) ?? []).length
  const tabs = /^\t/m.test(text)
  const format = (line: string) => {
    const ended = semicolons ? line : line.replace(/;(?=$| \/\/)/, '')
    const quoted = double ? ended.replaceAll("'", '"') : ended
    return tabs ? quoted.replace(/^(?: {2})+/, (spaces) => '\t'.repeat(spaces.length / 2)) : quoted
  }
  return { imports: isModule, typescript: /\.[cm]?tsx?$/.test(path), format: (lines) => lines.map(format) }
}

/** The lines in the file of the mount: one import, the gate and the routes. */
function mountChanges(
  app: AppFacts,
  { file, node }: Place,
  { app: host, statement, passportSession }: Target,
  { specifier }: MfaModule,
): Change[] {
  const { imports, format } = styleOf(file)
  const used = new Set(file.text.match(/[\w$]+/g))
  const nameOf = (name: string) =>
    used.has(name) ? `countersign${name[0]?.toUpperCase()}${name.slice(1)}` : name
  const [mfa, inbox] = [nameOf('mfa'), nameOf('inbox')]
  const bound = (exported: string, local: string, as: string) =>
    exported === local ? exported : `${exported}${as}${local}`
  const names = (as: string) => `{ ${bound('inbox', inbox, as)}, ${bound('mfa', mfa, as)} }`
  const [importLine] = format([
    imports
      ? `import ${names(' as ')} from '${specifier}';`
      : `const ${names(': ')} = require('${specifier}');`,
  ])
  const gate = `${host}.use(${mfa}.session); // Countersign: withholds req.user until the user has shown the second factor`
  const inboxLine = `${host}.use('/mfa-inbox', ${inbox}); // Countersign: the messages with the codes, in development`
  const router = `${host}.use('/mfa', ${mfa}.router); // Countersign: the pages and JSON routes`
  // The pages have no token of the app, and refuse requests of other sites themselves.
  const early = app.csrfMounts.find((mount) => mount.file === file && mount.node.start < node.start)
  const earlyStatement = early?.around.findLast(({ type }) => type === 'ExpressionStatement')
  const routerBeforeCsrf = `${host}.use('/mfa', ${passportSession}, ${mfa}.session, ${mfa}.router); // Countersign: its pages have no CSRF token of the app, and refuse requests of other sites themselves`
  const after = (one: SyntaxNode, lines: readonly string[]) => ({
    line: lineAt(file.text, one.end),
    lines: indented(file.text, one, format(lines)),
  })
  const before = (one: SyntaxNode, lines: readonly string[]) => ({
    line: lineAt(file.text, one.start) - 1,
    lines: indented(file.text, one, format(lines)),
  })
  const mounts = earlyStatement
    ? [before(earlyStatement, [inboxLine, routerBeforeCsrf]), after(statement, [gate])]
    : [after(statement, [inboxLine, gate, router])]
  return [
    {
      path: file.path,
      before: file.text,
      insertions: [
        { line: lastImportLine(file, mounts[0]?.line ?? 0), lines: [importLine ?? ''] },
        ...mounts,
      ],
    },
  ]
}

/** The number of the line at an offset, from 1: also how many lines end there or before it. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function indented(text: string, { start }: SyntaxNode, lines: readonly string[]): string[] {
  const [indent = ''] = /[ \t]*$/.exec(text.slice(0, start)) ?? []
  return lines.map((line) => indent + line)
}

/** After the last import at the top of a file that comes before a line. */
function lastImportLine({ program, text }: SourceFile, limit: number): number {
  const isImport = (node: SyntaxNode) =>
    node.type === 'ImportDeclaration' ||
    node.type === 'TSImportEqualsDeclaration' ||
    (node.type === 'VariableDeclaration' &&
      /\brequire\(/.test(text.slice(node.start, node.end).split('\n')[0] ?? '') &&
      text.slice(node.start, node.end).split('\n').length < 12)
  const lines = children(program, 'body')
    .filter(isImport)
    .map(({ end }) => lineAt(text, end))
    .filter((line) => line <= limit)
  const header = [
    ...children(program, 'directives'),
    ...(child(program, 'interpreter') ? [child(program, 'interpreter') as SyntaxNode] : []),
  ]
  return Math.max(0, ...header.map(({ end }) => lineAt(text, end)), ...lines)
}

/** The text of the module: the service, the options, and the inbox of development. */
function moduleLines(app: AppFacts, file: SourceFile, { path }: MfaModule): string[] {
  const { imports, typescript, format } = styleOf(file)
  const id = app.idMember ?? 'id'
  const importing = (names: string, from: string) =>
    imports ? `import { ${names} } from '${from}';` : `const { ${names} } = require('${from}');`
  const installed = { ...app.manifest.dependencies, ...app.manifest.devDependencies }
  const isTyped = Object.keys(installed).some((name) => name.startsWith('@types/passport'))
  const login = loginOption(app)
  return format([
    '// The second factor: Countersign, and its service in the same process.',
    importing('existsSync', 'node:fs'),
    importing('startService', '@countersign/service'),
    importing('createMfa', 'countersign'),
    ...(typescript ? ["import type { RequestHandler } from 'express';"] : []),
    '',
    '// The variables of .env, unless the environment has them already.',
    "if (!process.env.SERVICE_SECRET && existsSync('.env')) process.loadEnvFile('.env');",
    '',
    `const appName = '${appNameOf(app)}';`,
    '',
    '// Keeps its data in the folder .data. Messages stay in an inbox until SERVICE_DELIVERY says where to send them.',
    'const service = startService({',
    '  applicationName: appName,',
    "  dataDir: '.data',",
    '  secret: process.env.SERVICE_SECRET,',
    "  delivery: process.env.SERVICE_DELIVERY ?? 'inbox',",
    '});',
    '',
    ...(typescript
      ? [
          '/** What the second factor reads of your users. */',
          `type User = ${isTyped ? 'Express.User & ' : ''}{ ${id}: string | number; email?: string | null };`,
          '',
        ]
      : []),
    `const mfa = createMfa${typescript ? '<User>' : ''}({`,
    '  service: service.mfa,',
    '  appName,',
    "  // The second factors of a user, from your own record. Add { method: 'sms', phone: user.phone } for users with a phone.",
    "  factors: (user) => [{ method: 'email', email: user.email ?? developmentAddress(user) }],",
    ...(id === 'id' ? [] : [`  userId: (user) => String(user.${id}),`]),
    ...(login === '' ? [] : [`  login: { ${login} },`]),
    '});',
    '',
    '/** Stands for the address of a user without one. In production, such a user cannot sign in. */',
    `function developmentAddress(user${typescript ? ': User' : ''})${typescript ? ': string' : ''} {`,
    "  if (process.env.NODE_ENV === 'production') {",
    `    throw new Error('The user has no email address for the second factor: see factors in ${basename(path)}.');`,
    '  }',
    `  return \`user-\${user.${id}}@example.com\`;`,
    '}',
    '',
    '/** Shows the messages with the codes. Without an inbox, as in production, the request goes on to your routes. */',
    typescript ? 'const inbox: RequestHandler = (_req, res, next) => {' : 'function inbox(req, res, next) {',
    '  if (!service.inbox) return next();',
    '  service.inbox.messages().then((messages) => res.json(messages), next);',
    typescript ? '};' : '}',
    '',
    imports ? 'export { inbox, mfa };' : 'module.exports = { inbox, mfa };',
  ])
}

const LOGIN_DEFAULTS = { signInPath: '/login', signOutPath: '/logout', homePath: '/' }

/** Where the app signs in and out, and where it leads afterwards. */
export function loginPaths({ routes, signInPath, homePath }: AppFacts): typeof LOGIN_DEFAULTS {
  const signIns = routes.filter(({ does }) => does === 'sign in')
  const pages = routes.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const around = signIns.flatMap(({ path }) => [path, posix.dirname(path)])
  const page = around.find((path) => path !== '/' && pages.includes(path))
  return {
    signInPath: signInPath ?? page ?? signIns[0]?.path ?? LOGIN_DEFAULTS.signInPath,
    signOutPath: routes.find(({ does }) => does === 'sign out')?.path ?? LOGIN_DEFAULTS.signOutPath,
    homePath: homePath ?? LOGIN_DEFAULTS.homePath,
  }
}

/** The members of the option `login` that differ from their defaults. */
function loginOption(app: AppFacts): string {
  return Object.entries(loginPaths(app))
    .filter(([name, path]) => path !== Reflect.get(LOGIN_DEFAULTS, name) && /^\/[\w./-]*$/.test(path))
    .map(([name, path]) => `${name}: '${path}'`)
    .join(', ')
}

function appNameOf({ manifest, folder }: AppFacts): string {
  const name = (manifest.name ?? basename(folder))
    .replace(/^@[^/]+\//, '')
    .replace(/[^\w]+|_+/g, ' ')
    .trim()
    .slice(0, 60)
  return name === '' ? 'My app' : `${name[0]?.toUpperCase()}${name.slice(1)}`
}

/** The secret of the service in `.env`, and what version control must not have. */
async function environmentChanges(folder: string): Promise<Change[]> {
  const env = await textOfFile(join(folder, '.env'))
  const ignored = await textOfFile(join(folder, '.gitignore'))
  const has = (text: string | undefined, pattern: RegExp) => text !== undefined && pattern.test(text)
  const variables = [
    ...(has(env, /^\s*(?:export\s+)?SERVICE_SECRET\s*=/m) ? [] : [`SERVICE_SECRET=${NEW_SECRET}`]),
    ...(has(env, /^\s*(?:export\s+)?SERVICE_DELIVERY\s*=/m) ? [] : ['SERVICE_DELIVERY=inbox']),
  ]
  const rules = [
    ...(has(ignored, /^\/?(?:\*?\.env|\.env\*)\s*$/m) ? [] : ['.env']),
    ...(has(ignored, /^\/?\.data\/?\s*$/m) ? [] : ['.data/']),
  ]
  const comment =
    '# Countersign: the secret of its service, and where messages go (inbox is for development only)'
  return [
    ...appended('.env', env, variables.length > 0 ? [comment, ...variables] : []),
    ...appended('.gitignore', ignored, rules),
  ]
}

function appended(path: string, before: string | undefined, lines: readonly string[]): Change[] {
  if (lines.length === 0) return []
  return [{ path, before, insertions: [{ line: linesOf(before ?? '').length, lines }] }]
}

async function textOfFile(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
