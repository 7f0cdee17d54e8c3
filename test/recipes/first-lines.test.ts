import { TOTP } from 'otpauth'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { type Consumer, consumer, EXPRESS_APP, installService } from '../package/kit.js'
import { startScript } from './kit.js'

/*
 * The two lines that a new user writes first, `app.use(mfaRouter(opts))` and `passport.authenticate('mfa')`, in apps with the packed
 * packages; and with what a beginner gets wrong, where nobody may get in with the password alone.
 */

/** How long the service may take to start while other tests keep the machine busy. */
const SLOW_MS = 150_000

interface Parts {
  readonly express: 'express4' | 'express'
  readonly isModule: boolean
  /** The lines that a beginner writes after `express()`, with the service of the test kit, which starts at once. */
  readonly lines?: readonly string[]
}

/** The length of a step of an authenticator app, in milliseconds. */
const STEP_MS = 30_000

const SESSION = `app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session())`
const GATE = `app.use(mfaRouter(opts))`
const PARSER = 'app.use(express.json())'
const LOGIN = `app.post('/login', passport.authenticate('local'), passport.authenticate('mfa'), (req, res) => res.json({ in: true }))`
const HOME = `app.get('/', (req, res) => (req.user ? res.send('Hello bob.') : res.sendStatus(401)))`

/** An app of at most 25 lines. Bob's password is `good`; the policy requires a factor. */
function appOf({ express, isModule, lines }: Parts): string {
  const load = (names: string, from: string) =>
    isModule ? `import ${names} from '${from}'` : `const ${names} = require('${from}')`
  return [
    load('{ mfaRouter, MfaStrategy }', 'countersign'),
    load('express', express),
    load('session', 'express-session'),
    load('passport', 'passport'),
    load('{ Strategy }', 'passport-local'),
    "const bob = { id: '1', email: 'bob@example.com' }",
    ...(lines
      ? [
          load('{ mfaTestKit }', 'countersign/testing'),
          'const { service } = mfaTestKit()',
          "const factors = () => [{ method: 'email', email: bob.email }]",
          "const opts = { service, factors, appName: 'My shop', policy: () => 'require' }",
        ]
      : ["const opts = { appName: 'My shop', policy: () => 'require' }"]),
    "passport.use(new Strategy((name, password, done) => done(null, password === 'good' && bob)))",
    'passport.use(new MfaStrategy(opts))',
    'passport.serializeUser((user, done) => done(null, user.id))',
    'passport.deserializeUser((id, done) => done(null, bob))',
    'const app = express()',
    ...(lines ?? [SESSION, GATE, PARSER, LOGIN, HOME]),
    "const server = app.listen(process.env.PORT, 'localhost', () => {",
    "  console.log('Listens on http://localhost:' + server.address().port)",
    '})',
  ].join('\n')
}

/**
 * The sentence that the app answers to the login or on the pages below `/mfa`; or that the mistake does no harm; or the text alone with
 * which passport-local refuses the login before ours is asked.
 */
type Expected = RegExp | 'it works' | 'Bad Request'

/** The first steps of a beginner with the lines. */
const MISTAKES: readonly (readonly [string, readonly string[], Expected])[] = [
  ['the router before the session', [GATE, SESSION, PARSER, LOGIN, HOME], /Mount express-session before/],
  [
    'the router at a path',
    [SESSION, "app.use('/mfa', mfaRouter(opts))", PARSER, LOGIN, HOME],
    /Add app\.use\(mfa\.router\) without a path/,
  ],
  ['the router twice', [SESSION, GATE, GATE, PARSER, LOGIN, HOME], 'it works'],
  [
    'the router after the routes',
    [SESSION, PARSER, LOGIN, HOME, GATE],
    /before the login routes and all others/,
  ],
  [
    'two option objects',
    [SESSION, 'app.use(mfaRouter({ ...opts }))', PARSER, LOGIN, HOME],
    /Call createMfa\(options\) once/,
  ],
  ['no parser for JSON', [SESSION, GATE, LOGIN, HOME], 'Bad Request'],
  [
    'the app behind a prefix',
    [
      SESSION,
      GATE,
      PARSER,
      LOGIN,
      HOME,
      "const outer = express().use('/shop', app); app.listen = (...args) => outer.listen(...args)",
    ],
    'it works',
  ],
  [
    'the router in a sub-app',
    [
      SESSION,
      "const sub = express(); sub.use(mfaRouter(opts)); app.use('/account', sub)",
      PARSER,
      LOGIN,
      HOME,
    ],
    /before the login routes and all others/,
  ],
]

describe('the first two lines, from the packed packages', () => {
  let project: Consumer
  const kinds = [true, false].flatMap((isModule) =>
    (['express', 'express4'] as const).map((express) => ({ isModule, express })),
  )

  beforeAll(async () => {
    project = await consumer({
      ...EXPRESS_APP,
      express4: 'express4',
      'passport-local': 'passport-local',
      '@electric-sql/pglite': '@electric-sql/pglite',
    })
    await installService(project)
  })

  afterAll(() => project?.dispose())

  async function start(parts: Parts) {
    const text = appOf(parts)
    expect(text.split('\n').length).toBeLessThanOrEqual(25)
    const name = `${parts.express}-${parts.isModule ? 'import.mjs' : 'require.cjs'}`
    await project.write(name, text)
    const app = await startScript(project.folder, name, { DATA_DIR: `.data-${name}` })
    const browser = () => request.agent(app.url).set('Accept', 'application/json')
    const agent = browser()
    const base = parts.lines?.some((line) => line.includes('/shop')) ? '/shop' : ''
    return {
      app,
      base,
      browser,
      get: (path: string) => agent.get(base + path),
      login: (client = agent, more = {}) =>
        client.post(`${base}/login`).send({ username: 'bob', password: 'good', ...more }),
      post: (path: string, body: object) => agent.post(base + path).send(body),
    }
  }

  it(
    'lead a user to the second factor and let them in with it, with Express 4 and 5, import and require',
    () =>
      everyCase(kinds, async (kind) => {
        const { app, browser, get, login, post } = await start(kind)
        try {
          // The service may still be starting, which lets nobody in.
          await vi.waitFor(
            async () => expect((await login().expect(403)).body.code).toBe('enrollment_required'),
            { timeout: SLOW_MS },
          )
          expect((await get('/')).text).not.toContain('Hello')
          const { qr, secret } = (await post('/mfa/enroll-app', {}).expect(200)).body
          expect(qr).toMatch(/^data:image\//)
          const codeAt = (timestamp: number) => new TOTP({ secret }).generate({ timestamp })
          // With the code of the step before, which is accepted, so that the one of this step is left for the sign-in.
          await vi.waitFor(
            async () => {
              await post('/mfa/enroll-app/confirm', { code: codeAt(Date.now() - STEP_MS) }).expect(200)
            },
            { timeout: PATIENCE_MS },
          )
          expect((await get('/').expect(200)).text).toBe('Hello bob.')

          const [guessing, other] = [browser(), browser()]
          expect((await login(guessing).expect(401)).body.code).toBe('mfa_required')
          await login(guessing, { code: '000000' }).expect(401)
          await guessing.get('/').expect(401)
          await login(other, { code: codeAt(Date.now()) }).expect(200, { in: true })
          expect((await other.get('/').expect(200)).text).toBe('Hello bob.')
        } finally {
          await app.stop()
        }
      }),
    4 * SLOW_MS,
  )

  it(
    'let nobody in with the password alone, whatever is wrong, and say what to do',
    () =>
      everyCase(MISTAKES, async ([, lines, expected]) => {
        const answers = await Promise.all(
          // Each version of Express and each kind of module once.
          kinds
            .filter(({ isModule, express }) => isModule === (express === 'express'))
            .map(async (kind) => {
              const { app, base, get, login, post } = await start({ ...kind, lines })
              try {
                const answer = await login()
                const home = await get('/')
                const pages = await get('/mfa')
                const sent = await post('/mfa/challenge', { factor: 'email' })
                return {
                  answer,
                  base,
                  sentStatus: sent.status,
                  home: home.text,
                  said: `${answer.text}${home.text}${pages.text}`,
                }
              } finally {
                await app.stop()
              }
            }),
        )
        for (const { answer, base, home, said, sentStatus } of answers) {
          expect(answer.body).not.toHaveProperty('in')
          expect(home).not.toContain('Hello')
          if (expected instanceof RegExp) {
            expect(said).toMatch(expected)
          } else if (expected === 'it works') {
            expect(answer.status).toBe(401)
            expect(answer.body).toMatchObject({ code: 'mfa_required', next: `${base}/mfa` })
            expect(sentStatus).toBe(200)
          } else {
            expect([answer.status, answer.text]).toEqual([400, expected])
          }
        }
      }),
    4 * SLOW_MS,
  )
})
