import { MemoryStore } from 'express-session'
import { describe, expect, it, vi } from 'vitest'
import { createMfa } from '../../src/index.js'
import { findStrongest, isAtLeast, STRENGTHS, type Strength } from '../../src/protocol/factor.js'
import { memoryStore } from '../../src/stores/memory.js'
import { everyFailure } from '../attacks/failing-callbacks.js'
import { FAILURES } from '../attacks/host-callbacks.js'
import { addKey, keyHost, PAGE } from '../keys/kit.js'
import { DAY } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, jsonAgent, withCookie } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import { claims } from './kit.js'
import { type Held, heldBy, show, stateOf } from './strength-kit.js'

const GRACES = ['none', 'past', 'running'] as const
const ACRS = ['none', 'medium', 'phr'] as const

const HELD: readonly (readonly Held[])[] = [
  [],
  ['email'],
  ['sms'],
  ['app'],
  ['passkey'],
  ['email', 'app'],
  ['sms', 'passkey'],
]

describeWithSession('a policy that requires a strength (R115)', () => {
  it.each(['json', 'page', 'passport'] as const)(
    'admits to nothing else by less, whatever the user has, by %s',
    async (road) => {
      // Grace and evidence are decided before the road is taken.
      const decided =
        road === 'json'
          ? GRACES.flatMap((grace) => ACRS.map((acr) => ({ grace, acr })))
          : [{ grace: 'none', acr: 'none' } as const]
      const cases = HELD.flatMap((held) =>
        STRENGTHS.flatMap((strength) => decided.map((one) => ({ held, strength, ...one }))),
      )
      await everyCase(cases, async ({ held, strength, grace, acr }) => {
        const reaching = held.filter((method) => isAtLeast(method, strength))
        const inForce = reaching.length > 0 || grace !== 'running'
        const asked = !inForce ? held : reaching.length > 0 ? reaching : held.filter(isStrongestOf(held))
        const made = await heldBy(held)
        made.decide({ require: strength, ...(grace !== 'none' && { graceUntil: at(grace) }) })
        made.bring(acr === 'none' ? undefined : claims({ amr: [], acr }))
        const agent = jsonAgent(made.app)
        await login(agent, 'bob').expect(200)
        const evidenced =
          acr === 'phr' || (acr === 'medium' && (!inForce || rank(strength) <= rank('medium')))
        const before = await stateOf(agent)
        if (evidenced) return expect(before).toBe('verified')
        if (held.length === 0) return expect(before).toBe(inForce ? 'enrollment_required' : 'none')
        expect(before).toBe('pending')
        const { body } = await agent.get('/mfa').expect(200)
        expect(body.factors.map(({ method }: { method: string }) => method).sort()).toEqual([...asked].sort())
        // Those that are not offered come first: none of them changes anything.
        const order = [...held].sort(
          (one, other) => Number(asked.includes(one)) - Number(asked.includes(other)),
        )
        for (const factor of order.slice(0, order.length - asked.length + 1)) {
          const after = await show(made, agent, factor, { device: made.device, road })
          if (!asked.includes(factor)) expect(after).toBe('pending')
          else if (!inForce || isAtLeast(factor, strength)) expect(after).toBe('verified')
          // Passport has no pending login that goes on.
          else expect(after).toBe(road === 'passport' ? 'pending' : 'enrollment_required')
        }
      })
    },
    120_000,
  )
})

const rank = (strength: Strength) => STRENGTHS.indexOf(strength)
const isStrongestOf = (held: readonly Held[]) => (method: Held) => isAtLeast(method, findStrongest(held))
const at = (grace: 'past' | 'running') => new Date(Date.now() + (grace === 'past' ? -DAY : DAY))

const KEY_REQUIRED = { require: 'phishing-resistant' } as const

/** Bob has SMS, must sign in with a key, and has shown the password and the code. */
async function admitted(setup: Parameters<typeof heldBy>[1] = {}) {
  const made = await heldBy(['sms'], setup)
  made.decide(KEY_REQUIRED)
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  return { ...made, agent, after: await show(made, agent, 'sms', { device: undefined, road: 'json' }) }
}

describe('a user without a factor that is strong enough (R115)', () => {
  itWithSession(
    'is led to add one by the strongest factor that they have, and is signed in by the new one only',
    async () => {
      const { agent, after } = await admitted()
      expect(after).toBe('enrollment_required')
      expect((await agent.get('/mfa').expect(200)).body).toMatchObject({ enroll: '/mfa/keys' })
      await addKey(agent, 'passkey')
      const { mfa } = (await agent.get('/secret').expect(200)).body
      expect(mfa).toMatchObject({ status: 'verified', acr: 'phrh', amr: ['pwd', 'hwk', 'user', 'mfa'] })
    },
  )

  it('cannot add an app where a key is required, nor do anything else, and learns where to go', async () => {
    const { agent } = await admitted()
    await everyCase(
      [
        agent.post('/mfa/enroll-app').send({}),
        agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }),
        agent.post('/mfa/challenge').send({ factor: 'sms' }),
        agent.post('/mfa/verify').send({ code: '123456', factor: 'sms' }),
        agent.post('/mfa/keys/rename').send({ key: 'k', name: 'mine' }),
        agent.post('/mfa/keys/remove').send({ key: 'k' }),
        agent.post('/mfa/backup').send({}),
        agent.post('/mfa/backup/codes').send({}),
        agent.post('/mfa/enroll-app/remove').send({}),
      ],
      async (sent) => {
        const { body, status } = await sent
        expect([status, body.code, body.next]).toEqual([403, 'enrollment_required', '/mfa/keys'])
      },
    )
    expect(await stateOf(agent)).toBe('enrollment_required')
  })

  it('gets from every page to the one with the keys, which says why, without a loop', async () => {
    const made = await heldBy(['sms'])
    made.decide(KEY_REQUIRED)
    const browser = browserAgent(made.app)
    await login(browser, 'bob').expect(200)
    await show(made, browser, 'sms', { device: undefined, road: 'page' })
    await everyCase(
      ['/secret', '/mfa', '/mfa/verify', '/mfa/enroll-app', '/mfa/enroll-app/confirm'],
      async (path) => {
        const visited: string[] = []
        for (let next = path; !visited.includes(next); ) {
          visited.push(next)
          next = (await browser.get(next)).headers.location ?? next
        }
        expect(visited.at(-1)).toBe('/mfa/keys')
      },
    )
    const { text } = await browser.get('/mfa/keys').expect(200)
    expect(text).toContain('Testbed requires a stronger sign-in option for your account.')
    expect(text).toContain('Add a passkey')
  })

  itWithSession('may set up an app where that is strong enough', async () => {
    const made = await heldBy(['email'])
    made.decide({ require: 'strong' })
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await show(made, agent, 'email', { device: undefined, road: 'json' })
    expect((await agent.get('/mfa').expect(200)).body.enroll).toBe('/mfa/enroll-app')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: made.kit.apps.code('bob@example.com') })
      .expect(200)
    expect(await stateOf(agent)).toBe('verified')
  })

  it('learns what to do where keys are off', async () => {
    const made = await heldBy(['sms'], { options: { keys: false } })
    made.decide(KEY_REQUIRED)
    const browser = browserAgent(made.app)
    await login(browser, 'bob').expect(200)
    await show(made, browser, 'sms', { device: undefined, road: 'page' })
    const page = await browser.get('/mfa').redirects(3)
    expect([page.status, page.text]).toEqual([
      403,
      expect.stringContaining('You need a passkey or a security key'),
    ])
    const sent = await browser.post('/mfa/enroll-app').set('Accept', 'application/json').send({}).expect(403)
    expect(sent.body.code).toBe('stronger_factor_unavailable')
  })

  it('is told of it at every contact, once the weaker factor was shown', async () => {
    const told: [string, string][] = []
    const recovery = {
      onNotice: ({ to }: { to: string }, { type }: { type: string }) => void told.push([type, to]),
      onFactorsEnded: () => {},
    }
    await admitted({ options: { urls: { publicUrl: 'https://vault.example' }, recovery } })
    expect(told.sort()).toEqual([
      ['stronger_factor_required', '+447700900102'],
      ['stronger_factor_required', 'bob@example.com'],
    ])
    const { notices } = await admitted()
    expect(notices).toMatchObject([
      { type: 'stronger_factor_required', text: expect.stringContaining('Text message') },
    ])
  })

  it('is asked for it also where the contacts of the account cannot be found, which ends no process (R99)', () =>
    everyFailure(['throws', 'rejects'], async (failure) => {
      const contacts = () => FAILURES[failure]?.([]) as string[]
      const recovery = { onNotice: () => {}, onFactorsEnded: () => {}, contacts }
      const logger = { warn: () => {}, error: vi.fn() }
      const { agent } = await admitted({
        options: { urls: { publicUrl: 'https://vault.example' }, recovery, logger },
      })
      expect(await stateOf(agent)).toBe('enrollment_required')
      expect(logger.error).toHaveBeenCalledWith(
        'countersign: the account notice stronger_factor_required was not sent',
        expect.anything(),
      )
    }))

  it('is asked for the new factor as soon as another session has added it', async () => {
    const made = await admitted()
    const other = jsonAgent(made.app)
    await login(other, 'bob').expect(200)
    await show(made, other, 'sms', { device: undefined, road: 'json' })
    await addKey(other, 'passkey')
    expect(await stateOf(made.agent)).toBe('pending')
    await made.agent.post('/mfa/keys/options').send({ method: 'passkey' }).expect(401)
    expect((await made.agent.get('/mfa').expect(200)).body).toMatchObject({
      minStrength: 'phishing-resistant',
      factors: [{ method: 'passkey' }],
    })
  })

  itWithSession(
    'passes until the grace period ends, and sees the banner until the factor is there',
    async () => {
      const made = await heldBy(['sms'])
      const graceUntil = Date.now() + DAY
      made.decide({ ...KEY_REQUIRED, graceUntil })
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      expect(await show(made, agent, 'sms', { device: undefined, road: 'json' })).toBe('verified')
      const { mfa } = (await agent.get('/secret').expect(200)).body
      expect(mfa).toMatchObject({
        graceUntil,
        banner: expect.stringContaining('Please add a passkey or a security key by'),
      })
      await addKey(agent, 'passkey')
      expect((await agent.get('/secret').expect(200)).body.mfa).toMatchObject({
        graceUntil: null,
        banner: null,
      })
    },
  )

  itWithSession(
    'is in the grace period with evidence of an identity provider, until that is strong enough',
    () =>
      everyCase([['strong', true] as const, ['phr', false] as const], async ([acr, isRunning]) => {
        const made = await heldBy([])
        const graceUntil = Date.now() + DAY
        made.decide({ ...KEY_REQUIRED, graceUntil })
        made.bring(claims({ amr: [], acr }))
        const agent = jsonAgent(made.app)
        await login(agent, 'bob').expect(200)
        const { mfa } = (await agent.get('/secret').expect(200)).body
        expect(mfa).toMatchObject({ status: 'verified', graceUntil: isRunning ? graceUntil : null })
      }),
  )

  itWithSession(
    'is not let in by a trusted browser, a backup code or evidence that is too weak',
    async () => {
      const made = await heldBy(['sms', 'app'])
      made.decide('require')
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      await agent.post('/mfa/challenge').send({ factor: 'app' }).expect(200)
      const code = made.kit.apps.code('bob@example.com')
      await agent
        .post('/mfa/verify')
        .send({ code, factor: 'app', trust: true })
        .expect(200, /"trusted":true/)
      await agent.post('/mfa/backup').send({ method: 'sms' }).expect(200)
      const [backup] = made.kit.inbox.newest('+447700900102').codes
      await agent.post('/logout').expect(200)
      made.decide({ require: 'strong' })
      made.bring(claims({ amr: [], acr: 'medium' }))
      await login(agent, 'bob').expect(200)
      expect(await stateOf(agent)).toBe('pending')
      expect(made.events).toContainEqual(
        expect.objectContaining({ type: 'evidence_refused', reason: 'too_weak' }),
      )
      const refused = await agent.post('/mfa/verify').send({ code: backup ?? 'AAAA-AAAA', factor: 'backup' })
      expect([backup !== undefined, refused.status, refused.body.code]).toEqual([true, 404, 'unknown_factor'])
      expect(await show(made, agent, 'app', { device: undefined, road: 'json' })).toBe('verified')
    },
  )
})

describe('a policy that answers "optional"', () => {
  it('asks users who have a factor for it, and lets others in as without a policy', () =>
    everyCase([[[], 'none'] as const, [['sms'], 'pending'] as const], async ([held, stage]) => {
      const made = await heldBy(held)
      made.decide('optional')
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      expect(await stateOf(agent)).toBe(stage)
      if (held.length === 0) await agent.post('/mfa/enroll-app').send({}).expect(200)
    }))
})

describe('login.noDowngrade (R116)', () => {
  const NO_DOWNGRADE = { login: { noDowngrade: true } }

  itWithSession('signs an account that has a key in with nothing less, by any road', () =>
    everyCase(['json', 'page', 'passport'] as const, async (road) => {
      const made = await heldBy(['sms', 'passkey'], { options: NO_DOWNGRADE })
      made.decide('require')
      made.bring(claims({ amr: [], acr: 'strong' }))
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      expect((await agent.get('/mfa').expect(200)).body.factors).toMatchObject([{ method: 'passkey' }])
      expect(await show(made, agent, 'sms', { device: undefined, road })).toBe('pending')
      expect(made.kit.inbox.all()).toEqual([])
      expect(await show(made, agent, 'passkey', { device: made.device, road })).toBe('verified')
    }),
  )

  itWithSession('leaves an account without a key as it is', async () => {
    const made = await heldBy(['sms', 'app'], { options: NO_DOWNGRADE })
    made.decide('require')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    expect(await show(made, agent, 'sms', { device: undefined, road: 'json' })).toBe('verified')
  })

  it('asks for the key in a step-up, and offers nothing else', async () => {
    const made = await heldBy(['sms', 'passkey'], { options: NO_DOWNGRADE })
    made.decide('skip')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    const { body } = await agent.post('/transfer').send({}).expect(401)
    expect(body.factors).toMatchObject([{ method: 'passkey' }])
    await show(made, agent, 'sms', { device: undefined, road: 'json' })
    await agent.post('/transfer').send({}).expect(401)
    await show(made, agent, 'passkey', { device: made.device, road: 'json' })
    await agent.post('/transfer').send({}).expect(200)
  })

  it('trusts no browser, since that would let one in without the key', async () => {
    const made = await heldBy(['passkey'], { options: NO_DOWNGRADE })
    made.decide('require')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    expect((await agent.get('/mfa/verify?factor=passkey').set('Accept', 'text/html')).text).not.toContain(
      'name="trust"',
    )
    const { body } = await agent.post('/mfa/challenge').send({ factor: 'passkey' }).expect(200)
    const response = made.device?.get(body.publicKey, PAGE)
    await agent
      .post('/mfa/verify')
      .send({ factor: 'passkey', response, trust: true })
      .expect(200, /"status":"verified"/)
    await agent.post('/logout').expect(200)
    await login(agent, 'bob').expect(200)
    expect(await stateOf(agent)).toBe('pending')
  })

  it('asks for the key in a session that a trusted browser began before it was switched on', async () => {
    const store = new MemoryStore()
    const trustedDevices = { store: memoryStore() }
    const made = await heldBy(['passkey'], { store, options: { trustedDevices } })
    made.decide('require')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    const { body } = await agent.post('/mfa/challenge').send({ factor: 'passkey' }).expect(200)
    const response = made.device?.get(body.publicKey, PAGE)
    await agent
      .post('/mfa/verify')
      .send({ factor: 'passkey', response, trust: true })
      .expect(200, /"trusted":true/)
    await agent.post('/logout').expect(200)
    const cookie = sessionCookie(await login(agent, 'bob').expect(200))
    await agent.get('/secret').expect(200)
    const strict = keyHost({
      store,
      users: made.users,
      change: () => made.kit.service,
      options: { ...NO_DOWNGRADE, trustedDevices, policy: () => 'require' },
    })
    made.kit.clock.advance('10m')
    await withCookie(strict.app, cookie).get('/secret').expect(401)
  })

  it('is refused at start where keys are off', () => {
    expect(() =>
      createMfa({ service: {} as never, factors: () => [], keys: false, login: { noDowngrade: true } }),
    ).toThrow('login.noDowngrade signs users who have a key in with it only, and keys: false turns keys off')
  })
})

describe('a user who lost the factor that is strong enough (R94, R115, R116)', () => {
  const RECOVERY = {
    urls: { publicUrl: 'https://vault.example' },
    recovery: { onNotice: () => {}, onFactorsEnded: () => {}, waitingPeriod: '24h' },
    login: { noDowngrade: true },
  } as const

  /** Bob, who lost his passkey, has shown the password and the text message for a recovery. */
  async function askedToRecover(made: Awaited<ReturnType<typeof heldBy>>) {
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await agent.post('/mfa/recover').send({}).expect(401)
    const { body } = await agent.get('/mfa').expect(200)
    expect(body.factors.map(({ method }: { method: string }) => method).sort()).toEqual(['passkey', 'sms'])
    await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = made.kit.inbox.all()[0]?.code
    const shown = await agent.post('/mfa/verify').send({ code }).expect(200)
    expect(shown.body).toEqual({ status: 'recovery_allowed', next: '/mfa/recover' })
    return agent
  }

  itWithSession(
    'shows a weaker one to request a recovery, which opens nothing else, and completes it after the wait',
    async () => {
      const made = await heldBy(['sms', 'passkey'], { options: RECOVERY })
      made.decide('require')
      const agent = await askedToRecover(made)
      expect(await stateOf(agent)).toBe('pending')
      await everyCase(
        [
          agent.post('/mfa/enroll-app').send({}),
          agent.post('/mfa/keys/options').send({ method: 'passkey' }),
          agent.post('/mfa/keys/remove').send({ key: 'k' }),
          agent.post('/mfa/backup').send({}),
          agent.post('/mfa/recover/complete').send({}),
        ],
        async (sent) => expect((await sent).status).toBeGreaterThanOrEqual(400),
      )
      await agent
        .post('/mfa/recover')
        .send({})
        .expect(200, /"waiting"/)
      made.kit.clock.advance('13h')
      await createMfa(made.mfa).account.sendRecoveryNotices()
      made.kit.clock.advance('12h')
      const again = await askedToRecover(made)
      await again
        .post('/mfa/recover/complete')
        .send({})
        .expect(200, /"completed"/)
      expect(await stateOf(again)).toBe('enrollment_required')
      await addKey(again, 'passkey')
      expect(await stateOf(again)).toBe('verified')
    },
  )

  it('starts anew with the password, which leaves the code for a recovery behind', async () => {
    const made = await heldBy(['sms', 'passkey'], { options: RECOVERY })
    made.decide('require')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await agent.post('/mfa/recover').send({}).expect(401)
    await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = made.kit.inbox.all()[0]?.code
    await login(agent, 'bob').expect(200)
    expect((await agent.post('/mfa/verify').send({ code }).expect(409)).body.code).toBe('no_challenge')
  })

  it('may show a backup code for that instead', async () => {
    const made = await heldBy(['sms', 'passkey'], { options: RECOVERY })
    made.decide('require')
    const contact = { kind: 'phone', phone: '+447700900102' } as const
    await made.kit.service.sendBackupCodes({ method: 'sms', contact })
    const [code] = made.kit.inbox.newest('+447700900102').codes
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await agent.post('/mfa/recover').send({}).expect(401)
    const { body } = await agent.post('/mfa/verify').send({ code, factor: 'backup' }).expect(200)
    expect(body).toMatchObject({ status: 'recovery_allowed', next: '/mfa/recover' })
    expect(await stateOf(agent)).toBe('pending')
  })

  itWithSession('still signs in with the strong one, if it is found meanwhile', async () => {
    const made = await heldBy(['sms', 'passkey'], { options: RECOVERY })
    made.decide('require')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await agent.post('/mfa/recover').send({}).expect(401)
    expect(await show(made, agent, 'passkey', { device: made.device, road: 'json' })).toBe('verified')
  })
})

describe('someone who holds the password and every weaker factor of an account (R115, R116)', () => {
  /** Numbers that look random and are the same in each run (a linear congruential generator). */
  const numbersFrom = (seed: number) => {
    let state = seed
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((state / 2 ** 31) * below)
    }
  }

  it('gets into no session, in whatever order they use the routes', async () => {
    const setups: Parameters<typeof heldBy>[1][] = [
      { options: { login: { noDowngrade: true } } },
      {
        options: {
          urls: { publicUrl: 'https://vault.example' },
          recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
        },
      },
    ]
    await everyCase(
      Array.from({ length: 16 }, (_, seed) => seed),
      async (seed) => {
        const pick = numbersFrom(seed + 1)
        const made = await heldBy(['email', 'sms', 'passkey'], setups[seed % 2])
        made.decide(seed % 2 === 0 ? 'require' : KEY_REQUIRED)
        made.bring(claims({ amr: [], acr: 'strong' }))
        const agent = jsonAgent(made.app)
        const post = (path: string, body: object = {}) => agent.post(path).send(body)
        const newest = () => made.kit.inbox.all()[0]?.code ?? '000000'
        const steps: (() => PromiseLike<unknown>)[] = [
          () => login(agent, 'bob'),
          ...['sms', 'email', 'passkey', 'app', 'backup'].flatMap((factor) => [
            () => post('/mfa/challenge', { factor }),
            () => post('/mfa/verify', { code: newest(), factor }),
            () => post('/mfa-login', { code: newest(), factor }),
          ]),
          () => post('/mfa/verify', { code: newest(), trust: true }),
          () => post('/mfa/enroll-app'),
          () => post('/mfa/enroll-app/confirm', { code: '123456' }),
          () => post('/mfa/keys/options', { method: 'passkey' }),
          () => addKey(agent, 'passkey').catch(() => {}),
          () => post('/mfa/backup'),
          () => post('/mfa/backup/codes'),
          () => post('/mfa/recover'),
          () => post('/mfa/recover/complete'),
          () => post('/mfa/recover/cancel'),
          () => post('/mfa/cancel'),
          () => agent.get('/mfa'),
          () => agent.get('/mfa/recover').set('Accept', 'text/html'),
        ]
        await login(agent, 'bob')
        const walked: number[] = []
        for (let step = 0; step < 30; step++) {
          const chosen = pick(steps.length)
          walked.push(chosen)
          await steps[chosen]?.()
          expect((await agent.get('/secret')).status, walked.join()).toBeGreaterThanOrEqual(400)
        }
      },
    )
  }, 60_000)
})
