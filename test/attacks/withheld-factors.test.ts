import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { totp } from '../contract/totp.js'
import { addKey, assertion, PAGE } from '../keys/kit.js'
import { approveChange, byCode, sendApproved } from '../kit/approved-change.js'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, EMPTY_RECORD, type Host, host, jsonAgent, signIn, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/*
 * The attacker knows the password of a user with a second factor, and uses the time in which that factor is switched off. The service
 * is the self-hosted one, in this process; everything that the attacker does is a request to the app.
 */

const opened = createService({
  dataDir: 'memory://',
  secret: 'a secret for factors that are withheld, long enough',
  applicationName: 'Testbed',
  transcriber: 'off',
  delivery: { email: 'inbox', sms: 'inbox' },
})
afterAll(async () => (await opened).close())

const change = async (changes: Parameters<ReturnType<CountersignService['operator']>['changeSettings']>[1]) =>
  (await opened).operator('ada').changeSettings('default', changes)

const switchOn = () =>
  change({
    set: { relyingPartyId: 'vault.example', relyingPartyOrigins: ['https://vault.example'] },
    unset: ['methods'],
  })
const switchMethodsOff = () => change({ set: { methods: ['app', 'email', 'sms'] }, lockOut: true })
const switchAppsOff = () => change({ set: { methods: ['email', 'sms'] }, lockOut: true })
const loseRelyingParty = () => change({ unset: ['relyingPartyId', 'relyingPartyOrigins'], lockOut: true })

beforeEach(switchOn)

let users = 0

/** An app with one user. `open` starts it, and starts it again with other options. */
async function app(factors: TestUser['factors'] = [], options: Partial<MfaOptions<TestUser>> = {}) {
  users += 1
  const victim = { id: `u-${users}`, email: `user-${users}@example.com`, factors }
  const { mfa: service } = await opened
  const open = (more: Partial<MfaOptions<TestUser>> = {}): Host => {
    const made = host({ options: { service, ...options, ...more } })
    made.users.victim = victim
    return made
  }
  return { victim, open }
}

/** An app whose user has a key, and what `factors` lists. */
async function appWithKey(
  method: 'passkey' | 'security-key' = 'passkey',
  factors: TestUser['factors'] = [],
  options: Partial<MfaOptions<TestUser>> = {},
) {
  const { victim, open } = await app(factors, options)
  const made = open()
  const owner = await signIn(made.app, 'victim')
  if (factors.length > 0) {
    await showCode(owner)
    await approveChange(owner, '/mfa/keys/options', byCode(owner, newestCode), { method })
  }
  const { device } = await addKey(owner, method)
  return { victim, open, owner, device }
}

/** Shows a code that is sent by text message. */
async function showCode(agent: ReturnType<typeof jsonAgent>) {
  await challenge(agent, 'sms').expect(200)
  await verify(agent, await newestCode()).expect(200)
}

/** The code in the newest message. */
async function newestCode() {
  const inbox = { application: 'default', mode: 'live', limit: 1 } as const
  const [message] = await (await opened).operator('ada').listInbox(inbox)
  return /\b\d{6}\b/.exec(message?.text ?? '')?.[0]
}

/** The access of an attacker who signs in with the password alone, in a new browser. */
async function expectOutside({ app }: Host) {
  const attacker = jsonAgent(app)
  const signedIn = await login(attacker, 'victim').expect(200)
  expect(signedIn.body).toMatchObject({ mfa: { status: 'pending' }, user: null })
  const refused = await attacker.get('/secret').expect(401)
  expect(refused.body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
  const { body } = await attacker.get('/mfa').expect(200)
  expect(body).toMatchObject({ status: 'pending', factors: [], withheld: expect.any(Array) })
  return attacker
}

describe('an attacker with the password of a user whose only factor is withheld (R132)', () => {
  it.each([
    ['passkey', 'their method is switched off', switchMethodsOff],
    ['passkey', 'the relying party is lost', loseRelyingParty],
    ['security-key', 'their method is switched off', switchMethodsOff],
    ['security-key', 'the relying party is lost', loseRelyingParty],
  ] as const)('stays outside the account with a %s when %s', async (method, _, withhold) => {
    const { open, device } = await appWithKey(method)
    await withhold()
    const made = open()
    await expectOutside(made)
    await switchOn()
    const owner = await signIn(open().app, 'victim')
    const response = await assertion(owner, method, device)
    await owner.post('/mfa/verify').send({ factor: method, response }).expect(200)
  })

  it('stays outside with an authenticator app, whose method is switched off, and can set up no other', async () => {
    const clock = stopClock()
    const { victim, open } = await app()
    const made = open()
    const owner = await signIn(made.app, 'victim')
    const { body } = await owner.post('/mfa/enroll-app').send({}).expect(200)
    const code = () => totp(body.secret, Date.now())
    await owner.post('/mfa/enroll-app/confirm').send({ code: code() }).expect(200)
    const { body: refused } = await signIn(made.app, 'victim').then((agent) =>
      agent.get('/secret').expect(401),
    )
    expect(refused.code).toBe('mfa_required')
    // Not even an approval from the time before helps.
    clock.move(30 * SECOND)
    await approveChange(owner, '/mfa/enroll-app', byCode(owner, code))
    await switchAppsOff()
    const attacker = await expectOutside(open())
    expect((await attacker.post('/mfa/enroll-app').send({})).status).toBe(403)
    const { body: off } = await owner.post('/mfa/enroll-app').send({}).expect(403)
    expect(off.code).toBe('method_off')
    await owner.post('/mfa/enroll-app').set('Accept', 'text/html').type('form').send({}).expect(303)
    // An app that lists it asks for it, and the service checks no code.
    victim.factors.push({ method: 'app', user: victim.email })
    const listed = await signIn(open({ keys: false }).app, 'victim')
    clock.move(30 * SECOND)
    const typed = await verify(listed, code(), { factor: 'app' })
    expect([typed.status, typed.body.code]).toEqual([403, expect.stringMatching(/method_off|withheld/)])
    await switchOn()
    await verify(await signIn(open().app, 'victim'), code(), { factor: 'app' }).expect(200)
  })

  it('stays outside when the app switches keys off', async () => {
    const { open } = await appWithKey()
    await expectOutside(open({ keys: false }))
    await expectOutside(open({ keys: false, ...EMPTY_RECORD }))
  })

  it('stays outside when the app lists the key itself', async () => {
    const { victim, open } = await appWithKey()
    victim.factors.push({ method: 'passkey', user: victim.email })
    await switchMethodsOff()
    await expectOutside(open())
    await expectOutside(open({ keys: false }))
  })

  it('stays outside when the policy exempts users without a factor', async () => {
    const seen: unknown[] = []
    const policy: MfaOptions<TestUser>['policy'] = ({ factors }) => {
      seen.push(factors)
      return factors.length > 0 ? 'require' : { skip: true, mayEnroll: true }
    }
    const { open } = await appWithKey('passkey', [], { policy })
    await switchMethodsOff()
    await expectOutside(open())
    expect(seen.at(-1)).toEqual([{ id: 'passkey', method: 'passkey', withheld: true }])
    const grace = { graceUntil: new Date(Date.now() + 60_000) }
    await expectOutside(open({ policy: () => grace }))
  })

  it('can add no factor, request no codes, start no recovery and verify nothing', async () => {
    const { open } = await appWithKey('passkey', [], {
      urls: { publicUrl: 'https://vault.example' },
      recovery: { store: 'memory', onNotice: () => {}, onFactorsEnded: () => {} },
    })
    await switchMethodsOff()
    const made = open()
    const attacker = await expectOutside(made)
    const attempts = [
      ['/mfa/enroll-app', {}],
      ['/mfa/enroll-app/confirm', { code: '123456' }],
      ['/mfa/enroll-app/remove', {}],
      ['/mfa/keys/options', { method: 'passkey' }],
      ['/mfa/keys/options', { method: 'security-key' }],
      ['/mfa/keys/remove', { key: 'any' }],
      ['/mfa/backup', {}],
      ['/mfa/backup/codes', {}],
      ['/mfa/backup/remove', {}],
      ['/mfa/recover', {}],
      ['/mfa/challenge', { factor: 'passkey' }],
      ['/mfa/challenge', { factor: 'app' }],
      ['/mfa/verify', { factor: 'app', code: '123456' }],
      ['/mfa/verify', { factor: 'passkey', code: '123456' }],
    ] as const
    for (const [path, body] of attempts) {
      const answer = await attacker.post(path).send(body)
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'factors_withheld'])
    }
    await attacker.get('/mfa/keys').expect(403)
    await attacker.post('/transfer').expect(401)
    await attacker.get('/secret').expect(401)
    expect(
      (
        await jsonAgent(open({ policy: () => 'require' }).app)
          .post('/login')
          .send({ name: 'victim' })
      ).body.user,
    ).toBe(null)
  })

  it('is told by every page what happened, without a loop', async () => {
    const help = 'Call us on 0800 123.'
    const { open } = await appWithKey('passkey', [], { pages: { help } })
    await switchMethodsOff()
    const browser = browserAgent(open().app)
    await login(browser, 'victim')
    for (const start of [
      '/secret',
      '/mfa',
      '/mfa?choose',
      '/mfa/verify',
      '/mfa/enroll-app',
      '/mfa/keys',
      '/mfa/recover',
    ]) {
      let path = start
      let hops = 0
      let page = await browser.get(path)
      while (page.status === 303 && hops < 5) {
        hops += 1
        path = page.headers.location ?? ''
        page = await browser.get(path)
      }
      if (start === '/mfa/recover') continue
      expect([start, page.status, hops < 3]).toEqual([start, 403, true])
      expect(page.text).toContain('Your sign-in option can’t be used right now')
      expect(page.text).toContain(help)
    }
    const { body } = await expectOutside(open()).then((agent) => agent.get('/mfa/keys'))
    expect(body).toMatchObject({ code: 'factors_withheld', help })
  })

  it('is not let in by a browser that was trusted before', async () => {
    const { open, device } = await appWithKey('passkey', [], { trustedDevices: { store: 'memory' } })
    const made = open()
    const browser = await signIn(made.app, 'victim')
    const response = await assertion(browser, 'passkey', device)
    await browser.post('/mfa/verify').send({ factor: 'passkey', response, trust: true }).expect(200)
    await browser.post('/logout').expect(200)
    await login(browser, 'victim').expect(200)
    await browser.get('/secret').expect(200)
    await switchMethodsOff()
    const clock = stopClock()
    clock.move(11 * MINUTE)
    await browser.get('/secret').expect(401)
    await browser.post('/logout')
    expect((await login(browser, 'victim')).body.user).toBe(null)
  })

  it('is let in by no session that began without a factor and outlived the change', async () => {
    const { open } = await app()
    const made = open()
    const thief = await signIn(made.app, 'victim')
    await thief.get('/secret').expect(200)
    const owner = await signIn(made.app, 'victim')
    await addKey(owner, 'passkey')
    await switchMethodsOff()
    stopClock().move(11 * MINUTE)
    await thief.get('/secret').expect(401)
  })
})

describe('a user whose strongest factor is withheld (R92, R132)', () => {
  let phones = 0
  const phone = () => {
    phones += 1
    return { method: 'sms', phone: `+44770090018${phones}` } as const
  }

  it('signs in with the weaker factor, and cannot climb with it', async () => {
    const { open } = await appWithKey('passkey', [phone()], { trustedDevices: { store: 'memory' } })
    await switchMethodsOff()
    const made = open()
    const attacker = await signIn(made.app, 'victim')
    expect((await attacker.get('/mfa')).body).toMatchObject({
      status: 'pending',
      factors: [{ id: 'sms' }],
      withheld: ['passkey'],
    })
    await challenge(attacker, 'passkey').expect(404)
    await showCode(attacker)
    await attacker.get('/secret').expect(200)
    for (const path of ['/mfa/enroll-app', '/mfa/backup', '/mfa/backup/codes', '/mfa/backup/remove']) {
      const answer = await attacker.post(path).send({})
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'factors_withheld'])
    }
    await attacker.post('/mfa/keys/options').send({ method: 'security-key' }).expect(403)
    await attacker.get('/mfa/enroll-app').set('Accept', 'text/html').expect(403)
  })

  it('has no browser trusted by the weaker factor', async () => {
    const { open } = await appWithKey('passkey', [phone()], { trustedDevices: { store: 'memory' } })
    await switchMethodsOff()
    const made = open()
    const attacker = await signIn(made.app, 'victim')
    await challenge(attacker, 'sms').expect(200)
    const verified = await verify(attacker, await newestCode(), { trust: true }).expect(200)
    expect(verified.body.trusted).toBe(false)
    await attacker.post('/logout')
    expect((await login(attacker, 'victim')).body.user).toBe(null)
  })

  it('comes back by a recovery, which waits, notifies and ends the factor for good (R94)', async () => {
    const clock = stopClock()
    const ended: unknown[] = []
    const { victim, open } = await appWithKey('passkey', [phone()], {
      urls: { publicUrl: 'https://vault.example' },
      recovery: {
        store: 'memory',
        onNotice: () => {},
        onFactorsEnded: (_user, factors) => void ended.push(...factors.map(({ method }) => method)),
      },
    })
    await loseRelyingParty()
    const made = open()
    const user = await signIn(made.app, 'victim')
    await showCode(user)
    const refused = await user.post('/mfa/enroll-app').send({}).expect(403)
    expect(refused.body).toMatchObject({ code: 'factors_withheld', recover: '/mfa/recover' })
    await user.post('/mfa/recover').send({}).expect(200)
    await user.post('/mfa/recover/complete').send({}).expect(409)
    clock.move(13 * HOUR)
    // Sends the notice at half time.
    await user.get('/mfa/recover').expect(200)
    clock.move(13 * HOUR)
    const back = await signIn(made.app, 'victim')
    await showCode(back)
    const done = await back.post('/mfa/recover/complete').send({})
    expect([done.status, done.body]).toEqual([200, { status: 'completed', next: '/mfa/enroll-app' }])
    expect(ended).toEqual(['passkey'])
    const enroll = () => back.post('/mfa/enroll-app').send({})
    const { body } = await sendApproved(back, enroll, byCode(back, newestCode))
    await back
      .post('/mfa/enroll-app/confirm')
      .send({ code: totp(body.secret, Date.now()) })
      .expect(200)
    await switchOn()
    const { mfa } = await opened
    const contact = { kind: 'email', email: victim.email } as const
    expect((await mfa.factorsOf?.({ account: victim.id, contact }))?.existing).toEqual([
      { method: 'app', usable: true, digits: 6 },
    ])
  })
})

describe('a user whose only factor is withheld and who has backup codes (R93, R132)', () => {
  it('signs in with one, and cannot change factors with it', async () => {
    const { open, owner, device } = await appWithKey()
    await approveChange(owner, '/mfa/backup/codes', async (factor, approval) => {
      const { body } = await owner.post('/mfa/challenge').send({ factor, approval }).expect(200)
      return { response: device.get(body.publicKey, PAGE), factor }
    })
    const { codes } = (await owner.post('/mfa/backup/codes').send({}).expect(200)).body
    await switchMethodsOff()
    const made = open()
    const browser = browserAgent(made.app)
    await login(browser, 'victim')
    const page = await browser.get('/mfa').expect(200)
    expect(page.text).toContain('backup')
    const user = await signIn(made.app, 'victim')
    await user.get('/secret').expect(401)
    await verify(user, 'AAAA-AAAA-AAAA-AAAA', { factor: 'backup' }).expect(401)
    await verify(user, codes[0], { factor: 'backup' }).expect(200)
    await user.get('/secret').expect(200)
    expect((await user.post('/mfa/enroll-app').send({}).expect(403)).body.code).toBe('factors_withheld')
    await user.post('/mfa/keys/options').send({ method: 'security-key' }).expect(403)
  })
})

describe('a user whose only factor is disabled after too many failures (R96, R132)', () => {
  it('has MFA all the same', async () => {
    const clock = stopClock()
    const standIn = standInService()
    const made = host({ standIn, options: { limits: { failuresBeforeDisable: 20 } } })
    for (let attempt = 0; attempt < 20; attempt += 1) {
      clock.move(25 * HOUR)
      const attacker = await signIn(made.app, 'otto')
      await verify(attacker, '000000', { factor: 'app' })
    }
    const attacker = await signIn(made.app, 'otto')
    expect((await attacker.get('/mfa')).body).toMatchObject({ status: 'pending', factors: [] })
    await attacker.get('/secret').expect(401)
    await attacker.post('/mfa/enroll-app').send({}).expect(401)
  })
})
