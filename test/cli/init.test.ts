import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { everyCase } from '../kit/every-case.js'
import { temporaryFolder } from '../kit/temporary-folder.js'

type Files = Readonly<Record<string, string>>

/** An empty folder until the end of the test. */
function emptyFolder(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return path
}

/** A package.json with these packages. */
const manifest = (packages: string, more = {}) =>
  JSON.stringify({
    name: 'orders',
    dependencies: Object.fromEntries(packages.split(' ').map((name) => [name, '^1.0.0'])),
    ...more,
  })

const PACKAGES = 'express express-session passport'
const IMPORTS = "import express from 'express'\nimport passport from 'passport'\nconst app = express()\n"
const REQUIRES = IMPORTS.replaceAll(/import (\w+) from (.*)/g, 'const $1 = require($2)')
const MOUNT = 'app.use(passport.session())\n'

/** Runs `countersign init` in a folder with these files. */
async function init(files: Files) {
  const folder = emptyFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const before = await readdir(folder, { recursive: true })
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(['init', folder], {
    env: {},
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  expect(await readdir(folder, { recursive: true })).toEqual(before)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

describe('countersign init', () => {
  it('prints the import and the line of the README, with its options, as the nearest package.json and the file have them', async () => {
    const [commonJs, modules] = [manifest(PACKAGES), manifest(PACKAGES, { type: 'module' })]
    const [imported, required] = [
      "import { mfaRouter } from 'countersign'",
      "const { mfaRouter } = require('countersign')",
    ]
    await everyCase(
      [
        ['CommonJS', { 'package.json': commonJs, 'app.js': REQUIRES + MOUNT }, required],
        ['ES modules', { 'package.json': modules, 'app.js': IMPORTS + MOUNT }, imported],
        ['.mjs', { 'package.json': commonJs, 'app.mjs': IMPORTS + MOUNT }, imported],
        ['.cjs', { 'package.json': modules, 'app.cjs': REQUIRES + MOUNT }, required],
        ['compiled to CommonJS', { 'package.json': commonJs, 'app.ts': IMPORTS + MOUNT }, imported],
        [
          'a package of ES modules below a package of CommonJS',
          {
            'package.json': manifest('typescript', { workspaces: ['packages/*'] }),
            'packages/api/package.json': modules,
            'packages/api/src/app.js': `let passport\n${MOUNT}`,
          },
          imported,
        ],
      ] as const,
      async ([, files, expected]) => {
        const { code, out, err } = await init(files)
        expect(out).toContain(`, at the top:\n\n    ${expected}\n`)
        expect(out).toMatch(/\n {4}app\.use\(mfaRouter(?:<[^(]+>)?\(\{\n {6}appName: 'orders'/)
        expect(out).not.toContain('Create ')
        expect([code, err]).toEqual([0, ''])
      },
    )
  })

  it('names the file, the line and the app that mounts passport.session(), and no comment or test', async () => {
    const session =
      '// app.use(passport.session())\nexport const mount = (server) => {\n  server.use(passport.authenticate("session"))\n}'
    const { out } = await init({
      'package.json': manifest(PACKAGES),
      'config/session.js': session,
      'test/app.js': MOUNT,
      'app.js': '/*\n * passport.session() is in config/session.js\n */',
    })
    expect(out).toContain("Express ^1.0.0. Passport's session: config/session.js:3.")
    expect(out).toContain('Add to config/session.js, directly after passport.session() in line 3:')
    expect(out).toContain('    server.use(mfaRouter({\n')
  })

  it('prints the command that proves it: with --body json where nothing else is read, and none with a password for Google', async () => {
    const command =
      "    npx --no countersign check --start 'npm run build -w packages/api && npm start -w packages/api' --sign-in 'POST /login username=…&password=$APP_PASSWORD'"
    const app = (packages: string, more: string) => ({
      'package.json': manifest('typescript'),
      'packages/api/package.json': manifest(packages, {
        scripts: { build: 'tsc', start: 'node dist/app.js' },
      }),
      'packages/api/app.js': REQUIRES + MOUNT + more,
    })
    const json = await init(app(PACKAGES, 'app.use(express.json())'))
    expect(json.out).toContain(`${command} --body json --protected /…`)
    const form = await init(app(PACKAGES, 'app.use(express.json(), express.urlencoded({ extended: false }))'))
    expect(form.out).toContain(`${command} --protected /…`)
    const google = await init(app(`${PACKAGES} passport-google-oauth20`, ''))
    expect(google.out).toContain(
      'Users sign in at a provider (passport-google-oauth20), where no command can sign in.',
    )
    expect(google.out).not.toContain('PASSWORD')
    const both = await init(app(`${PACKAGES} passport-google-oauth20 passport-local`, ''))
    expect(both.out).toContain(command)
  })

  it('says what it sees beside: tokens, a check of CSRF tokens, and a gate that is mounted', async () => {
    const beside = await init({
      'package.json': manifest(`${PACKAGES} passport-jwt csurf`),
      'app.js': REQUIRES + MOUNT,
    })
    expect(beside.out).toContain(
      'Tokens (passport-jwt) are accepted without a second factor, unless createMfa has the option tokens: see docs/tokens.md.',
    )
    expect(beside.out).toContain('Call csurf after the new lines')
    const mounted = await init({
      'package.json': manifest(PACKAGES),
      'app.js': `${REQUIRES}${MOUNT}const { createMfa } = require('countersign')\napp.use(mfa.router)`,
    })
    expect(mounted.out).toContain('Nothing is left to add: Countersign is mounted at app.js:6.')
    expect(mounted.out).not.toContain('Create')
    expect(mounted.out).toContain('npx --no countersign check --start ')
  })

  it('reads the route and the fields of the login, and the pages around it, from the sources', async () => {
    const base = (packages: string, passportSession = MOUNT) => ({
      'package.json': manifest(packages, { scripts: { start: 'node app.js' } }),
      'app.js': `${REQUIRES}${passportSession}app.use(express.urlencoded({ extended: false }))\n`,
    })
    const cases = {
      'a router with a path, whose handler calls Passport': {
        files: {
          ...base(PACKAGES),
          'routes/users.js': `router.get('/login', page)\nrouter.post('/register', register)
router.post('/login', (req, res, next) => {
  passport.authenticate('local', { successRedirect: '/dashboard', failureRedirect: '/users/login' })(req, res, next)
})
router.get('/logout', leave)`,
          'routes/passport.js': "passport.use(new LocalStrategy({ usernameField: 'email' }, verify))",
          'server.js': "app.use('/users', require('./routes/users.js'))",
        },
        login: "login: { signInPath: '/users/login', signOutPath: '/users/logout', homePath: '/dashboard' },",
        check: "'POST /users/login email=…&password=$APP_PASSWORD' --protected /dashboard",
      },
      'a form that is posted to another path': {
        files: {
          ...base(PACKAGES),
          'routes/auth.js': `router.get('/login', page)\nrouter.post('/login/password', passport.authenticate('local', { failureRedirect: '/login' }))
router.post('/logout', leave)`,
          'index.js': "var authRouter = require('./routes/auth')\napp.use('/', authRouter)",
        },
        login: "// login: { signInPath: '/login'",
        check:
          "'POST /login/password username=…&password=$APP_PASSWORD' --sign-in-page /login --protected /…",
      },
      'a controller in another file': {
        files: {
          ...base(PACKAGES),
          'routes.js':
            "app.get('/signin', c.page)\napp.post('/forgot', c.forgot)\napp.post('/signin', c.postSignIn)",
          'strategy.js': "new LocalStrategy({ usernameField: 'mail', passwordField: 'pass' }, verify)",
        },
        login: "login: { signInPath: '/signin', signOutPath: '/logout', homePath: '/' },",
        check: "'POST /signin mail=…&pass=$APP_PASSWORD' --protected /…",
      },
      'a login by hand': {
        files: {
          ...base(PACKAGES),
          'login.js':
            "app.post('/api/login', (req, res) => {\n  const { email, secret_password } = req.body\n  req.logIn(find(email), done)\n})",
        },
        login: "// login: { signInPath: '/login'",
        check: "'POST /api/login email=…&secret_password=$APP_PASSWORD' --protected /…",
      },
      Nest: {
        files: {
          ...base(PACKAGES),
          'auth.controller.ts':
            "@Controller('auth')\nexport class A {\n  @Post('login')\n  login(@Body() body) { return this.in(body.name, body.password) }\n}",
        },
        login: "// login: { signInPath: '/login'",
        check: "'POST /auth/login name=…&password=$APP_PASSWORD' --protected /…",
      },
    }
    await everyCase(Object.entries(cases), async ([, { files, login, check }]) => {
      const { out } = await init(files)
      expect(out).toContain(`\n      ${login}`)
      expect(out).toContain(` --sign-in ${check}`)
    })
  })

  it('prints options that work for users without an email address, and for an id of another name', async () => {
    const files = { 'package.json': manifest(PACKAGES), 'app.js': REQUIRES + MOUNT }
    const without = await init(files)
    expect(without.out).toContain(
      "      policy: () => 'require', // users without a factor set up an authenticator app",
    )
    expect(without.out).toContain('      // factors: ')
    expect(without.out).toContain('      // userId: ')
    const named = await init({
      ...files,
      'users.js': 'passport.serializeUser((member, done) => done(null, member._id))\nconst email = 1',
    })
    expect(named.out).toContain(
      "      factors: ({ email }) => (email ? [{ method: 'email', email }] : []), //",
    )
    expect(named.out).toContain('      userId: (user) => String(user._id),\n')
  })

  it('takes the handshakes of socket.io for no second app, and prints the line for them', async () => {
    const { out } = await init({
      'package.json': manifest(`${PACKAGES} socket.io`),
      'index.js': `${REQUIRES}${MOUNT}const io = new Server(server)
io.engine.use(onlyForHandshake(sessionMiddleware));
io.engine.use(onlyForHandshake(passport.session()));`,
    })
    expect(out).toContain("Passport's session: index.js:4.")
    expect(out.match(/, at the top:/g)).toHaveLength(1)
    expect(out).toMatch(/const mfa = createMfa\(\{\n[\s\S]+\n {4}\}\)\n {4}app\.use\(mfa\.router\)\n/)
    expect(out).toContain(
      'Add to index.js, directly after passport.session() in line 7:\n\n    io.engine.use(onlyForHandshake(mfa.session));\n',
    )
  })

  it('names versions that npm refuses, resave: true and GraphQL, with what to do', async () => {
    const app = (express: string, expressSession: string, passport: string) => ({
      'package.json': JSON.stringify({
        dependencies: { express, 'express-session': expressSession, passport, '@apollo/server': '^4.0.0' },
      }),
      'app.js': `${REQUIRES}// resave: true\napp.use(session({ resave: true }))\n${MOUNT}`,
    })
    const old = await init(app('~4.16.1', '~1.16.2', '^0.5.2'))
    expect(old.out).toContain(
      'beside express ~4.16.1 and express-session ~1.16.2 and passport ^0.5.2 (ERESOLVE). Run npm install express@4 express-session@1 passport@0.7, and then npm install ',
    )
    expect(old.out).toContain('Set resave to false in app.js:5: ')
    expect(old.out).toMatch(/GraphQL \(@apollo\/server\) are refused, .+: see docs\/mounting\.md#graphql\./)
    const current = await init(app('^4.17.1', '^1.15.6', '^0.6.0'))
    expect(current.out).not.toContain('ERESOLVE')
  })

  it('reads no file that a symbolic link leads to', async () => {
    const elsewhere = emptyFolder()
    await writeFile(join(elsewhere, 'app.js'), MOUNT)
    const folder = emptyFolder()
    await writeFile(join(folder, 'package.json'), manifest(PACKAGES))
    await symlink(join(elsewhere, 'app.js'), join(folder, 'app.js'))
    await symlink(elsewhere, join(folder, 'src'))
    const err: string[] = []
    const io = { env: {}, stdin: async () => '', out: () => {}, err: (text: string) => void err.push(text) }
    expect(await runCommand(['init', folder], io)).toBe(2)
    expect(err.join()).toContain('passport.session() is called nowhere in the sources')
  })

  it('refuses an app without a session that it can gate, in one sentence with the page to read', async () => {
    await everyCase(
      [
        ['no session', 'express', 'The app has no session'],
        ['cookie-session', 'express passport cookie-session', '(cookie-session)'],
        ['tokens', 'express passport passport-jwt', 'with tokens only (passport-jwt)'],
        ['a session without Passport', 'express express-session', 'express-session without Passport'],
        [
          'AdminJS',
          'express express-session @adminjs/express adminjs',
          'has the session of @adminjs/express',
        ],
        ['Auth0', 'express express-openid-connect', 'has the session of express-openid-connect'],
        ['Passport without its session', PACKAGES, 'passport.session() is called nowhere'],
        ['no Express', 'koa', 'There is no Express app'],
      ] as const,
      async ([, packages, expected]) => {
        const { code, out, err } = await init({ 'package.json': manifest(packages), 'app.js': REQUIRES })
        const [sentence, page = ''] = err.split('\n')
        expect(sentence).toContain(expected)
        expect(page).toMatch(/^Read (?:docs|recipes)\/[\w/-]+\.md\.$/)
        expect(existsSync(page.slice('Read '.length, -1))).toBe(true)
        expect([code, out]).toEqual([2, ''])
      },
    )
  })

  it('says that a folder has no package.json, or one that is not JSON', async () => {
    expect(await init({})).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no package.json in '),
    })
    expect(await init({ 'package.json': '{' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not JSON.'),
    })
  })
})
