import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong } from '../kit/long.js'
import { codeIn } from '../kit/message-code.js'
import { challenge, verify } from '../kit/sign-in.js'
import { startScript } from '../recipes/kit.js'
import {
  ENSURE_LOGIN,
  edit,
  type ForeignApp,
  follow,
  foreignApp,
  GENERATED_APP,
  generate,
  generateNest,
  MONOREPO,
  NEST_LOGIN,
  PASSPORT_EXAMPLE,
  PASSWORD,
  ROUTES_BELOW_USERS,
  runPrintedCheck,
  SOCKET_IO_EXAMPLE,
  START_NEST,
  TYPESCRIPT_ESM,
} from './init-apps.js'
import { type CommandResult, EXPRESS_5_TYPES } from './kit.js'

/** Expects that the app ran, that its page asks for the second factor, and that no route skips it. */
function expectProof({ out, err, code }: CommandResult, page: string): void {
  expect(err, out).toBe('')
  expect(out).toMatch(new RegExp(`asks for mfa +GET ${page} `))
  expect(out).toContain('No bypass in')
  expect(out).toMatch(/GET \S+ → 303 \/mfa/)
  expect(out).toMatch(/Confirm it’s you|We will email a code|Set up an authenticator app/)
  expect(code).toBe(0)
}

/** Removes an app at the end of the test. */
async function open(...args: Parameters<typeof foreignApp>): Promise<ForeignApp> {
  const app = await foreignApp(...args)
  onTestFinished(() => app.dispose())
  return app
}

/** Adds what init prints, and returns it. */
async function addMfa(app: ForeignApp, ...files: readonly string[]): Promise<string> {
  const { out, err, code } = await app.run('init')
  expect([code, err]).toEqual([0, ''])
  expect([...new Set(await follow(app, out))]).toEqual(files)
  return out
}

/** The users of some apps have no email address. */
const byName = (app: ForeignApp, path: string, name: string) =>
  edit(
    app,
    path,
    "// factors: ({ email }) => (email ? [{ method: 'email', email }] : []),",
    `factors: (user) => [{ method: 'email', email: \`\${user.${name}}@example.com\` }],`,
  )

/** The lines that a developer adds to the app of the generator: a session, Passport and a login. */
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
describe('what countersign init prints', { timeout: 240_000 }, () => {
  it('makes the login of an app of express-generator ask for the second factor, which check --start proves (R01)', async () => {
    const app = await open({}, GENERATED_APP)
    await generate(app.folder)
    const text = await readFile(join(app.folder, 'app.js'), 'utf8')
    await app.write('app.js', text.replace(/(express\.static.*\n)/, `$1${LOGIN_FOR_GENERATED}`))
    const printed = await addMfa(app, 'app.js')
    expectProof(await runPrintedCheck(app, printed, { user: 'bob' }), '/users')
    await byName(app, 'app.js', 'name')
    const result = await runPrintedCheck(app, printed, { user: 'bob' })
    expectProof(result, '/users')
    expect(result.out).toContain('[Email a code to b…b@example.com]')
  })

  it('works beside the CSRF tokens of an app like the example of Passport, whose check moves behind it (R01)', async () => {
    const app = await open(PASSPORT_EXAMPLE, {
      ...GENERATED_APP,
      csurf: 'csurf',
      'connect-ensure-login': 'connect-ensure-login',
    })
    const printed = await addMfa(app, 'app.js')
    await byName(app, 'app.js', 'username')
    await edit(app, 'app.js', 'app.use(csrf());\n', '')
    await edit(
      app,
      'app.js',
      'app.use(function(req, res, next) {',
      'app.use(csrf());\napp.use(function(req, res, next) {',
    )
    expectProof(await runPrintedCheck(app, printed, { user: 'bob', protectedPath: '/active' }), '/active')

    const running = await startScript(app.folder, 'bin/www')
    onTestFinished(() => running.stop())
    const browser = request.agent(running.url).set('Accept', 'text/html')
    const inbox = async () => {
      const key = await readFile(join(app.folder, '.data/inbox-key'), 'utf8')
      return browser.get('/mfa/inbox').set({ accept: 'application/json', 'mfa-inbox-key': key.trim() })
    }
    // Answers when the service has started.
    expect((await inbox()).status).toBe(200)
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
    const [message] = (await inbox()).body.messages
    expect(message.to).toBe('bob@example.com')
    await verify(browser, codeIn(message.text)).type('form').expect(303).expect('Location', '/')
    expect((await browser.get('/').expect(200)).text).toBe('The list of bob')
  })

  it('compiles in ES modules in strict TypeScript, which sign in by JSON (R01)', async () => {
    const app = await open(TYPESCRIPT_ESM, {
      'passport-local': 'passport-local',
      ...EXPRESS_5_TYPES,
      ...LOCAL_TYPES,
    })
    const printed = await addMfa(app, 'src/server.ts')
    const found = { user: 'bob', protectedPath: '/api/orders' }
    expectProof(await runPrintedCheck(app, printed, found), '/api/orders')
    const asForm = await runPrintedCheck(app, printed.replace('--body json', ''), found)
    expect(asForm.out.replaceAll(/\s+/g, ' ')).toContain(
      'Check the path and the fields. Add --body json if the login takes JSON.',
    )
    expect(asForm.code).toBe(2)
  })

  it('works in an app that Nest generates (R01)', async () => {
    const app = await open({}, { ...EXPRESS_5_TYPES, ...NEST_PACKAGES })
    await generateNest(app.folder)
    for (const [path, text] of Object.entries(NEST_LOGIN)) await app.write(path, text)
    await edit(app, 'src/app.module.ts', '[AppController]', '[AppController, AuthController]')
    await edit(
      app,
      'src/app.module.ts',
      'import',
      "import { AuthController } from './auth.controller';\nimport",
    )
    await edit(
      app,
      'src/main.ts',
      'import',
      "import session from 'express-session';\nimport passport from 'passport';\nimport",
    )
    await edit(app, 'src/main.ts', 'AppModule);\n', `AppModule);\n${SESSION_OF_NEST}`)
    const printed = await addMfa(app, 'src/main.ts')
    await edit(app, 'src/main.ts', '{ email?: string }', '{ userId: number; username: string }')
    await edit(
      app,
      'src/main.ts',
      '// userId: (user) => String(user._id)',
      'userId: (user) => String(user.userId)',
    )
    await byName(app, 'src/main.ts', 'username')
    const found = { user: 'bob', protectedPath: '/auth/profile', start: START_NEST }
    expectProof(await runPrintedCheck(app, printed, found), '/auth/profile')
  })

  it('works in an app with connect-ensure-login and its session in a file of its own (R01)', async () => {
    const app = await open(ENSURE_LOGIN, {
      'connect-ensure-login': 'connect-ensure-login',
      'passport-local': 'passport-local',
    })
    const printed = await addMfa(app, 'config/session.js')
    expectProof(await runPrintedCheck(app, printed, { user: 'ann@example.com' }), '/account')

    const before = 'passport.session())'
    const leak =
      'server.get("/leak", (req, res) => res.status(req.session.passport || req.session.mfa ? 200 : 401).end())'
    await edit(app, 'config/session.js', before, `${before}\n${leak}`)
    const check = ['check', '--start', 'node index.js', '--protected', '/account', '--sign-in']
    const signIn = 'POST /auth/signin email=ann@example.com&password=$APP_PASSWORD'
    const leaking = await app.run(...check, signIn, '--route', '/leak')
    expect(leaking.out).toMatch(/BYPASS +GET \/leak/)
    expect(leaking.err).not.toContain('MFA_WARN_SESSION_RESAVE')
    expect(leaking.code).toBe(1)

    await edit(app, 'config/session.js', 'resave: false', 'resave: true')
    expect((await app.run(...check, signIn)).err).toMatch(/The app warns:.*\[MFA_WARN_SESSION_RESAVE\]/s)
  })

  it.runIf(isLong)(
    'leads users of routes below /users back to their own sign-in page, and takes flash messages for no bypass (R01)',
    async () => {
      const app = await open(ROUTES_BELOW_USERS, { 'passport-local': 'passport-local' })
      const printed = await addMfa(app, 'app.js')
      expect(printed).toContain('Set resave to false in app.js:12: ')
      await edit(app, 'app.js', 'resave: true', 'resave: false')
      const result = await runPrintedCheck(app, printed, { user: 'bob@example.com' })
      expectProof(result, '/dashboard')
      expect(result.out).toContain('[Email a code to b…b@example.com]')
      expect(result.out).not.toContain('set login.signInPath')
    },
  )

  it('asks for the second factor before a socket of socket.io is opened (R01)', async () => {
    const app = await open(SOCKET_IO_EXAMPLE, {
      'passport-local': 'passport-local',
      'socket.io': 'socket.io',
    })
    const printed = await addMfa(app, 'index.js')
    expectProof(await runPrintedCheck(app, printed, { user: 'john' }), '/')
    const running = await startScript(app.folder, 'index.js')
    onTestFinished(() => running.stop())
    const browser = request.agent(running.url)
    const handshake = () => browser.get('/socket.io/?EIO=4&transport=polling')
    await handshake().expect(401)
    await browser.post('/login').type('form').send({ username: 'john', password: PASSWORD }).expect(302)
    await handshake().expect(401)
    const start = await browser.post('/mfa/enroll-app').accept('json').send({})
    const code = new TOTP({ secret: start.body.secret }).generate()
    await browser.post('/mfa/enroll-app/confirm').accept('json').send({ code }).expect(200)
    await handshake().expect(200)
    expect((await browser.get('/').expect(200)).text).toBe('Chat of john')
  })

  it.runIf(isLong)(
    'can be loaded by ES modules in a workspace of a repository that is CommonJS (R01)',
    async () => {
      const app = await open(MONOREPO, { 'passport-local': 'passport-local' })
      const printed = await addMfa(app, 'packages/api/src/server.js')
      expectProof(
        await runPrintedCheck(app, printed, { user: 'bob', protectedPath: '/api/orders' }),
        '/api/orders',
      )
    },
  )
})

describe('countersign check --start', { timeout: 240_000 }, () => {
  it('says why an app does not start, and what an app printed whose login is not pending', async () => {
    const app = await open(ENSURE_LOGIN, {
      'connect-ensure-login': 'connect-ensure-login',
      'passport-local': 'passport-local',
    })
    const check = ['--sign-in', 'POST /auth/signin email=ann@example.com&password=wrong-$APP_PASSWORD']
    const broken = await app.run('check', '--start', 'node -e "throw new Error(\'no port\')"', ...check)
    expect(broken.err).toMatch(/The app did not start with .*no port/s)
    expect(broken.code).toBe(2)
    await addMfa(app, 'config/session.js')
    await edit(app, 'index.js', 'const server', 'console.log("Reads its settings")\nconst server')
    const refused = await app.run('check', '--start', 'node index.js', ...check)
    expect(refused.err).toContain('The app printed:\nReads its settings')
    expect(refused.code).toBe(2)
  })

  it('takes an address or a command, and says so', async () => {
    const app = await open({}, {})
    for (const args of [[], ['http://localhost:3000', '--start', 'npm start']]) {
      const { code, err } = await app.run('check', ...args)
      expect(err).toContain('Expected one address or --start')
      expect(code).toBe(2)
    }
  })
})
