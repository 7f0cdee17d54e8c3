import { type CountersignService, createService, OperatorError } from '@countersign/service'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import type { ApplicationSettings } from '../src/accounts/applications/settings.js'
import {
  API_KEY,
  appCode,
  eventually,
  freshEmail,
  freshPhone,
  listen,
  rejection,
  SECRET,
  wrong,
} from './kit.js'

let service: CountersignService
let server: Awaited<ReturnType<typeof listen>>
const events: { event: string; reason?: string }[] = []
beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    delivery: 'inbox',
    logger: (event) => void events.push(event),
  })
  server = await listen(service.api)
})
afterAll(async () => {
  await server.close()
  await service.close()
})
afterEach(() => vi.unstubAllEnvs())

let applications = 0

/** An application with a live key and a test key, and callers that use them. */
async function fresh(settings: ApplicationSettings = {}) {
  const ops = service.operator('ops')
  const name = `app-${++applications}`
  await ops.createApplication(name, settings)
  const [live, tests] = [
    await ops.createKey(name, { mode: 'live' }),
    await ops.createKey(name, { mode: 'test' }),
  ]
  return { name, ops, live: caller(live.key), test: caller(tests.key), keys: { live, test: tests } }
}

function caller(key: string) {
  const headers = { authorization: `Bearer ${key}` }
  const post = async (path: string, parameters: Record<string, string>) => {
    const body = new URLSearchParams(parameters)
    const response = await fetch(`${server.url}/v1/${path}`, { method: 'POST', headers, body })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    send: (User: string, Type: string, more = {}) => post('mfa', { User, Type, ...more }),
    verify: (User: string, Type: string, Code: string, more = {}) =>
      post('mfa/verify', { User, Type, Code, ...more }),
    app: (User: string) => post('mfa/app', { User }),
    factors: (User: string) => post('mfa/factors', { User }),
    backup: (User: string, Type: string) => post('mfa/backup', { User, Type }),
    async inbox(to: string): Promise<{ text: string; to: string }[]> {
      const response = await fetch(`${server.url}/v1/test/inbox?to=${encodeURIComponent(to)}`, { headers })
      return ((await response.json()) as { messages: { text: string; to: string }[] }).messages
    },
    async lastCode(to: string): Promise<string> {
      const [latest] = await this.inbox(to)
      return /\b\d{6,10}\b/.exec(latest?.text ?? '')?.[0] ?? 'no code came'
    },
  }
}

const outcomeOf = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code]

test('finds applications by both of their names, a page at a time, with their valid keys', async () => {
  const ops = service.operator('ops')
  for (const [name, shown] of [
    ['paged-1', 'Alpha Ltd'],
    ['paged-2', 'Beta'],
    ['paged-3', 'alpha'],
  ] as const) {
    await ops.createApplication(name, { name: shown })
  }
  const { id } = await ops.createKey('paged-1', { mode: 'live' })
  await ops.createKey('paged-1', { mode: 'live' })
  await ops.revokeKey('paged-1', id)
  const first = await ops.searchApplications({ search: 'PAGED', limit: 2 })
  expect(first.applications.map(({ application }) => application)).toEqual(['paged-1', 'paged-2'])
  expect(first.applications[0]).toMatchObject({ name: 'Alpha Ltd', liveKeys: 1, testKeys: 0 })
  const second = await ops.searchApplications({ search: 'paged', limit: 2, after: first.next })
  expect(second).toMatchObject({ applications: [{ application: 'paged-3' }] })
  expect(second.next).toBeUndefined()
  const alpha = await ops.searchApplications({ search: 'ALPHA', limit: 10 })
  expect(alpha.applications.map(({ application }) => application)).toEqual(['paged-1', 'paged-3'])
  expect((await ops.searchApplications({ search: '%', limit: 10 })).applications).toEqual([])
  expect(await ops.listApplications()).toEqual(
    expect.arrayContaining([...first.applications, ...second.applications]),
  )
})

describe('two applications', () => {
  test('never accept each other’s codes, with or without a challenge id (R38, R86)', async () => {
    const [a, b] = [await fresh(), await fresh()]
    const { email } = freshEmail()
    const sent = await a.live.send(email, 'EMAIL')
    const code = await a.live.lastCode(email)
    const more = { Challenge: sent.body.challenge }
    for (const other of [b.live, b.test, a.test, caller(API_KEY)]) {
      expect(outcomeOf(await other.verify(email, 'EMAIL', code, more))).toEqual([401, 'invalid_code'])
      expect(outcomeOf(await other.verify(email, 'EMAIL', code))).toEqual([401, 'invalid_code'])
    }
    expect((await a.live.verify(email, 'EMAIL', code, more)).status).toBe(200)
  })

  test('have their own inboxes, apps and backup codes (R86)', async () => {
    const [a, b] = [await fresh(), await fresh()]
    const { email } = freshEmail()
    await a.live.send(email, 'EMAIL')
    expect(await a.live.inbox(email)).toHaveLength(1)
    for (const other of [b.live, b.test, a.test, caller(API_KEY)]) {
      expect(await other.inbox(email)).toEqual([])
    }
    const { body } = await a.live.app(email)
    expect(outcomeOf(await b.live.verify(email, 'APP', appCode(body.secret)))).toEqual([401, 'invalid_code'])
    expect((await a.live.verify(email, 'APP', appCode(body.secret))).status).toBe(200)

    await a.live.backup(email, 'EMAIL')
    const [mail] = await a.live.inbox(email)
    const backup = /([0-9A-Z]{4}-){3}[0-9A-Z]{4}/.exec(mail?.text ?? '')?.[0] ?? ''
    expect((await b.live.verify(email, 'EMAIL', backup)).status).toBe(401)
    expect((await a.live.verify(email, 'EMAIL', backup)).status).toBe(200)
  })

  test('are identified by their keys only, whatever else a request contains (R86)', async () => {
    const [a, b] = [await fresh(), await fresh()]
    const { email } = freshEmail()
    const claims = { Application: a.name, application: a.name, App: a.name, Tenant: a.name }
    const body = new URLSearchParams({ User: email, Type: 'EMAIL', ...claims })
    const response = await fetch(`${server.url}/v1/mfa?${new URLSearchParams(claims)}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${b.keys.live.key}`,
        'x-application': a.name,
        'x-api-key': a.keys.live.key,
        cookie: `application=${a.name}`,
      },
      body,
    })
    expect(response.status).toBe(200)
    expect(await a.live.inbox(email)).toEqual([])
    expect(await b.live.inbox(email)).toHaveLength(1)
  })

  test('count separately: a lock, a budget or a client address of one does not affect the other (R86)', async () => {
    const [a, b] = [await fresh(), await fresh()]
    const { email } = freshEmail()
    const more = { Account: 'ann', ClientAddress: '192.0.2.7' }
    for (let i = 0; i < 10; i++) await a.live.verify(email, 'APP', '123456', more)
    expect(outcomeOf(await a.live.verify(email, 'APP', '123456', more))).toEqual([429, 'locked'])
    for (const other of [b.live, b.test, a.test]) {
      expect(outcomeOf(await other.verify(email, 'APP', '123456', more))).toEqual([401, 'invalid_code'])
    }
    const again = freshEmail().email
    for (let i = 0; i < 5; i++) await a.live.send(again, 'EMAIL', { ClientAddress: '192.0.2.7' })
    expect(outcomeOf(await a.live.send(again, 'EMAIL'))).toEqual([429, 'limited'])
    for (const other of [b.live, b.test, a.test]) expect((await other.send(again, 'EMAIL')).status).toBe(200)
  })
})

describe('an API key', () => {
  test('has 256 random bits and a checksum, and is stored only as a hash (R85)', async () => {
    const { keys, name, ops } = await fresh()
    expect(keys.live.key).toMatch(/^mfa_live_[0-9A-Za-z]{49}$/)
    expect(keys.test.key).toMatch(/^mfa_test_[0-9A-Za-z]{49}$/)
    const listed = await ops.listKeys(name)
    expect(listed).toHaveLength(2)
    expect(JSON.stringify([listed, await ops.listAudit({ limit: 100 })])).not.toContain(
      keys.live.key.slice(9, 49),
    )
  })

  test('is refused if a character differs, or if it belongs to no application', async () => {
    const { keys } = await fresh()
    const { key } = keys.live
    const other = `${key.slice(0, 20)}${key[20] === 'x' ? 'y' : 'x'}${key.slice(21)}`
    for (const one of [other, key.slice(0, -1), `${key}0`, key.replace('live', 'test')]) {
      expect(outcomeOf(await caller(one).send(freshEmail().email, 'EMAIL'))).toEqual([401, 'invalid_api_key'])
    }
  })

  test('is revoked immediately, and the application’s other keys stay valid (R85)', async () => {
    const { name, ops, keys, live, test: tests } = await fresh()
    const second = await ops.createKey(name, { mode: 'live', label: 'after the rotation' })
    expect((await live.send(freshEmail().email, 'EMAIL')).status).toBe(200)
    await ops.revokeKey(name, keys.live.id)
    expect(outcomeOf(await live.send(freshEmail().email, 'EMAIL'))).toEqual([401, 'invalid_api_key'])
    expect((await caller(second.key).send(freshEmail().email, 'EMAIL')).status).toBe(200)
    expect((await tests.send(freshEmail().email, 'EMAIL')).status).toBe(200)
    const again = await rejection(ops.revokeKey(name, keys.live.id))
    expect(again).toBeInstanceOf(OperatorError)
    const listed = await ops.listKeys(name)
    expect(listed.find(({ id }) => id === keys.live.id)?.revokedAt).toEqual(expect.any(Number))
  })

  test('records its last use to the hour', async () => {
    const { name, ops, live } = await fresh()
    await live.send(freshEmail().email, 'EMAIL')
    await eventually(async () => {
      const used = (await ops.listKeys(name)).map(({ lastUsedAt }) => lastUsedAt)
      expect(used).toContainEqual(Date.now() - (Date.now() % 3_600_000))
      expect(used).toContain(null)
    })
  })

  test('of one application revokes nothing of another (R86)', async () => {
    const [a, b] = [await fresh(), await fresh()]
    await rejection(b.ops.revokeKey(b.name, a.keys.live.id))
    expect((await a.live.send(freshEmail().email, 'EMAIL')).status).toBe(200)
  })
})

describe('settings', () => {
  test('that switch a method off stop sending and verifying by it immediately, with an explanation (R48)', async () => {
    const { live, ops, name } = await fresh()
    const { email } = freshEmail()
    await live.send(email, 'EMAIL')
    const code = await live.lastCode(email)
    await ops.changeSettings(name, { set: { methods: ['app', 'sms'] } })
    const sending = await live.send(email, 'EMAIL')
    expect([...outcomeOf(sending), sending.body.detail]).toEqual([
      403,
      'method_off',
      'EMAIL is switched off for this application.',
    ])
    expect(outcomeOf(await live.verify(email, 'EMAIL', code))).toEqual([403, 'method_off'])
    expect(outcomeOf(await live.backup(email, 'EMAIL'))).toEqual([403, 'method_off'])
    for (const Type of ['WHATSAPP', 'CALL']) {
      expect(outcomeOf(await live.send(freshPhone().phone, Type))).toEqual([403, 'method_off'])
    }
    const { phone } = freshPhone()
    expect((await live.send(phone, 'SMS')).status).toBe(200)
    expect((await live.verify(phone, 'PHONE', await live.lastCode(phone))).status).toBe(200)
    const { body } = await live.app(email)
    expect((await live.verify(email, 'APP', appCode(body.secret))).status).toBe(200)
  })

  test('that switch every method off switch authenticator apps off, too, and the accounts keep theirs (R48, R132)', async () => {
    const { live, ops, name } = await fresh({ tier: 'enterprise' })
    const [{ email }, { phone }] = [freshEmail(), freshPhone()]
    const both = `${email}:${phone}`
    const users = { EMAIL: email, SMS: phone, WHATSAPP: phone, CALL: phone, DUAL: both }
    const off = [403, 'method_off']
    await ops.changeSettings(name, { set: { methods: [] } })
    for (const [Type, user] of Object.entries(users))
      expect(outcomeOf(await live.send(user, Type))).toEqual(off)
    for (const Type of ['EMAIL', 'SMS', 'DUAL'] as const) {
      expect(outcomeOf(await live.backup(users[Type], Type))).toEqual(off)
    }
    for (const [user, Type] of [
      [email, 'EMAIL'],
      [phone, 'PHONE'],
      [both, 'DUAL'],
    ] as const) {
      expect(outcomeOf(await live.verify(user, Type, '123456'))).toEqual(off)
    }
    for (const to of [email, phone]) expect(await live.inbox(to)).toEqual([])

    expect(outcomeOf(await live.app(email))).toEqual(off)
    expect(outcomeOf(await live.verify(email, 'APP', '123456'))).toEqual(off)
    await ops.changeSettings(name, { unset: ['methods'] })
    const { body } = await live.app(email)
    expect((await live.verify(email, 'APP', appCode(body.secret))).status).toBe(200)
    await ops.changeSettings(name, { set: { methods: ['email'] }, lockOut: true })
    const { body: detail } = await live.verify(email, 'APP', appCode(body.secret))
    expect(detail).toMatchObject({ code: 'method_off', detail: 'APP is switched off for this application.' })
    expect((await live.factors(email)).body.existing).toEqual([{ type: 'APP', usable: false, digits: 6 }])
    for (const user of [email, freshEmail().email]) expect(outcomeOf(await live.app(user))).toEqual(off)
  })

  test('allow DUAL only in the enterprise tier, with an explanation', async () => {
    const { live, ops, name } = await fresh()
    const user = `${freshEmail().email}:${freshPhone().phone}`
    const refused = await live.send(user, 'DUAL')
    expect(outcomeOf(refused)).toEqual([403, 'method_off'])
    expect(refused.body.detail).toContain('enterprise tier')
    expect(outcomeOf(await live.verify(user, 'DUAL', '123456'))).toEqual([403, 'method_off'])
    expect(outcomeOf(await live.backup(user, 'DUAL'))).toEqual([403, 'method_off'])
    await ops.changeSettings(name, { set: { tier: 'enterprise' } })
    expect((await live.send(user, 'DUAL')).status).toBe(200)
  })

  test('determine codes, backup codes, texts and the line for browsers', async () => {
    const { live } = await fresh({
      name: 'Acme',
      origin: 'login.acme.example',
      locale: 'de',
      codeDigits: 8,
      codeLifetime: '2m',
      backupCodes: 8,
      backupCodeLength: 20,
    })
    const { phone } = freshPhone()
    const sent = await live.send(phone, 'SMS')
    expect(sent.body.expires_in).toBe(120)
    const [message] = await live.inbox(phone)
    expect(message?.text).toMatch(/Acme-Code[\s\S]*\n\n@login\.acme\.example #\d{8}$/)
    expect((await live.verify(phone, 'PHONE', await live.lastCode(phone))).status).toBe(200)
    expect((await live.backup(phone, 'SMS')).body.count).toBe(8)
    const [backup] = await live.inbox(phone)
    expect(backup?.text.match(/\b([0-9A-Z]{4}-){4}[0-9A-Z]{4}\b/g)).toHaveLength(8)
    expect((await live.app(phone)).body.otpauth_uri).toContain('issuer=Acme')
  })

  test('set limits for one application only', async () => {
    const [strict, other] = [await fresh({ attemptsPerChallenge: 3, sendsPerTenMinutes: 1 }), await fresh()]
    for (const [{ live }, attempts, messages] of [
      [strict, 3, 1],
      [other, 5, 5],
    ] as const) {
      const { email } = freshEmail()
      for (let i = 0; i < messages; i++) expect((await live.send(email, 'EMAIL')).status).toBe(200)
      expect(outcomeOf(await live.send(email, 'EMAIL'))).toEqual([429, 'limited'])
      const code = await live.lastCode(email)
      for (let i = 0; i < attempts; i++) await live.verify(email, 'EMAIL', wrong(code))
      expect((await live.verify(email, 'EMAIL', code)).status).toBe(401)
    }
  })

  test('replace texts of messages, which are checked before they are stored', async () => {
    const { name, ops, live } = await fresh()
    const { email } = freshEmail()
    const subject = '{app}: {code}'
    const text = 'Code {code} von {app} {purpose}, {minutes}.'
    await ops.changeSettings(name, { set: { texts: { de: { code: { subject, text } } } } })
    expect((await live.send(email, 'EMAIL', { Locale: 'de' })).status).toBe(200)
    expect((await live.inbox(email))[0]?.text).toMatch(
      /^Code \d{6} von app-\d+ zum Anmelden, 10 Minuten\.\n$/,
    )
    const broken = { texts: { de: { code: { text: 'Code {code}' } } } }
    for (const refused of [
      ops.changeSettings(name, { set: broken }),
      ops.createApplication(`${name}-2`, broken),
    ]) {
      const error = await rejection(refused)
      expect(error).toBeInstanceOf(OperatorError)
      expect(error.message).toContain('texts.de.code.text must contain {app} and {purpose} and {minutes}.')
    }
    const stored = (await ops.showSettings(name)).find((setting) => setting.name === 'texts')
    expect(JSON.parse(stored?.value ?? '')).toEqual({ de: { code: { subject, text } } })
    expect(
      (await ops.listAudit({ application: name, limit: 10 })).some(({ detail }) => detail === 'texts=de'),
    ).toBe(true)
  })

  test('limit messages and attempts, and determine how long codes and locks last', async () => {
    const { phone } = freshPhone()
    const { email } = freshEmail()
    const short = await fresh({
      emailCodeLifetime: '90s',
      resendDelay: '20s',
      failuresBeforeLock: 5,
      lockDuration: '15m',
    })
    expect((await short.live.send(email, 'EMAIL')).body).toMatchObject({ expires_in: 90, resend_in: 20 })
    for (let i = 0; i < 5; i++) await short.live.verify(email, 'APP', '123456')
    const locked = await short.live.verify(email, 'APP', '123456')
    expect(outcomeOf(locked)).toEqual([429, 'locked'])
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(900)

    const perDestination = await fresh({ sendsPerDestinationHour: 1 })
    const perClient = await fresh({ sendsPerClientHour: 1 })
    const perDay = await fresh({ sendsPerDay: 1 })
    const inAll = await fresh({ sendsPerApplicationDay: 1 })
    const other = freshPhone().phone
    for (const [{ live }, first, second] of [
      [perDestination, [phone, { Account: 'ann' }], [phone, { Account: 'ben' }]],
      [perClient, [phone, { ClientAddress: '192.0.2.9' }], [other, { ClientAddress: '192.0.2.9' }]],
      [perDay, [phone, { Account: 'ann' }], [other, { Account: 'ann' }]],
      [inAll, [phone, {}], [other, {}]],
    ] as const) {
      expect((await live.send(first[0], 'SMS', first[1])).status).toBe(200)
      expect(outcomeOf(await live.send(second[0], 'SMS', second[1]))).toEqual([429, 'limited'])
    }
  })

  test('restrict the countries that are served', async () => {
    const { live, ops, name } = await fresh({ countries: ['GB', 'DE'] })
    expect((await live.send('+4915112345678', 'SMS')).status).toBe(200)
    expect((await live.send(freshPhone().phone, 'SMS')).status).toBe(200)
    const abroad = await live.send('+12025550123', 'SMS')
    expect(outcomeOf(abroad)).toEqual([422, 'contact_refused'])
    expect(abroad.body.detail).toBe(
      'The phone number belongs to a country that this application does not serve.',
    )
    expect(outcomeOf(await live.backup('+12025550123', 'SMS'))).toEqual([422, 'contact_refused'])
    expect(outcomeOf(await live.send('+12025550123', 'CALL'))).toEqual([422, 'contact_refused'])
    await ops.changeSettings(name, { unset: ['countries'] })
    expect((await live.send('+12025550123', 'SMS')).status).toBe(200)
  })

  test('send no account notice to a number that gets no code (R103)', async () => {
    const { live } = await fresh({ countries: ['GB'] })
    const bindApp = async (phone: string) => {
      const { body } = await live.app(phone)
      expect((await live.verify(phone, 'APP', appCode(body.secret), { Kind: 'CONFIRM' })).status).toBe(200)
    }
    await bindApp('+12025550188')
    await bindApp('+447400123999')
    await eventually(async () => expect(await live.inbox('+447400123999')).toHaveLength(1))
    expect(await live.inbox('+12025550188')).toEqual([])
  })

  test('include all countries only when that is said (R103)', async () => {
    const { ops, name } = await fresh({ countries: [] })
    const shown = async () => (await ops.showSettings(name)).find((one) => one.name === 'countries')
    expect(await shown()).toMatchObject({ value: 'all', from: 'set' })
    const atHome = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      delivery: 'inbox',
      homeCountry: 'GB',
      logger: () => {},
    })
    const to = (phone: string) => atHome.mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })
    expect(await to('+4915112345678')).toMatchObject({ refusal: { reason: 'contact_refused' } })
    expect(await to('+447400123456')).toMatchObject({ outcome: 'sent' })
    const own = atHome.operator('ops')
    await own.createApplication('new')
    const [countries] = (await own.showSettings('new')).filter((one) => one.name === 'countries')
    expect(countries).toMatchObject({ value: 'GB', from: 'set' })
    await atHome.close()
  })

  test('switch off notices that the app sends itself', async () => {
    const { live, ops, name } = await fresh({ notices: ['locked'] })
    const { email } = freshEmail()
    await live.send(email, 'EMAIL')
    await live.verify(email, 'EMAIL', await live.lastCode(email))
    const bind = async () => {
      const { body } = await live.app(email)
      await live.verify(email, 'APP', appCode(body.secret), { Kind: 'CONFIRM' })
      return (await live.inbox(email)).map(({ text }) => text)
    }
    expect((await bind()).join()).not.toContain('authenticator app')
    await ops.changeSettings(name, { unset: ['notices'] })
    expect((await bind())[0]).toContain('An authenticator app was set up')
  })

  test('of the application default override those of the environment, in process too', async () => {
    const ops = service.operator('ops')
    const { phone } = freshPhone()
    await ops.changeSettings('default', { set: { methods: ['email'] } })
    expect(await service.mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })).toMatchObject({
      refusal: { reason: 'method_off' },
    })
    expect(outcomeOf(await caller(API_KEY).send(phone, 'SMS'))).toEqual([403, 'method_off'])
    await ops.changeSettings('default', { unset: ['methods'] })
    expect(await service.mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })).toMatchObject({
      outcome: 'sent',
    })
  })

  test('that are invalid are refused and change nothing', () =>
    everyCase(
      [
        { attemptsPerChallenge: 2 },
        { codeDigits: 5 },
        { backupCodes: 7 },
        { lockDuration: '899s' },
        { countries: ['XX'] },
        { origin: 'https://x' },
        { name: '' },
        { locale: 'tlh' },
        { tier: 'gold' },
        { notices: ['birthday'] },
        { methods: ['pigeon'] },
      ],
      async (set) => {
        const { ops, name } = await fresh()
        const before = await ops.showSettings(name)
        await rejection(ops.changeSettings(name, { set: set as ApplicationSettings }))
        expect(await ops.showSettings(name)).toEqual(before)
      },
    ))
})

describe('a test key', () => {
  const MAILBOXES = [
    ['refused@test.invalid', 422, 'contact_refused'],
    ['fail@test.invalid', 502, 'delivery_failed'],
    ['limit@test.invalid', 429, 'limited'],
    ['locked@test.invalid', 429, 'locked'],
    ['disabled@test.invalid', 403, 'factor_disabled'],
  ] as const
  const NUMBERS = [
    ['+15005550001', 422, 'contact_refused'],
    ['+15005550002', 502, 'delivery_failed'],
    ['+15005550003', 429, 'limited'],
    ['+15005550004', 429, 'locked'],
    ['+15005550005', 403, 'factor_disabled'],
  ] as const

  test.each([
    ...MAILBOXES.map((row) => [...row, 'EMAIL'] as const),
    ...NUMBERS.map((row) => [...row, 'SMS'] as const),
  ])('simulates for %s the response %i %s', async (user, status, code, type) => {
    const { test: tests, live } = await fresh()
    const sent = await tests.send(user, type)
    expect(outcomeOf(sent)).toEqual([status, code])
    if (status === 429) expect(sent.headers.get('retry-after')).toBe('600')
    expect(outcomeOf(await tests.backup(user, type))).toEqual([status, code])
    // For live keys these are ordinary contacts. The area code +1 500 is for personal numbers, which get no messages.
    const forLive = outcomeOf(await live.send(user, type))
    if (user.startsWith('+1500')) expect(forLive).toEqual([422, 'contact_refused'])
    else expect(forLive).not.toEqual([status, code])
  })

  test('simulates a locked, disabled or expired verification by the contact', async () => {
    const { test: tests } = await fresh()
    expect(outcomeOf(await tests.verify('locked@test.invalid', 'EMAIL', '424242'))).toEqual([429, 'locked'])
    expect(outcomeOf(await tests.verify('+15005550005', 'PHONE', '424242'))).toEqual([403, 'factor_disabled'])
    for (const [user, type, as] of [
      ['expired@test.invalid', 'EMAIL', 'EMAIL'],
      ['+15005550008', 'SMS', 'PHONE'],
    ] as const) {
      expect((await tests.send(user, type)).status).toBe(200)
      for (const code of ['424242', await tests.lastCode(user)]) {
        expect(outcomeOf(await tests.verify(user, as, code))).toEqual([401, 'invalid_code'])
      }
    }
  })

  test('simulates a queued message by the contact', async () => {
    const { test: tests } = await fresh()
    for (const [user, type] of [
      ['queued@test.invalid', 'EMAIL'],
      ['+15005550007', 'SMS'],
    ] as const) {
      expect((await tests.send(user, type)).body.status).toBe('queued')
      expect(await tests.inbox(user)).toEqual([])
    }
  })

  test('delivers nothing: its messages are in its inbox, whatever carriers are configured', async () => {
    const received: string[] = []
    const hook = await listen((request, response) => {
      request.on('data', (chunk) => received.push(String(chunk)))
      request.on('end', () => response.writeHead(200).end())
    })
    const other = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      apiKey: API_KEY,
      delivery: `sms=${hook.url}`,
      logger: () => {},
    })
    const api = await listen(other.api)
    const ops = other.operator('ops')
    const { key } = await ops.createKey('default', { mode: 'test' })
    const call = (path: string, bearer: string, parameters?: Record<string, string>) =>
      fetch(`${api.url}/v1/${path}`, {
        headers: { authorization: `Bearer ${bearer}` },
        ...(parameters && { method: 'POST', body: new URLSearchParams(parameters) }),
      })
    const { phone } = freshPhone()
    expect((await call('mfa', key, { User: phone, Type: 'SMS' })).status).toBe(200)
    // No carrier serves email here, but test keys have every method.
    expect((await call('mfa', key, { User: freshEmail().email, Type: 'EMAIL' })).status).toBe(200)
    expect(received).toEqual([])
    const { messages } = (await (await call('test/inbox', key)).json()) as { messages: unknown[] }
    expect(messages).toHaveLength(2)
    expect((await call('test/inbox', API_KEY)).status).toBe(404)
    expect((await call('mfa', API_KEY, { User: phone, Type: 'SMS' })).status).toBe(200)
    expect(received).toHaveLength(1)
    await api.close()
    await other.close()
    await hook.close()
  })

  test('accepts 424242 once for every active challenge, and for every app; a live key never does', async () => {
    const { test: tests, live } = await fresh({ codeDigits: 8 })
    const { phone } = freshPhone()
    expect(outcomeOf(await tests.verify(phone, 'PHONE', '424242'))).toEqual([401, 'invalid_code'])
    await tests.send(phone, 'SMS')
    expect((await tests.verify(phone, 'PHONE', '424242')).status).toBe(200)
    expect(outcomeOf(await tests.verify(phone, 'PHONE', '424242'))).toEqual([401, 'invalid_code'])

    const { email } = freshEmail()
    expect(outcomeOf(await tests.verify(email, 'APP', '424242'))).toEqual([401, 'invalid_code'])
    await tests.app(email)
    for (let i = 0; i < 3; i++) expect((await tests.verify(email, 'APP', '424242')).status).toBe(200)

    await live.send(phone, 'SMS')
    await live.app(email)
    expect(outcomeOf(await live.verify(phone, 'PHONE', '424242'))).toEqual([401, 'invalid_code'])
    const code = appCode((await live.app(email)).body.secret)
    if (code !== '424242') expect((await live.verify(email, 'APP', '424242')).status).toBe(401)
  })

  test('is refused in production unless it is allowed', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const start = (allowTestKeysInProduction: boolean) =>
      createService({
        dataDir: 'memory://',
        secret: SECRET,
        delivery: 'https://hook.example',
        allowTestKeysInProduction,
        logger: (event) => void events.push(event),
      })
    for (const [allowed, status] of [
      [false, 401],
      [true, 200],
    ] as const) {
      const other = await start(allowed)
      const api = await listen(other.api)
      const { key } = await other.operator('ops').createKey('default', { mode: 'test' })
      const response = await fetch(`${api.url}/v1/test/inbox`, {
        headers: { authorization: `Bearer ${key}` },
      })
      expect(response.status).toBe(status)
      await api.close()
      await other.close()
    }
    expect(events.find(({ event }) => event === 'key.refused')?.reason).toContain(
      'SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION',
    )
  })
})
