import { describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import type { FactorInput } from '../../src/protocol/factor.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, EMPTY_RECORD, host, jsonAgent, signIn, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/*
 * A host lists what its users wrote into its forms, or imported. One contact that no message can reach neither locks its user out nor
 * lets that user in without a second factor (R153).
 */

const UNUSABLE: readonly (readonly [string, FactorInput])[] = [
  ['a quoted mailbox', { method: 'email', email: '"john doe"@example.com' }],
  ['a mailbox whose name is not in ASCII', { method: 'email', email: 'josé@example.com' }],
  ['a mailbox of another program', { method: 'email', email: 'User <user@example.com>' }],
  ['a mailbox with two dots', { method: 'email', email: 'taro..yamada@example.ne.jp' }],
  ['a mailbox without a domain', { method: 'email', email: 'ann@localhost' }],
  ['a blank before a mailbox', { method: 'email', email: ' ann@example.com' }],
  ['an empty mailbox', { method: 'email', email: '' }],
  ['a mailbox that is null', { method: 'email', email: null as never }],
  ['a national number', { method: 'sms', phone: '07700 900101' }],
  ['a number with an extension', { method: 'call', phone: '+447700900101 x5' }],
  ['words', { method: 'whatsapp', phone: 'none' }],
  ['both contacts of DUAL', { method: 'dual', email: 'ann@', phone: '' }],
  ['a number of DUAL', { method: 'dual', email: 'ann@example.com', phone: '1' }],
]
const TEXT = { method: 'sms', phone: '+447700900102' } as const

/** An app in which bob has these factors, and what it reports. */
function appWith(factors: FactorInput[], options: Partial<MfaOptions<TestUser>> = {}) {
  const events: object[] = []
  const logged: string[] = []
  const standIn = standInService()
  const made = host({
    standIn,
    options: {
      ...EMPTY_RECORD,
      onEvent: (event) => void events.push(event),
      logger: { warn: (message) => void logged.push(message), error: (message) => void logged.push(message) },
      ...options,
    },
  })
  made.users.bob = { id: 'u-bob', email: String(Reflect.get(factors[0] ?? {}, 'email')), factors }
  return {
    ...made,
    standIn,
    logged,
    eventsOf: (type: string) => events.filter((event) => Reflect.get(event, 'type') === type),
  }
}

describe('a user who has an unusable contact and another factor (R153)', () => {
  it('signs in with the other one', () =>
    everyCase(UNUSABLE, async ([, unusable]) => {
      for (const factors of [
        [unusable, TEXT],
        [TEXT, unusable],
      ]) {
        const { app, standIn, eventsOf } = appWith(factors)
        const bob = await signIn(app, 'bob')
        const { body } = await bob.get('/mfa').expect(200)
        expect(body).toMatchObject({
          status: 'pending',
          factors: [{ method: 'sms' }],
          withheld: [unusable.method],
        })
        await bob.get('/secret').expect(401)
        await challenge(bob, body.factors[0].id).expect(200)
        await verify(bob, standIn.newestCode()).expect(200)
        await bob.get('/secret').expect(200)
        expect(eventsOf('contact_unusable').length).toBeGreaterThan(0)
      }
    }))

  it('sees the page of the factors that are left', async () => {
    const { app } = appWith([{ method: 'email', email: 'josé@example.com' }, TEXT])
    const browser = browserAgent(app)
    await login(browser, 'bob')
    const page = await browser.get('/mfa').expect(200)
    expect(page.text).toContain('•• 02')
  })

  it('cannot request a code for the unusable contact, or use one', async () => {
    const { app, standIn } = appWith([{ method: 'email', email: 'josé@example.com' }, TEXT])
    const bob = await signIn(app, 'bob')
    await challenge(bob, 'email').expect(404)
    expect((await verify(bob, '123456', { factor: 'email' })).status).not.toBe(200)
    await bob.get('/secret').expect(401)
    expect(standIn.delivered).toEqual([])
  })

  it('gets backup codes at the contact that can be used', async () => {
    const { app, standIn } = appWith([{ method: 'email', email: 'josé@example.com' }, TEXT])
    const bob = await signIn(app, 'bob')
    await challenge(bob, 'sms').expect(200)
    await verify(bob, standIn.newestCode()).expect(200)
    await bob.post('/mfa/backup').send({})
    expect(JSON.stringify(standIn.calls)).not.toMatch(/account\.invalid|josé/)
  })
})

describe('a user whose only contact is unusable (R132, R153)', () => {
  it('is not let in with the password alone, and gets no server error', () =>
    everyCase(UNUSABLE, async ([, unusable]) => {
      for (const policy of [
        undefined,
        () => 'skip' as const,
        ({ factors }: { factors: readonly unknown[] }) =>
          factors.length > 0 ? ('require' as const) : ('skip' as const),
      ]) {
        const { app, failures } = appWith(
          [unusable],
          policy?.length === 0 ? {} : { ...(policy && { policy }) },
        )
        const bob = jsonAgent(app)
        const signedIn = await login(bob, 'bob').expect(200)
        expect(signedIn.body).toMatchObject({ mfa: { status: 'pending' }, user: null })
        await bob.get('/secret').expect(401)
        await bob.post('/mfa/enroll-app').send({}).expect(403)
        expect((await bob.get('/mfa').expect(200)).body).toMatchObject({
          factors: [],
          withheld: [unusable.method],
        })
        expect(failures).toEqual([])
      }
    }))

  it('is told what happened, and recovers the account', async () => {
    const ended: unknown[] = []
    const { app } = appWith([{ method: 'email', email: 'josé@example.com' }], {
      pages: { help: 'Call us on 0800 123.' },
      urls: { publicUrl: 'https://vault.example' },
      recovery: {
        store: 'memory',
        onNotice: () => {},
        onFactorsEnded: (_, factors) => void ended.push(...factors),
      },
    })
    const browser = browserAgent(app)
    await login(browser, 'bob')
    const page = await browser.get('/mfa')
    expect(page.status).toBe(403)
    expect(page.text).toContain('Call us on 0800 123.')
  })
})

describe('an operator of the app (R84, R153)', () => {
  it('learns of the contact by an event once a minute and by one warning, which do not quote it', async () => {
    const clock = stopClock()
    const { app, eventsOf, logged } = appWith([TEXT, { method: 'email', email: 'josé@example.com' }])
    const bob = await signIn(app, 'bob')
    await bob.get('/mfa').expect(200)
    await signIn(app, 'bob')
    const event = {
      type: 'contact_unusable',
      userId: 'u-bob',
      method: 'email',
      fault: expect.stringMatching(/^\[1\.email\] must be an email address/),
    }
    expect(eventsOf('contact_unusable')).toEqual([expect.objectContaining(event)])
    const warnings = logged.filter((message) => message.includes('MFA_WARN_CONTACT_UNUSABLE'))
    expect(warnings).toEqual([expect.stringContaining('It is at [1.email] must be an email address')])
    clock.move(MINUTE)
    await signIn(app, 'bob')
    expect(eventsOf('contact_unusable')).toHaveLength(2)
    expect(JSON.stringify([eventsOf('contact_unusable'), logged])).not.toContain('josé')
  })

  it('learns of nothing where every contact can be used', async () => {
    const { app, eventsOf, logged } = appWith([TEXT, { method: 'email', email: "user'@münchen.de" }])
    await signIn(app, 'bob')
    expect(eventsOf('contact_unusable')).toEqual([])
    expect(logged.filter((message) => message.includes('UNUSABLE'))).toEqual([])
  })
})

it('a factor whose app or key has an unusable name is found by its account (R153)', async () => {
  const standIn = standInService()
  const { app } = appWith([{ method: 'app', user: 'josé@example.com' }], {
    service: {
      ...standIn.service,
      factorsOf: async () => ({ existing: [{ method: 'app', usable: true }], backupCodesLeft: 0 }),
    },
  })
  const bob = await signIn(app, 'bob')
  const { body } = await bob.get('/mfa').expect(200)
  expect(body).toMatchObject({ factors: [{ method: 'app' }] })
  expect(body.withheld).toBeUndefined()
})
