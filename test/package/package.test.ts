import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, samplesOf } from './kit.js'

/** Documents with samples that an app's developer copies. */
const DOCUMENTS = [
  'README.md',
  'docs/options.md',
  'docs/dialect.md',
  'docs/diagnostics.md',
  'docs/outage.md',
  'docs/events.md',
  'docs/testing.md',
  'docs/sessions.md',
  'docs/notices.md',
  'docs/trusted-devices.md',
]

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
declare const mail: { send(letter: { to: string; subject: string; text: string }): Promise<{ messageId: string }> }
declare const redis: { readonly isReady: boolean; eval(): Promise<unknown> }
`

/** The host's own table, where a sample asks it. */
const HOST_USERS = `
declare global { namespace Express { interface User { passwordVersion: number } } }
declare const users: {
  changePassword(user: Express.User | undefined, password: string): Promise<Express.User>
  demandNewPassword(id: string, notice: { readonly text: string }): void
  find(id: string): Promise<Express.User | undefined>
  setPhone(id: string, phone: string): Promise<void>
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
        'backupRouter challengeRouter devicesRouter enrollAppRouter languageRouter mfaAccount mfaClient mfaMetrics mfaRouter mfaSession notMeRouter requireMfa startMfa verifyRouter email',
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
       kit.apps.enroll(bob.mail)
       await signInWithMfa(agent, { kit, factor: 'app' })
       await look()
       kit.reset()
       console.log(statuses.join(' '))`,
    )
    expect((await project.node('kit.mjs')).trim()).toBe('401 200 401 503 200')
  })

  it('tells all faults of its options at once', async () => {
    await project.write(
      'faults.mjs',
      `import { mfaSession } from 'countersign'
       try { mfaSession({ service: { baseUrl: 'http://10.0.0.7', apiKey: 'short' }, factorz: 1, pendingLoginMs: 5 }) }
       catch (error) { console.log(error.faults.length, error.message) }`,
    )
    const told = await project.node('faults.mjs')
    for (const name of ['service.baseUrl', 'service.apiKey', 'factors', 'factorz', 'pendingLoginMs']) {
      expect(told).toContain(name)
    }
  })

  it('compiles for an app with a user type of its own, without casts', async () => {
    await project.write(
      'own-user.ts',
      `import express, { type Request, type RequestHandler } from 'express'
       import { mfaSession, MfaStrategy, requireMfa, startMfa, type MfaOptions } from 'countersign'
       interface Customer { customerNumber: number; mobile: string }
       const options: MfaOptions<Customer> = {
         service: { baseUrl: 'https://mfa.example.com', apiKey: process.env.KEY },
         userId: (customer) => customer.customerNumber,
         factors: async (customer) => [{ method: 'sms', phone: customer.mobile }],
       }
       mfaSession(options)
       new MfaStrategy(options)
       const app = express()
       app.post('/orders/:id', requireMfa(), (req, res) => void res.send(req.params.id.trim()))
       app.route('/orders/:id').put(requireMfa(), startMfa(options), (req, res) => void res.send(req.params.id.trim()))
       app.delete('/:id', [requireMfa()], (req: Request<{ id: string }, unknown, { why: string }>) => void req.body.why.trim())
       express.Router().use('/admin', requireMfa())
       const rule: RequestHandler = requireMfa()
       void rule
       // @ts-expect-error a method that does not exist
       const wrong: MfaOptions<Customer> = { ...options, factors: () => [{ method: 'pigeon', phone: '+1' }] }
       // @ts-expect-error a misspelt option
       mfaSession({ ...options, pendingLoginMinutes: 5 } satisfies MfaOptions<Customer>)
       // @ts-expect-error a time without a unit
       requireMfa({ maxAge: '5' })
       void wrong`,
    )
    expect(await project.tsc()).toBe('')
  })

  it('compiles for every option, function and kit as they are meant, and for none that is wrong', async () => {
    await project.write(
      'every-option.ts',
      `import type { Request } from 'express'
       import {
         mfaAccount, mfaClient, mfaMetrics, mfaRouter, requireMfa, type AccountNotice, type Compromise, type MfaEvent,
         type MfaOptions, type MfaService, type MfaState, type MfaTexts, type NoticeCatalogue, type PageCatalogue,
         type PolicyDecision, type ItemStore,
       } from 'countersign'
       import { findMfaBypasses, mfaTestKit, signInWithMfa, type MfaTestKit } from 'countersign/testing'

       interface Customer { readonly number: number; readonly mobile: string; readonly email: string; readonly version: number }
       type Options = MfaOptions<Customer>
       declare const req: Request
       declare const customer: Customer
       declare const store: ItemStore
       declare const dutch: PageCatalogue & { notices: NoticeCatalogue }
       declare const service: MfaService
       declare const kit: MfaTestKit
       declare const app: Parameters<typeof findMfaBypasses>[0]['app']

       const all: Options = {
         service: { baseUrl: 'https://mfa.example', apiKey: 'key', dialect: 'countersign', breaker: false, timeoutMs: 900 },
         factors: ({ mobile, email }) => [
           { method: 'sms', phone: mobile, id: 'work', label: 'Work' },
           { method: 'dual', email, phone: mobile },
         ],
         userId: ({ number }) => number,
         appContact: ({ email }) => email,
         policy: async ({ user, login, factors }): Promise<PolicyDecision> =>
           login.via === 'sso' ? 'skip' : factors.length > 0 ? 'require' : { graceUntil: user.version },
         onAppEnrolled: async (user, factor) => void [user.number, factor.user],
         onEvent: (event: MfaEvent) => {
           if (event.type === 'verified') event.afterMs?.toFixed()
           if (event.type === 'warning') event.code satisfies string
         },
         onNotice: async ({ email }, notice: AccountNotice) => void [email, notice.inLanguage('de').text],
         onCompromise: ({ userId, notice }: Compromise) => void [userId.length, notice.subject],
         publicUrl: 'https://app.example',
         noticeStore: 'memory',
         trustedDevices: { store, maxAge: '30d', canTrust: ({ number }, { ip }) => number > 1 && ip !== '', fingerprint: ({ version }) => version },
         place: ({ ip }) => ip,
         preferred: ({ mobile }) => (mobile ? 'work' : undefined),
         render: (view, frame, standard) => (view.page === 'code' ? view.factor + frame.appName : standard(view, frame)),
         locale: (request) => request.get('x-language'),
         languages: { offer: ['en', 'nl'] },
         texts: { en: { choose: { title: 'Is it you?' }, notices: { fine: 'All is well.' } }, nl: dutch },
         limits: { redis: {}, attemptsPerChallenge: 3, resendWaitsSeconds: [30], prefix: 'shop' },
         outage: 'other-factor',
         diagnostics: { ignore: ['MFA_WARN_PATH_PREFIX'] },
         path: '/shop/mfa', pathPrefix: '/shop', signInPath: '/shop/login', open: ['/shop/help'],
         docsUrl: 'https://docs.example', stylesheet: '/own.css', help: 'Call us.', firstFactor: 'pwd',
       }
       mfaRouter(all)
       requireMfa({ maxAge: '5m', methods: ['app', 'backup'], minStrength: 'strong', resume: ['amount'] })
       const account = mfaAccount(all)
       const told: Promise<void>[] = [
         account.factorAdded(req, customer, { method: 'email', email: customer.email }),
         account.renewSession(req, customer),
         account.secure(customer),
       ]
       const count: Promise<number> = account.revokeDevices(customer)
       const median: number | undefined = mfaMetrics(all).timeToVerify.medianMs ?? undefined
       const said = (state: MfaState) => (state.status === 'pending' ? state.expiresAt : state.challenge?.to)
       const words = async () => {
         const answer = await mfaClient({ baseUrl: 'https://mfa.example', apiKey: 'key' }).transcribe({ file: 'a.wav' })
         return answer.outcome === 'transcribed' ? answer.text : answer.refusal.reason
       }
       mfaTestKit().fail('late', { verb: 'verify', times: 2 })
       kit.carrier.refuse('+447700900123')
       kit.apps.code(customer.email, { slowBy: '4m' }) satisfies string
       void signInWithMfa((path, init) => fetch(path, init), { kit, factor: 'sms' })
       void findMfaBypasses({ app, logins: { password: { fields: { name: 'bob' } } }, methods: ['GET'] })
       void [told, count, median, said, words, service]

       // @ts-expect-error a policy that answers something else
       const policy: Options = { ...all, policy: () => 'perhaps' }
       // @ts-expect-error a field that the user does not have
       const preferred: Options = { ...all, preferred: ({ favourite }) => favourite }
       // @ts-expect-error a fingerprint that is neither text nor number
       const fingerprint: Options = { ...all, trustedDevices: { store, fingerprint: () => true } }
       // @ts-expect-error a trust without a store
       const trust: Options = { ...all, trustedDevices: { maxAge: '7d' } }
       // @ts-expect-error a time without a unit
       const age: Options = { ...all, trustedDevices: { store, maxAge: '7' } }
       // @ts-expect-error a store that lacks a step
       const half: Options = { ...all, noticeStore: { read: async () => [] } }
       // @ts-expect-error a finding that there is not
       const doctor: Options = { ...all, diagnostics: { ignore: ['MFA_WARN_WEATHER'] } }
       // @ts-expect-error the doctor is not switched on
       const on: Options = { ...all, doctor: true }
       // @ts-expect-error a way to behave that there is not
       const outage: Options = { ...all, outage: 'open' }
       // @ts-expect-error a text that there is not
       const text: MfaTexts = { en: { notices: { farewell: 'Bye' } } }
       // @ts-expect-error languages that are one text
       const languages: Options = { ...all, languages: { offer: 'en' } }
       // @ts-expect-error a page that is no text
       const render: Options = { ...all, render: () => 42 }
       // @ts-expect-error a limit of another name
       const limit: Options = { ...all, limits: { attempts: 3 } }
       // @ts-expect-error a table without a pool
       const table: Options = { ...all, limits: { postgres: { tableName: 'counters' } } }
       // @ts-expect-error waits that are one number
       const waits: Options = { ...all, limits: { resendWaitsSeconds: 30 } }
       // @ts-expect-error a notice has no code in it
       const notice: Options = { ...all, onNotice: (_user, { code }) => code }
       // @ts-expect-error an event that there is not
       const event: Options = { ...all, onEvent: (one) => one.type === 'birthday' }
       // @ts-expect-error a proof that RFC 8176 does not know
       const first: Options = { ...all, firstFactor: 'dna' }
       // @ts-expect-error a dialect that is half a word
       const dialect: Options = { ...all, service: { baseUrl: '', apiKey: '', dialect: 'counter' } }
       // @ts-expect-error a strength that there is not
       requireMfa({ minStrength: 'mighty' })
       // @ts-expect-error a method that there is not
       requireMfa({ methods: ['pigeon'] })
       // @ts-expect-error fields that are one text
       requireMfa({ resume: 'amount' })
       // @ts-expect-error somebody else's user
       void account.renewSession(req, { id: 7 })
       // @ts-expect-error a factor without a number
       void account.factorRemoved(req, customer, { method: 'sms' })
       // @ts-expect-error only a half-login has an end
       const ends = (state: MfaState) => state.expiresAt
       // @ts-expect-error a service that cannot verify
       const mute: Options = { ...all, service: { send: service.send } }
       // @ts-expect-error a failure that there is not
       kit.fail('sleepy')
       // @ts-expect-error a verb that there is not
       kit.fail('down', { verb: 'guess' })
       // @ts-expect-error a walk without logins
       void findMfaBypasses({ app })
       void [policy, preferred, fingerprint, trust, age, half, doctor, on, outage, text, render, limit, table, waits]
       void [notice, event, first, dialect, ends, mute, languages]`,
    )
    expect(await project.tsc()).toBe('')
  })

  async function writeSamples(path: string): Promise<void> {
    const samples = await samplesOf(path)
    expect(samples.length, path).toBeGreaterThan(0)
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
        (uses('users') || uses('passwordVersion')) && HOST_USERS,
        uses('service') && !/\bservice *[:=]/.test(sample) && 'declare const service: MfaService',
        uses('mfaAccount') &&
          !/import[^\n]*mfaAccount/.test(sample) &&
          "import { mfaAccount } from 'countersign'",
        uses('mfaMetrics') && "import { mfaMetrics } from 'countersign'",
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
  }

  it('compiles every sample of the documents', async () => {
    await Promise.all(DOCUMENTS.map(writeSamples))
    expect(await project.tsc()).toBe('')
  })
})
