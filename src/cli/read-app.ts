import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, posix } from 'node:path'
import { parse } from '@babel/parser'

/** A node of the syntax tree. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** A source file of the app. */
export interface SourceFile {
  /** From the folder of the app, with slashes. */
  readonly path: string
  readonly text: string
  readonly program: SyntaxNode
  /** The module that each imported name comes from. */
  readonly imports: ReadonlyMap<string, string>
}

/** A place in a source file. */
export interface Place {
  readonly file: SourceFile
  readonly node: SyntaxNode
  /** The nodes around it, from the program down. */
  readonly around: readonly SyntaxNode[]
}

/** A route of the app, as far as the sources show it. */
export interface SourceRoute {
  /** In capitals. */
  readonly method: string
  /** With the path of the router that it belongs to. */
  readonly path: string
  readonly place: Place
  /** Whether it signs users in, or out. */
  readonly does: 'sign in' | 'sign out' | undefined
}

/** What init knows of an app. */
export interface AppFacts {
  readonly folder: string
  readonly manifest: Manifest
  readonly files: readonly SourceFile[]
  /** Files that the parser does not understand. */
  readonly unread: readonly string[]
  /** The packages that the sources import. */
  readonly packages: ReadonlySet<string>
  /** The calls of `use` that mount `passport.session()`. */
  readonly passportMounts: readonly Place[]
  /** The calls of `use` that mount express-session. */
  readonly sessionMounts: readonly Place[]
  /** The calls of `use` that mount a check of CSRF tokens. */
  readonly csrfMounts: readonly Place[]
  /** Where the session itself is written, as in `session.userId = 1`. */
  readonly sessionWrites: readonly Place[]
  readonly routes: readonly SourceRoute[]
  readonly signInPath: string | undefined
  readonly homePath: string | undefined
  /** The names of the fields of the login form. */
  readonly loginFields: { readonly username: string; readonly password: string }
  /** The member that identifies a user in Passport's session, if it is not `id`. */
  readonly idMember: string | undefined
}

/** What init reads of package.json. */
export interface Manifest {
  readonly name?: string
  readonly type?: string
  readonly main?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const SKIPPED =
  /^(?:node_modules|bower_components|dist|build|out|coverage|public|static|tests?|__tests__|e2e|spec|cypress|\..*)$/
const SOURCES = /^(?!.*\.(?:test|spec|min|config|d)\.)[^.].*\.[cm]?[jt]sx?$/
const MOST_FILES = 3_000
const MOST_BYTES = 500_000

/** Reads the sources of the app in a folder. */
export async function readApp(folder: string): Promise<AppFacts> {
  const manifest = await readManifest(folder)
  const files: SourceFile[] = []
  const unread: string[] = []
  for (const path of await sourcePaths(folder)) {
    const text = await readFile(join(folder, path), 'utf8')
    const program = parsed(path, text)
    if (program) files.push({ path, text, program, imports: importsOf(program) })
    else unread.push(path)
  }
  const places = files.flatMap(placesIn)
  const literal = (name: string) => literalsOf(places, name)[0]
  return {
    folder,
    manifest,
    files,
    unread,
    packages: new Set(files.flatMap(({ imports }) => [...imports.values()].map(packageOf))),
    passportMounts: places.filter(({ file, node }) =>
      argumentsOf(node, 'use').some((one) => isPassportSession(one, file)),
    ),
    sessionMounts: places.filter(({ file, node }) =>
      argumentsOf(node, 'use').some((one) => moduleOf(one, file) === 'express-session'),
    ),
    csrfMounts: places.filter(({ file, node }) => argumentsOf(node, 'use').some((one) => isCsrf(one, file))),
    sessionWrites: places.filter(({ node }) => isSessionWrite(node)),
    routes: routesIn(places),
    signInPath: signInPathIn(places),
    homePath: [literal('successReturnToOrRedirect'), literal('successRedirect')].find(isPath),
    loginFields: {
      username: literal('usernameField') ?? 'username',
      password: literal('passwordField') ?? 'password',
    },
    idMember: idMemberIn(places),
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined)
  if (text === undefined)
    throw new Error(`There is no package.json in ${folder}. Run the command in the folder of your app.`)
  try {
    return JSON.parse(text) as Manifest
  } catch {
    throw new Error(`${join(folder, 'package.json')} is not JSON.`)
  }
}

/** The paths of the app's own sources, from its folder; without tests and without what a build wrote. */
async function sourcePaths(folder: string): Promise<string[]> {
  const paths: string[] = []
  const read = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && !SKIPPED.test(entry.name)) await read(path)
      // Express's generator writes `bin/www`.
      const isSource = SOURCES.test(entry.name) || (basename(below) === 'bin' && extname(entry.name) === '')
      if (!entry.isFile() || !isSource || paths.length >= MOST_FILES) continue
      if ((await stat(join(folder, path))).size <= MOST_BYTES) paths.push(path)
    }
  }
  await read('')
  return paths
}

function parsed(path: string, text: string): SyntaxNode | undefined {
  const isTypeScript = /\.[cm]?tsx?$/.test(path)
  try {
    const { program } = parse(text, {
      sourceType: 'unambiguous',
      plugins: [
        'decorators-legacy',
        ...(isTypeScript ? (['typescript'] as const) : []),
        // `<Type>value` in TypeScript is not JSX.
        ...(/\.[cm]?ts$/.test(path) ? [] : (['jsx'] as const)),
      ],
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    })
    return program as unknown as SyntaxNode
  } catch {
    return undefined
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((member) => (Array.isArray(member) ? member : [member]).filter(isNode))
}

/** A member of a node that is a node itself. */
export function child(node: SyntaxNode | undefined, member: string): SyntaxNode | undefined {
  const value = node?.[member]
  return isNode(value) ? value : undefined
}

/** A member of a node that is a list of nodes. */
export function children(node: SyntaxNode | undefined, member: string): SyntaxNode[] {
  const value = node?.[member]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** All nodes below a node, and itself. */
function nodesIn(node: SyntaxNode): SyntaxNode[] {
  return [node, ...childrenOf(node).flatMap(nodesIn)]
}

const OF_INTEREST = new Set([
  'CallExpression',
  'NewExpression',
  'AssignmentExpression',
  'ClassMethod',
  'ObjectExpression',
])

function placesIn(file: SourceFile): Place[] {
  const places: Place[] = []
  const visit = (node: SyntaxNode, around: readonly SyntaxNode[]) => {
    if (OF_INTEREST.has(node.type)) places.push({ file, node, around })
    const below = [...around, node]
    for (const one of childrenOf(node)) visit(one, below)
  }
  visit(file.program, [])
  return places
}

/** `app.js:12`. */
export function positionOf({ file, node }: Place): string {
  return `${file.path}:${file.text.slice(0, node.start).split('\n').length}`
}

function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'Identifier') return String(node.name)
  return node?.type === 'StringLiteral' ? String(node.value) : undefined
}

/** The text of a literal. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  return node?.type === 'StringLiteral' ? String(node.value) : undefined
}

/** The name of the method that a call calls: `use` in `app.use(…)`. */
function methodOf(call: SyntaxNode): string | undefined {
  const callee = child(call, 'callee')
  if (call.type !== 'CallExpression' || callee?.type !== 'MemberExpression' || callee.computed === true)
    return undefined
  return nameOf(child(callee, 'property'))
}

/** The arguments of a call of this method; none for another call. */
function argumentsOf(call: SyntaxNode, method: string): SyntaxNode[] {
  return methodOf(call) === method ? children(call, 'arguments') : []
}

/** Where a file mounts `mfa.session`, whatever it calls `mfa`: in a call of `use`, without calling it. */
export function gatesIn(file: SourceFile): Place[] {
  const isGate = (node: SyntaxNode) =>
    node.type === 'MemberExpression' && /^session$/.test(nameOf(child(node, 'property')) ?? '')
  return placesIn(file).filter(({ node }) => argumentsOf(node, 'use').some(isGate))
}

/** The module in `require('module')`. */
function requiredBy(node: SyntaxNode | undefined): string | undefined {
  // `require('module').default` and `require('module')(options)`
  if (node?.type === 'MemberExpression') return requiredBy(child(node, 'object'))
  if (node?.type !== 'CallExpression') return undefined
  const callee = child(node, 'callee')
  if (nameOf(callee) === 'require') return textOf(children(node, 'arguments')[0])
  return requiredBy(callee)
}

function importsOf(program: SyntaxNode): Map<string, string> {
  const imports = new Map<string, string>()
  for (const node of nodesIn(program)) {
    if (node.type === 'ImportDeclaration') {
      const from = textOf(child(node, 'source')) ?? ''
      // An import without a name is recorded under its own path.
      imports.set(`'${from}'`, from)
      for (const one of children(node, 'specifiers')) imports.set(nameOf(child(one, 'local')) ?? '', from)
    } else if (node.type === 'TSImportEqualsDeclaration') {
      const from = textOf(child(child(node, 'moduleReference'), 'expression'))
      if (from !== undefined) imports.set(nameOf(child(node, 'id')) ?? '', from)
    } else if (node.type === 'CallExpression' && nameOf(child(node, 'callee')) === 'require') {
      const from = requiredBy(node)
      if (from !== undefined) imports.set(`'${from}'`, from)
    } else if (node.type === 'VariableDeclarator') {
      const from = requiredBy(child(node, 'init'))
      const id = child(node, 'id')
      if (from === undefined || !id) continue
      const names =
        id.type === 'ObjectPattern' ? children(id, 'properties').map((one) => child(one, 'value')) : [id]
      for (const one of names) imports.set(nameOf(one) ?? '', from)
    }
  }
  return imports
}

function packageOf(from: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from
}

const SESSION = /^session$/

/** Whether a call of `authenticate` restores the user of a session, and signs nobody in. */
function authenticatesBySession(call: SyntaxNode): boolean {
  return SESSION.test(textOf(children(call, 'arguments')[0]) ?? '')
}

/** `passport.session()`, and `passport.authenticate` with the strategy of that name, which is the same. */
export function isPassportSession(node: SyntaxNode, file: SourceFile): boolean {
  const object = nameOf(child(child(node, 'callee'), 'object'))
  if (object === undefined || !/passport/i.test(`${object} ${file.imports.get(object)}`)) return false
  const method = methodOf(node)
  return SESSION.test(method ?? '') || (method === 'authenticate' && authenticatesBySession(node))
}

const CSRF = /^(?:@dr\.pogodin\/csurf|csurf|csrf-csrf|csrf-sync|lusca|tiny-csrf)$/

function isCsrf(node: SyntaxNode, file: SourceFile): boolean {
  return CSRF.test(moduleOf(node, file) ?? '')
}

/** The package that the first name in a handler comes from. */
function moduleOf(node: SyntaxNode, file: SourceFile): string | undefined {
  const name = nodesIn(node)
    .map(nameOf)
    .find((one) => one !== undefined)
  const from = name === undefined ? undefined : file.imports.get(name)
  return from === undefined ? undefined : packageOf(from)
}

/** Such as `session.userId = 1` of a request. Another library may write other members, such as the messages of connect-flash. */
function isSessionWrite(node: SyntaxNode): boolean {
  const left = child(node, 'left')
  if (node.type !== 'AssignmentExpression' || left?.type !== 'MemberExpression') return false
  const isOfSession = SESSION.test(nameOf(child(child(left, 'object'), 'property')) ?? '')
  return (
    isOfSession &&
    /^(?:user|uid|account|login|auth|isAuth|isLoggedIn|loggedin)/i.test(nameOf(child(left, 'property')) ?? '')
  )
}

/** The text values of an option in the sources. */
function literalsOf(places: readonly Place[], option: string): string[] {
  return places
    .filter(({ node }) => node.type === 'ObjectExpression')
    .flatMap(({ node }) => children(node, 'properties'))
    .filter((property) => nameOf(child(property, 'key')) === option)
    .flatMap((property) => textOf(child(property, 'value')) ?? [])
}

function isPath(text: string | undefined): boolean {
  return text?.startsWith('/') === true
}

const LOGIN_PATH = /(?:log|sign)[-_]?in\b/i

function signInPathIn(places: readonly Place[]): string | undefined {
  const ensured = places
    .filter(
      ({ file, node }) => file.imports.get(nameOf(child(node, 'callee')) ?? '') === 'connect-ensure-login',
    )
    .flatMap(({ node }) => textOf(children(node, 'arguments')[0]) ?? [])
  const paths = [...ensured, ...literalsOf(places, 'failureRedirect')].filter(isPath)
  return paths.find((path) => LOGIN_PATH.test(path)) ?? paths[0]
}

function routesIn(places: readonly Place[]): SourceRoute[] {
  return places.flatMap((place) => {
    const { node } = place
    if (node.type === 'ClassMethod') return nestRoutes(place)
    const method = methodOf(node)
    const [first, ...handlers] = children(node, 'arguments')
    const path = textOf(first)
    if (
      method === undefined ||
      !/^(?:get|post|put|patch|delete|all)$/.test(method) ||
      !isPath(path) ||
      handlers.length === 0
    )
      return []
    return pathsOf(path ?? '', place, places).map((whole) => ({
      method: method === 'all' ? 'POST' : method.toUpperCase(),
      path: whole,
      place,
      does: purposeOf(method, whole, handlers),
    }))
  })
}

function purposeOf(method: string, path: string, handlers: readonly SyntaxNode[]): SourceRoute['does'] {
  const calls = handlers.flatMap(nodesIn)
  if (calls.some((call) => /^log_?out$/i.test(methodOf(call) ?? ''))) return 'sign out'
  const signsIn = calls.some((call) => {
    const called = methodOf(call)
    return (
      (called === 'authenticate' && !authenticatesBySession(call)) ||
      (/^login$/i.test(called ?? '') && /^req/.test(nameOf(child(child(call, 'callee'), 'object')) ?? ''))
    )
  })
  return signsIn || (method === 'post' && LOGIN_PATH.test(path)) ? 'sign in' : undefined
}

/** The whole paths of a route, with those at which its router is mounted. */
function pathsOf(path: string, { file }: Place, places: readonly Place[]): string[] {
  const prefixes = places.flatMap((mount) => {
    const [first, ...handlers] = argumentsOf(mount.node, 'use')
    const prefix = textOf(first)
    if (prefix === undefined || mount.file === file) return []
    const froms = handlers.map((one) => requiredBy(one) ?? mount.file.imports.get(nameOf(one) ?? ''))
    return froms.some((from) => from !== undefined && resolvesTo(from, mount.file, file)) ? [prefix] : []
  })
  return (prefixes.length > 0 ? prefixes : ['']).map((prefix) =>
    posix.join('/', prefix, path).replace(/(.)\/$/, '$1'),
  )
}

function resolvesTo(from: string, importer: SourceFile, file: SourceFile): boolean {
  if (!from.startsWith('.')) return false
  const bare = (path: string) => path.replace(/\.[cm]?[jt]sx?$/, '').replace(/\/index$/, '')
  return bare(posix.join(dirname(importer.path), from)) === bare(file.path)
}

/** A method of a Nest controller. */
function nestRoutes(place: Place): SourceRoute[] {
  const { node, around } = place
  const decorators = children(node, 'decorators').map((one) => child(one, 'expression'))
  const textIn = (decorator: SyntaxNode | undefined) => textOf(children(decorator, 'arguments')[0]) ?? ''
  const named = (list: readonly (SyntaxNode | undefined)[], pattern: RegExp) =>
    list.find((one) => pattern.test(nameOf(child(one, 'callee')) ?? ''))
  const verb = named(decorators, /^(?:Get|Post|Put|Patch|Delete|All)$/)
  const owner = around.findLast(({ type }) => type.startsWith('Class') && type !== 'ClassBody')
  const controller = named(
    children(owner, 'decorators').map((one) => child(one, 'expression')),
    /^Controller$/,
  )
  const method = nameOf(child(verb, 'callee'))
  if (!controller || method === undefined) return []
  const path = posix.join('/', textIn(controller), textIn(verb))
  const guards = decorators
    .filter((one) => nameOf(child(one, 'callee')) === 'UseGuards')
    .flatMap((one) => children(one, 'arguments'))
  const isLocal = guards.flatMap(nodesIn).some((one) => /local/i.test(nameOf(one) ?? ''))
  const bodies = childrenOf(node).filter(({ type }) => type === 'BlockStatement')
  const does = isLocal ? 'sign in' : purposeOf(method.toLowerCase(), path, bodies)
  return [{ method: method.toUpperCase(), path, place, does }]
}

/** What `serializeUser` stores of a user, unless it is `id`. */
function idMemberIn(places: readonly Place[]): string | undefined {
  const serializers = places.flatMap(({ node }) => {
    if (node.type === 'ClassMethod' && nameOf(child(node, 'key')) === 'serializeUser') return [node]
    return argumentsOf(node, 'serializeUser').slice(0, 1)
  })
  const stored = serializers.flatMap((serializer) => {
    const [user, done] = children(serializer, 'params').slice(-2).map(nameOf)
    return nodesIn(serializer)
      .filter((call) => call.type === 'CallExpression' && nameOf(child(call, 'callee')) === done)
      .flatMap((call) => storedMember(children(call, 'arguments')[1], user) ?? [])
  })
  if (stored.length > 0) return stored[0] === 'id' ? undefined : stored[0]
  const keysOf = (node: SyntaxNode) => children(node, 'properties').map((one) => nameOf(child(one, 'key')))
  // The whole user is in the session: the users of Nest's guide have a `userId`.
  const hasUserId = places.some(({ node }) => {
    const keys = node.type === 'ObjectExpression' ? keysOf(node) : []
    return keys.includes('userId') && keys.includes('username') && !keys.includes('id')
  })
  return hasUserId ? 'userId' : undefined
}

function storedMember(value: SyntaxNode | undefined, user: string | undefined): string | undefined {
  if (value?.type === 'ObjectExpression') {
    const keys = children(value, 'properties').map((one) => nameOf(child(one, 'key')))
    return keys.find((key) => key !== undefined && /^_?id$/.test(key))
  }
  if (value?.type !== 'MemberExpression' || nameOf(child(value, 'object')) !== user) return undefined
  return nameOf(child(value, 'property'))
}
