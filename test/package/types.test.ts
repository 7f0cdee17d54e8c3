import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Consumer,
  consumer,
  EXPRESS_5_TYPES,
  EXPRESS_APP,
  installService,
  STRICT_TSCONFIG,
} from './kit.js'

describe('the types of the package', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, ...EXPRESS_5_TYPES })
    await project.write('package.json', JSON.stringify({ type: 'module' }))
    await project.write('tsconfig.json', JSON.stringify(STRICT_TSCONFIG))
  })

  afterAll(() => project.dispose())

  it('compile for an app with its own user type, without casts', async () => {
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

  it('compile for correct uses of every option, function and kit, and for no incorrect one', async () => {
    await project.write(
      'every-option.ts',
      `import type { Request } from 'express'
       import {
         createMfa, mfaRouter, requireMfa, type AccountNotice, type Compromise, type MfaEvent,
         type MfaOptions, type MfaService, type MfaState, type MfaTexts, type NoticeCatalogue, type PageCatalogue,
         type PolicyDecision, type CounterStore, type ItemStore, type StoreConfig,
       } from 'countersign'
       import { createSpeechClient } from 'countersign/speech'
       import { findMfaBypasses, mfaTestKit, signInWithMfa, type MfaTestKit } from 'countersign/testing'

       interface Customer { readonly number: number; readonly mobile: string; readonly email: string; readonly version: number }
       type Options = MfaOptions<Customer>
       declare const req: Request
       declare const customer: Customer
       declare const store: ItemStore
       declare const counters: CounterStore
       declare const client: Extract<StoreConfig, { redis: unknown }>['redis']
       declare const dutch: PageCatalogue & { notices: NoticeCatalogue }
       declare const service: MfaService
       declare const kit: MfaTestKit
       declare const app: Parameters<typeof findMfaBypasses>[0]['app']

       const all: Options = {
         service: { baseUrl: 'https://mfa.example', apiKey: 'key', dialect: 'countersign', breaker: { failures: 3 }, timeout: 900 },
         factors: ({ mobile, email }) => [
           { method: 'sms', phone: mobile, id: 'work', label: 'Work' },
           { method: 'dual', email, phone: mobile },
         ],
         userId: ({ number }) => number,
         appContact: ({ email }) => email,
         policy: async ({ user, login, factors }): Promise<PolicyDecision> =>
           login.via === 'sso' ? 'skip' : factors.length > 0 ? 'require' : { graceUntil: user.version },
         onFactorsChanged: async (user, { app, keys, backupCodes }) => void [user.number, app || keys || backupCodes],
         recordedFactors: async ({ number }) => (number > 1 ? { app: true, keys: false, backupCodes: false } : undefined),
         onEvent: (event: MfaEvent) => {
           if (event.type === 'verified') event.afterMs?.toFixed()
           if (event.type === 'warning') event.code satisfies string
         },
         notices: {
           onNotice: async ({ email }, notice: AccountNotice) => void [email, notice.inLanguage('de').text],
           onCompromise: ({ userId, notice }: Compromise) => void [userId.length, notice.subject],
           store: 'memory',
         },
         trustedDevices: { store, maxAge: '30d', canTrust: ({ number }, { ip }) => number > 1 && ip !== '', fingerprint: ({ version }) => version },
         location: ({ ip }) => ip,
         pages: {
           accountName: ({ email }) => email,
           preferred: ({ mobile }) => (mobile ? 'work' : undefined),
           render: (view, frame, standard) => (view.page === 'code' ? view.factor + frame.appName : standard(view, frame)),
           stylesheet: '/own.css', help: 'Call us.',
         },
         languages: {
           locale: (request) => request.get('x-language'),
           offer: ['en', 'nl'],
           texts: { en: { choose: { title: 'Is it you?' }, notices: { fine: 'All is well.' } }, nl: dutch },
         },
         limits: { store: { redis: client, prefix: 'shop' }, attemptsPerChallenge: 3, resendWaits: ['30s', 60_000], codeLifetime: '5m' },
         outage: { offer: 'other-factor' },
         diagnostics: { ignore: ['MFA_WARN_PATH_PREFIX'] },
         urls: { path: '/shop/mfa', pathPrefix: '/shop', publicUrl: 'https://app.example' },
         login: { signInPath: '/shop/login', pendingPaths: ['/shop/help'], pendingLifetime: '5m', issuers: { self: { amr: { hwk: 'phishing-resistant' } } } },
       }
       const mfa = createMfa(all)
       mfaRouter(mfa)
       requireMfa({ maxAge: '5m', methods: ['app', 'backup'], minStrength: 'strong', resume: ['amount'] })
       const { account } = mfa
       const changes: Promise<void>[] = [
         account.factorAdded(req, customer, { method: 'email', email: customer.email }),
         account.renewSession(req, customer),
         account.secure(customer),
       ]
       const count: Promise<number> = account.revokeDevices(customer)
       const median: number | undefined = mfa.metrics().timeToVerify.medianMs ?? undefined
       const endOf = (state: MfaState) => (state.status === 'pending' ? state.expiresAt : state.challenge?.to)
       const transcript = async () => {
         const answer = await createSpeechClient({ baseUrl: 'https://mfa.example', apiKey: 'key' }).transcribe({ file: 'a.wav' })
         return answer.outcome === 'transcribed' ? answer.text : answer.refusal.reason
       }
       mfaTestKit().fail('late', { verb: 'verify', times: 2 })
       kit.carrier.refuse('+447700900123')
       kit.apps.code(customer.email, { slowBy: '4m' }) satisfies string
       void signInWithMfa((path, init) => fetch(path, init), { kit, factor: 'sms' })
       void findMfaBypasses({ app, logins: { password: { fields: { name: 'bob' } } }, methods: ['GET'] })
       const counted: Options = { ...all, limits: { store: counters } }
       void [changes, count, median, endOf, transcript, service, counted]

       // @ts-expect-error a policy with an unknown decision
       const policy: Options = { ...all, policy: () => 'perhaps' }
       // @ts-expect-error a field that the user does not have
       const preferred: Options = { ...all, pages: { preferred: ({ favourite }) => favourite } }
       // @ts-expect-error a fingerprint that is neither text nor number
       const fingerprint: Options = { ...all, trustedDevices: { store, fingerprint: () => true } }
       // @ts-expect-error a user type without an id requires userId
       const nameless: Options = { service: all.service, factors: all.factors }
       // @ts-expect-error trusted devices without a store
       const trust: Options = { ...all, trustedDevices: { maxAge: '7d' } }
       // @ts-expect-error a time without a unit
       const age: Options = { ...all, trustedDevices: { store, maxAge: '7' } }
       // @ts-expect-error an incomplete store
       const half: Options = { ...all, notices: { store: { read: async () => [] } } }
       // @ts-expect-error an unknown warning
       const warnings: Options = { ...all, diagnostics: { ignore: ['MFA_WARN_WEATHER'] } }
       // @ts-expect-error the only boolean value is false
       const on: Options = { ...all, diagnostics: true }
       // @ts-expect-error an unknown behavior
       const outage: Options = { ...all, outage: { offer: 'open' } }
       // @ts-expect-error an unknown text
       const text: MfaTexts = { en: { notices: { farewell: 'Bye' } } }
       // @ts-expect-error languages as a string
       const languages: Options = { ...all, languages: { offer: 'en' } }
       // @ts-expect-error a page that is not a string
       const render: Options = { ...all, pages: { render: () => 42 } }
       // @ts-expect-error an unknown limit
       const limit: Options = { ...all, limits: { attempts: 3 } }
       // @ts-expect-error a table without a pool
       const table: Options = { ...all, limits: { store: { postgres: { tableName: 'counters' } } } }
       // @ts-expect-error waits that are not a list
       const waits: Options = { ...all, limits: { resendWaits: '30s' } }
       // @ts-expect-error a notice has no code in it
       const notice: Options = { ...all, notices: { onNotice: (_user, { code }) => code } }
       // @ts-expect-error an unknown event
       const event: Options = { ...all, onEvent: (one) => one.type === 'birthday' }
       // @ts-expect-error a value that RFC 8176 does not define
       const first: Options = { ...all, login: { issuers: { self: { amr: { hwk: 'best' } } } } }
       // @ts-expect-error an unknown dialect
       const dialect: Options = { ...all, service: { baseUrl: '', apiKey: '', dialect: 'counter' } }
       // @ts-expect-error an unknown strength
       requireMfa({ minStrength: 'mighty' })
       // @ts-expect-error an unknown method
       requireMfa({ methods: ['pigeon'] })
       // @ts-expect-error fields as a string
       requireMfa({ resume: 'amount' })
       // @ts-expect-error a user of another type
       void account.renewSession(req, { id: 7 })
       // @ts-expect-error a factor without a number
       void account.factorRemoved(req, customer, { method: 'sms' })
       // @ts-expect-error only a pending login has expiresAt
       const ends = (state: MfaState) => state.expiresAt
       // @ts-expect-error a service that cannot verify
       const mute: Options = { ...all, service: { send: service.send } }
       // @ts-expect-error an unknown failure
       kit.fail('sleepy')
       // @ts-expect-error an unknown verb
       kit.fail('down', { verb: 'guess' })
       // @ts-expect-error a probe without logins
       void findMfaBypasses({ app })
       void [policy, preferred, fingerprint, trust, age, half, warnings, on, outage, text, render, limit, table, waits]
       void [nameless, notice, event, first, dialect, ends, mute, languages]`,
    )
    expect(await project.tsc()).toBe('')
  })
})

describe('the types of the service', () => {
  it('compile with every declaration checked, in TypeScript 5.4 and in the newest, without types of its database drivers', async () => {
    const project = await consumer({ ...EXPRESS_APP, ...EXPRESS_5_TYPES })
    await installService(project)
    await project.write('package.json', JSON.stringify({ type: 'module' }))
    await project.write('tsconfig.json', JSON.stringify(STRICT_TSCONFIG))
    await project.write(
      'app.ts',
      `import { createService, embeddedDatabase, type ServiceOptions } from '@countersign/service'
       import { createMfa } from 'countersign'
       const options: ServiceOptions = { dataDir: 'memory://', secret: 'x'.repeat(32), delivery: 'inbox', databasePoolSize: 5 }
       const { mfa, api } = await createService(options)
       createMfa<{ id: string; phone: string }>({ service: mfa, factors: ({ phone }) => [{ method: 'sms', phone }] })
       api.listen(8080)
       void embeddedDatabase('memory://').then(({ query }) => query('SELECT 1'))`,
    )
    expect(await project.tsc()).toBe('')
    // Most apps in CommonJS have node16, where TypeScript lets them require no ES module.
    await project.write(
      'commonjs.cts',
      `import { ConfigurationError, developmentSecret, startService, type ServiceOptions } from '@countersign/service'
       import { createMfa } from 'countersign'
       const options: ServiceOptions = { dataDir: '.data', secret: developmentSecret('.data'), delivery: 'inbox' }
       const { mfa, started } = startService(options)
       createMfa<{ id: string; phone: string }>({ service: mfa, factors: ({ phone }) => [{ method: 'sms', phone }] })
       void started.then(({ api }) => api.listen(8080), (error: ConfigurationError) => console.error(error.message))
       // @ts-expect-error a number is no folder, so the types were found
       developmentSecret(1)`,
    )
    const node16 = { ...STRICT_TSCONFIG.compilerOptions, target: 'es2022', module: 'node16' }
    await project.write('node16.json', JSON.stringify({ ...STRICT_TSCONFIG, compilerOptions: node16 }))
    // TypeScript 5.4 resolves modules for nodenext as for node16.
    expect(await project.tsc54('node16.json')).toBe('')
    expect(await project.tsc('node16.json')).toBe('')
    await project.dispose()
  })
})
