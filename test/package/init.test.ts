import { execFile } from 'node:child_process'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { codeIn } from '../kit/message-code.js'
import { challenge, verify } from '../kit/sign-in.js'
import { startScript } from '../recipes/kit.js'
import {
  ENSURE_LOGIN,
  type ForeignApp,
  foreignApp,
  GENERATED_APP,
  generate,
  generateNest,
  type InitResult,
  NEST_LOGIN,
  PASSPORT_EXAMPLE,
  PASSWORD,
  START_NEST,
  TYPESCRIPT_ESM,
} from './init-apps.js'
import { EXPRESS_5_TYPES } from './kit.js'

const run = promisify(execFile)

/** The text files of an app, without what it installed or stores. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/^(?:node_modules|\.data|dist)\/|\.tgz$|\.tsbuildinfo$/.test(path))
  const texts = paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

/** Expects that every line of the app is still there, in its order, and returns the lines that were added to each file. */
function addedLines(before: Record<string, string>, after: Record<string, string>): Record<string, string[]> {
  const added: Record<string, string[]> = {}
  for (const [path, text] of Object.entries(after)) {
    const old = (before[path] ?? '').split('\n')
    const lines = text.split('\n').filter((line) => {
      if (line !== old[0]) return true
      old.shift()
      return false
    })
    expect(old.filter(Boolean), `lines of ${path} that are gone`).toEqual([])
    if (lines.length > 0) added[path] = lines
  }
  expect(Object.keys(before).filter((path) => !(path in after))).toEqual([])
  return added
}

/** Runs init without and with --write, checks what it shows and writes, and runs it once more. Returns the last output. */
async function addMfa(app: ForeignApp, ...signIn: readonly string[]) {
  const before = await filesOf(app.folder)
  const shown = await app.init()
  expect(shown.err).toBe('')
  expect(shown.code).toBe(0)
  expect(shown.out).toContain('Nothing was written.')
  expect(await filesOf(app.folder)).toEqual(before)

  const written = await app.init('--write', ...signIn)
  const after = await filesOf(app.folder)
  const added = addedLines(before, after)
  expect(after['.env']).toMatch(/^SERVICE_SECRET=[\w-]{43}$/m)
  expect(written.out).not.toContain(/^SERVICE_SECRET=(.+)$/m.exec(after['.env'] ?? '')?.[1])
  expect(after['.gitignore']).toMatch(/^\.env\*?$/m)
  expect(after['.gitignore']).toMatch(/^\.data\/$/m)

  const again = await app.init('--write', '--no-start')
  expect(await filesOf(app.folder)).toEqual(after)
  expect(again).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Nothing is left to add.') })
  const [gate = ''] = Object.entries(after).flatMap(([path, text]) => {
    const line = text.split('\n').findIndex((one) => one.includes('.use(mfa.session)'))
    return line < 0 ? [] : [`${path}:${line + 1}`]
  })
  expect(/^Gate of Countersign: (.+)$/m.exec(again.out)?.[1]?.split(', ')).toContain(gate)
  return { shown, written, added, after }
}

/** Expects that the app ran, that its page asks for the second factor, and that no route skips it. */
function expectProof({ out, err, code }: InitResult, page: string): void {
  expect(err).toBe('')
  expect(out).toMatch(new RegExp(`asks for mfa +GET ${page} `))
  expect(out).toContain('No bypass in')
  expect(out).toMatch(/GET \S+ → 303 \/mfa/)
  expect(out).toContain('Confirm it’s you')
  expect(code).toBe(0)
}

/** Removes an app at the end of the test. */
async function open(...args: Parameters<typeof foreignApp>): Promise<ForeignApp> {
  const app = await foreignApp(...args)
  onTestFinished(() => app.dispose())
  return app
}

/** What a developer adds to the app of the generator: a session, Passport and a login. */
const LOGIN_FOR_GENERATED = `
var session = require('express-session');
var passport = require('passport');
var LocalStrategy = require('passport-local').Strategy;
var users = [{ id: 7, name: 'bob', password: 'a good password' }];

passport.use(new LocalStrategy({ usernameField: 'name' }, function(name, password, done) {
  var user = users.find(function(one) { return one.name === name && one.password === password; });
  done(null, user || false);
}));
passport.serializeUser(function(user, done) { done(null, user.id); });
passport.deserializeUser(function(id, done) {
  done(null, users.find(function(one) { return one.id === id; }) || false);
});

app.use(session({ secret: 'keyboard cat', resave: false, saveUninitialized: false }));
app.use(passport.initialize());
app.use(passport.session());
app.get('/signin', function(req, res) { res.send('<form method="post"><input name="name"><input name="password"></form>'); });
app.post('/signin', passport.authenticate('local', { failureRedirect: '/signin', successRedirect: '/users' }));
app.get('/signout', function(req, res, next) { req.logout(function(err) { if (err) { return next(err); } res.redirect('/signin'); }); });
app.use('/users', function(req, res, next) { if (req.user) { return next(); } res.redirect('/signin'); });
`

const LOCAL_TYPES = {
  '@types/passport-local': '@types/passport-local',
  '@types/passport-strategy': '@types/passport-strategy',
}

const NEST_PACKAGES = Object.fromEntries(
  ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'].map((name) => [
    name,
    name,
  ]),
)

/** The session and Passport, as they are mounted in the main file of Nest. */
const SESSION_OF_NEST = `
  passport.serializeUser((user, done) => done(null, user));
  passport.deserializeUser((user: Express.User, done) => done(null, user));
  app.use(session({ secret: 'a secret of the app', resave: false, saveUninitialized: false }));
  app.use(passport.session());

`

// Each test starts an app with its service, on a machine that may be busy.
describe('countersign init', { timeout: 240_000 }, () => {
  it('adds the second factor to an app of express-generator, and proves that its login asks for it (R01)', async () => {
    const app = await open({}, GENERATED_APP)
    await generate(app.folder)
    const text = await readFile(join(app.folder, 'app.js'), 'utf8')
    await app.write('app.js', text.replace(/(express\.static.*\n)/, `$1${LOGIN_FOR_GENERATED}`))

    const result = await addMfa(app, '--sign-in', 'POST /signin name=bob&password=$APP_PASSWORD')
    expect(Object.keys(result.added).sort()).toEqual(['.env', '.gitignore', 'app.js', 'mfa.js'])
    expect(result.added['app.js']).toHaveLength(4)
    expect(result.after['mfa.js']).toContain(
      "login: { signInPath: '/signin', signOutPath: '/signout', homePath: '/users' },",
    )
    expect(result.shown.out).toContain('Login routes, which stay as they are: POST /signin (app.js:')
    expectProof(result.written, '/users')
    expect(result.written.out).toContain('[Email a code to u…7@example.com]')
  })

  it('mounts its routes before the CSRF tokens of an app like the example of Passport, and both work (R01)', async () => {
    const app = await open(PASSPORT_EXAMPLE, {
      ...GENERATED_APP,
      csurf: 'csurf',
      'connect-ensure-login': 'connect-ensure-login',
    })
    const result = await addMfa(app, '--sign-in', 'POST /login/password username=bob&password=$APP_PASSWORD')
    expect(Object.keys(result.added).sort()).toEqual(['.env', '.gitignore', 'app.js', 'mfa.js'])
    expect(result.shown.out).toContain('Session (express-session): app.js:16\nPassport: app.js:22\n')
    expect(result.shown.out).toContain(
      'Login routes, which stay as they are: POST /login/password (routes/auth.js:35), POST /signup (routes/auth.js:49)',
    )
    expectProof(result.written, '/active')
    expect(result.written.out).toContain('[Email a code to u…3@example.com]')

    const running = await startScript(app.folder, 'bin/www')
    onTestFinished(() => running.stop())
    const browser = request.agent(running.url).set('Accept', 'text/html')
    // Answers when the service has started.
    await browser.get('/mfa-inbox').expect(200)
    const { text } = await browser.get('/login')
    const [, _csrf] = /name="_csrf" value="([^"]+)"/.exec(text) ?? []
    const password = { username: 'bob', password: PASSWORD }
    await browser.post('/login/password').type('form').send(password).expect(403)
    await browser
      .post('/login/password')
      .type('form')
      .send({ ...password, _csrf })
      .expect(302)
    await browser.get('/').expect(303).expect('Location', '/mfa')
    await challenge(browser, 'email').type('form').expect(303)
    const [message] = (await browser.get('/mfa-inbox').expect(200)).body
    expect(message.to).toBe('user-3@example.com')
    await verify(browser, codeIn(message.text)).type('form').expect(303).expect('Location', '/')
    expect((await browser.get('/').expect(200)).text).toBe('The list of bob')
    await browser.get('/mfa/of-the-app').expect(404)
  })

  it('adds the second factor to ES modules in TypeScript that sign in by JSON, and compiles (R01)', async () => {
    const app = await open(TYPESCRIPT_ESM, {
      'passport-local': 'passport-local',
      ...EXPRESS_5_TYPES,
      ...LOCAL_TYPES,
    })
    const signIn = 'POST /api/session username=bob&password=$APP_PASSWORD'
    const result = await addMfa(app, '--sign-in', signIn, '--body', 'json', '--protected', '/api/orders')
    expect(Object.keys(result.added).sort()).toEqual(['.env', '.gitignore', 'src/mfa.ts', 'src/server.ts'])
    expect(result.added['.gitignore']).toEqual(['.data/'])
    expect(result.added['src/server.ts']).toEqual([
      "import { inbox, mfa } from './mfa.js'",
      "app.use('/mfa-inbox', inbox) // Countersign: the messages with the codes, in development",
      'app.use(mfa.session) // Countersign: withholds req.user until the user has shown the second factor',
      "app.use('/mfa', mfa.router) // Countersign: the pages and JSON routes",
    ])
    expectProof(result.written, '/api/orders')
    expect(result.written.out).toContain('[Email a code to b…b@example.com]')
  })

  it('adds the second factor to an app that Nest generates (R01)', async () => {
    const app = await open({}, { ...EXPRESS_5_TYPES, ...NEST_PACKAGES })
    await generateNest(app.folder)
    const texts = await filesOf(app.folder)
    for (const [path, text] of Object.entries(NEST_LOGIN)) await app.write(path, text)
    await app.write(
      'src/app.module.ts',
      `import { AuthController } from './auth.controller';\n${texts['src/app.module.ts']?.replace('[AppController]', '[AppController, AuthController]')}`,
    )
    const main = texts['src/main.ts']?.replace(/(NestFactory\.create.*\n)/, `$1${SESSION_OF_NEST}`)
    await app.write(
      'src/main.ts',
      `import session from 'express-session';\nimport passport from 'passport';\n${main}`,
    )

    const signIn = 'POST /auth/login username=bob&password=$APP_PASSWORD'
    const more = ['--body', 'json', '--protected', '/auth/profile', '--start', START_NEST]
    const result = await addMfa(app, '--sign-in', signIn, ...more)
    expect(Object.keys(result.added).sort()).toEqual(['.env', '.gitignore', 'src/main.ts', 'src/mfa.ts'])
    expect(result.shown.out).toContain('stay as they are: POST /auth/login (src/auth.controller.ts:')
    expect(result.after['src/mfa.ts']).toContain('userId: (user) => String(user.userId),')
    expectProof(result.written, '/auth/profile')
  })

  it('adds the second factor to an app with connect-ensure-login, in the manner of its files (R01)', async () => {
    const app = await open(ENSURE_LOGIN, {
      'connect-ensure-login': 'connect-ensure-login',
      'passport-local': 'passport-local',
    })
    const result = await addMfa(
      app,
      '--sign-in',
      'POST /auth/signin email=ann@example.com&password=$APP_PASSWORD',
    )
    const written = ['.env', '.gitignore', 'config/countersign.js', 'config/session.js']
    expect(Object.keys(result.added).sort()).toEqual(written)
    expect(result.added['config/session.js']).toEqual([
      'const { inbox, mfa } = require("./countersign")\r',
      '\tserver.use("/mfa-inbox", inbox) // Countersign: the messages with the codes, in development\r',
      '\tserver.use(mfa.session) // Countersign: withholds req.user until the user has shown the second factor\r',
      '\tserver.use("/mfa", mfa.router) // Countersign: the pages and JSON routes\r',
    ])
    expect(result.after['.env']).toMatch(/^GREETING=Welcome\r?\n/)
    const options = result.after['config/countersign.js']
    expect(options).toContain(
      '\tlogin: { signInPath: "/auth/signin", signOutPath: "/auth/signout", homePath: "/account" },',
    )
    expect(options).toContain('\tuserId: (user) => String(user._id),')
    expectProof(result.written, '/account')
    expect(result.written.out).toContain('[Email a code to a…n@example.com]')
  })

  it('says when the check finds a route that skips the second factor, and exits with 1 (R01)', async () => {
    const early = 'server.use("/auth", require("./routes/auth"))\r\n'
    const leak = `${early}server.get("/leak", (req, res) => res.status(req.session.passport || req.session.mfa ? 200 : 401).end())\r\n`
    const app = await open(
      { ...ENSURE_LOGIN, 'index.js': ENSURE_LOGIN['index.js']?.replace(early, leak) ?? '' },
      { 'connect-ensure-login': 'connect-ensure-login', 'passport-local': 'passport-local' },
    )
    const { code, out } = await app.init(
      '--write',
      '--sign-in',
      'POST /auth/signin email=ann@example.com&password=$APP_PASSWORD',
    )
    expect(out).toMatch(/BYPASS +GET \/leak/)
    expect(code).toBe(1)
  })

  it('says what is left to do: a package to install, an app that does not start, a test user to sign in as', async () => {
    const app = await open(ENSURE_LOGIN, {
      'connect-ensure-login': 'connect-ensure-login',
      'passport-local': 'passport-local',
    })
    const service = join(app.folder, 'node_modules/@countersign')
    await rename(service, `${service}-later`)
    const uninstalled = await app.init('--write')
    expect(uninstalled.err).toContain(
      'The app cannot start before @countersign/service is installed: see node_modules/',
    )
    expect(uninstalled.code).toBe(2)

    await rename(`${service}-later`, service)
    // The service cannot have its folder.
    await app.write('.data', '')
    const stopped = await app.init('--write')
    expect(stopped.err).toContain(
      'The app did not start with "node index.js", or did not answer at /mfa. It printed:',
    )
    expect(stopped.err).toContain('The MFA service cannot start:')
    expect(stopped.code).toBe(2)

    await rm(join(app.folder, '.data'))
    const unchecked = await app.init('--write')
    expect(unchecked.out).toContain('It was not checked whether each login asks for the second factor')
    expect(unchecked.out).toContain(
      "npx --no countersign init --write --sign-in 'POST /auth/signin email=…&password=$APP_PASSWORD'",
    )
    expect(unchecked.code).toBe(2)
  })

  it('says that tokens are accepted without a second factor in an app that takes them beside a session', async () => {
    const withTokens = `require("passport-jwt")\r\n${ENSURE_LOGIN['routes/auth.js']}`
    const app = await open({ ...ENSURE_LOGIN, 'routes/auth.js': withTokens }, {})
    const { code, out } = await app.init()
    expect(out).toContain(
      'Tokens (passport-jwt) are accepted without a second factor: see node_modules/countersign/docs/',
    )
    expect(out).toContain('+++ b/config/session.js')
    expect(code).toBe(0)
  })

  it('shows a diff that git applies', async () => {
    const app = await open({}, GENERATED_APP)
    await generate(app.folder)
    const text = await readFile(join(app.folder, 'app.js'), 'utf8')
    const login = LOGIN_FOR_GENERATED.trimEnd()
    // A file whose last line does not end is the hardest for a diff.
    await app.write('app.js', `${text.trimEnd()}\n${login.slice(0, login.indexOf('app.get(')).trimEnd()}`)
    const { out } = await app.init()
    await app.write('init.diff', `${out.slice(out.indexOf('--- '), out.indexOf('\nNothing was written'))}\n`)
    await run('git', ['apply', 'init.diff'], { cwd: app.folder })
    const applied = await filesOf(app.folder)
    await app.init('--write', '--no-start')
    expect(await filesOf(app.folder)).toEqual(applied)
    expect(applied['app.js']).toContain("app.use('/mfa', mfa.router);")
  })

  it('refuses an app without a session that it can gate, in one sentence with the page to read', async () => {
    const express = "const express = require('express')\nconst app = express()\n"
    await everyCase(
      [
        ['no session', express, 'The app has no session'],
        [
          'cookie-session',
          `${express}app.use(require('cookie-session')({ keys: ['k'] }))`,
          '(cookie-session)',
        ],
        [
          'tokens',
          `${express}const { Strategy } = require('passport-jwt')\nconst passport = require('passport')
           passport.use(new Strategy({}, () => {}))\napp.use(passport.authenticate('jwt', { session: false }))`,
          'with tokens only (passport-jwt)',
        ],
        [
          'a session without Passport',
          `${express}app.use(require('express-session')({ secret: 's' }))
           app.post('/login', (req, res) => { req.session.userId = 1; res.redirect('/') })`,
          'in the session itself (app.js:4)',
        ],
        [
          'Passport without its session',
          `${express}app.use(require('express-session')({ secret: 's' }))\nrequire('passport').initialize()`,
          'without passport.session()',
        ],
        [
          'a chain of calls',
          `${express}const session = require('express-session'), passport = require('passport')
           app.use(session({})).use(passport.session())`,
          'in a chain of calls (app.js:4)',
        ],
        ['no Express', "require('koa')", 'There is no Express app'],
      ] as const,
      async ([, text, expected]) => {
        const app = await foreignApp({ 'package.json': '{}', 'app.js': text }, {})
        const before = await filesOf(app.folder)
        const { code, out, err } = await app.init('--write')
        const [sentence, page = ''] = err.trim().split('\n')
        expect(sentence).toContain(expected)
        expect(page).toMatch(/^Read node_modules\/countersign\/docs\/[\w-]+\.md\.$/)
        expect(Object.keys(await filesOf(join(app.folder, page.slice(5, -1), '..')))).toContain(
          page.split('/').at(-1)?.slice(0, -1),
        )
        expect([code, out, await filesOf(app.folder)]).toEqual([2, '', before])
        await app.dispose()
      },
    )
  })
})
