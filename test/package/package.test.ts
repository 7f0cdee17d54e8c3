import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, samplesOf } from './kit.js'

/** What the samples of the documents take for granted. */
const PRELUDE = `
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import passport from 'passport'
import type { MfaOptions as Options, FactorInput as Input, MfaService } from 'countersign'
declare global { namespace Express { interface User { id: string; email: string; phone: string } } }
declare const app: ReturnType<typeof express>
declare const secret: string
declare const apiKey: string
declare const transfer: RequestHandler
`

/** The host's own table, where a sample asks it. */
const HOST_USERS = `
declare global { namespace Express { interface User { passwordVersion: number } } }
declare const users: {
  changePassword(user: Express.User | undefined, password: string): Promise<Express.User>
  find(id: string): Promise<Express.User | undefined>
}
`

/** What the samples about testing take for granted. */
const KIT = `
import request from 'supertest'
import { type MfaTestKit, signInWithMfa } from 'countersign/testing'
declare const kit: MfaTestKit
declare function test(title: string, run: () => Promise<void>): void
`

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  },
  include: ['*.ts', '*.cts'],
}

describe('the package as it is shipped', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer()
    await project.write('package.json', JSON.stringify({ type: 'module' }))
    await project.write('tsconfig.json', JSON.stringify(TSCONFIG))
  })

  afterAll(() => project.dispose())

  const tsc = () => project.node('node_modules/typescript/bin/tsc', '-p', '.').catch((error) => error.stdout)

  it('holds what it needs to run and nothing else', () => {
    const strangers = project.files.filter(
      (file) =>
        !/^(dist\/.*\.(js|d\.ts)|assets\/mfa\.(css|js)|README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(
          file,
        ),
    )
    expect(strangers).toEqual([])
    expect(project.files).toContain('dist/index.js')
    expect(project.files).toContain('assets/mfa.css')
  })

  it('is imported by an ES module, and its pages find their stylesheet', async () => {
    await project.write(
      'esm.mjs',
      `import * as mfa from 'countersign'
       import { parseUser } from 'countersign/protocol'
       const service = { send() {}, verify() {}, enrollApp() {}, sendBackupCodes() {}, transcribe() {} }
       mfa.mfaRouter({ service, factors: () => [] })
       console.log(Object.keys(mfa).sort().join(' '), parseUser('a@b.example').kind)`,
    )
    expect((await project.node('esm.mjs')).trim()).toBe(
      'HostError LimitsStoreError MfaError MfaStrategy OptionsError ServiceError SessionEndedError SessionStoreError TrustStoreError ' +
        'backupRouter challengeRouter devicesRouter enrollAppRouter languageRouter mfaAccount mfaClient mfaCounts mfaRouter mfaSession notMeRouter requireMfa startMfa verifyRouter email',
    )
  })

  it('is tested by an app with its test kit, without a test runner', async () => {
    await project.write(
      'kit.mjs',
      `import express from 'express'
       import session from 'express-session'
       import passport from 'passport'
       import request from 'supertest'
       import { mfaRouter, mfaSession, requireMfa } from 'countersign'
       import { mfaTestKit, signInWithMfa } from 'countersign/testing'
       const kit = mfaTestKit()
       const bob = { id: 'bob', phone: '+447700900102', mail: 'bob@example.com' }
       const mfa = {
         service: kit.service,
         factors: ({ phone, mail }) => [{ method: 'sms', phone }, { method: 'app', user: mail }],
       }
       passport.serializeUser((user, done) => done(null, user.id))
       passport.deserializeUser((id, done) => done(null, bob))
       const app = express()
       app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfaSession(mfa))
       app.use('/mfa', mfaRouter(mfa))
       app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json({}))))
       app.get('/money', requireMfa({ maxAge: '5m' }), (req, res) => res.json({ for: req.user.id }))
       const agent = request.agent(app).set('Accept', 'application/json')
       const statuses = []
       const look = async () => statuses.push((await agent.get('/money')).status)
       await look()
       await signInWithMfa(agent, { kit, login: { fields: {} } })
       await look()
       kit.clock.advance('5m')
       await look()
       kit.fail('down')
       statuses.push((await agent.post('/mfa/challenge').send({ factor: 'sms' })).status)
       kit.apps.enrol(bob.mail)
       await signInWithMfa(agent, { kit, factor: 'app' })
       await look()
       kit.reset()
       console.log(statuses.join(' '))`,
    )
    expect((await project.node('kit.mjs')).trim()).toBe('401 200 401 503 200')
  })

  it('is required by a CommonJS module, and is the same package there', async () => {
    await project.write(
      'cjs.cjs',
      `const { OptionsError, mfaSession } = require('countersign')
       import('countersign').then((esm) => {
         try { mfaSession({}) } catch (error) {
           console.log(error instanceof OptionsError, error instanceof esm.OptionsError, error.code)
         }
       })`,
    )
    expect((await project.node('cjs.cjs')).trim()).toBe('true true ERR_MFA_OPTIONS')
  })

  it('tells all faults of its options at once', async () => {
    await project.write(
      'faults.mjs',
      `import { mfaSession } from 'countersign'
       try { mfaSession({ service: { baseUrl: 'http://10.0.0.7', apiKey: 'short' }, factorz: 1, halfLoginMs: 5 }) }
       catch (error) { console.log(error.faults.length, error.message) }`,
    )
    const told = await project.node('faults.mjs')
    for (const name of ['service.baseUrl', 'service.apiKey', 'factors', 'factorz', 'halfLoginMs']) {
      expect(told).toContain(name)
    }
  })

  it('compiles for an app with a user type of its own, without casts', async () => {
    await project.write(
      'own-user.ts',
      `import { mfaSession, MfaStrategy, requireMfa, type MfaOptions } from 'countersign'
       interface Customer { customerNumber: number; mobile: string }
       const options: MfaOptions<Customer> = {
         service: { baseUrl: 'https://mfa.example.com', apiKey: process.env.KEY },
         userId: (customer) => customer.customerNumber,
         factors: async (customer) => [{ method: 'sms', phone: customer.mobile }],
       }
       mfaSession(options)
       new MfaStrategy(options)
       // @ts-expect-error a method that does not exist
       const wrong: MfaOptions<Customer> = { ...options, factors: () => [{ method: 'pigeon', phone: '+1' }] }
       // @ts-expect-error a misspelt option
       mfaSession({ ...options, halfLoginMinutes: 5 } satisfies MfaOptions<Customer>)
       // @ts-expect-error a time without a unit
       requireMfa({ maxAge: '5' })
       void wrong`,
    )
    expect(await tsc()).toBe('')
  })

  it.each([
    'README.md',
    'docs/options.md',
    'docs/dialect.md',
    'docs/doctor.md',
    'docs/outage.md',
    'docs/events.md',
    'docs/testing.md',
    'docs/sessions.md',
  ])('compiles every sample of %s', async (path) => {
    const samples = await samplesOf(path)
    expect(samples.length).toBeGreaterThan(0)
    const files = samples.map((sample, index) => {
      const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(sample)
      const extra = [
        (uses('kit') || uses('test')) && !/const kit/.test(sample) && KIT,
        uses('MfaOptions') &&
          !/import[^\n]*MfaOptions/.test(sample) &&
          'type MfaOptions<U = Express.User> = Options<U>',
        uses('FactorInput') && 'type FactorInput = Input',
        uses('User') && 'type User = Express.User',
        uses('MfaStrategy') &&
          !/import[^\n]*MfaStrategy/.test(sample) &&
          "import { MfaStrategy } from 'countersign'",
        uses('requireMfa') &&
          !/import[^\n]*requireMfa/.test(sample) &&
          "import { requireMfa } from 'countersign'",
        uses('users') && HOST_USERS,
        uses('mfaCounts') && "import { mfaCounts } from 'countersign'",
        uses('mfa') && !/const mfa\b/.test(sample) && 'declare const mfa: Options',
        /\bfactors(,| })/.test(sample) &&
          !/const factors/.test(sample) &&
          "declare const factors: Options['factors']",
      ].filter(Boolean)
      return project.write(
        `sample-${path.replaceAll(/\W/g, '-')}-${index}.ts`,
        [PRELUDE, ...extra, sample].join('\n'),
      )
    })
    await Promise.all(files)
    expect(await tsc()).toBe('')
  })
})
