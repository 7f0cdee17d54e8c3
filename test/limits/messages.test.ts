import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/index.js'
import { hostileService } from '../client/hostile-service.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { host, signIn, signInFully } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { listen, postJson } from '../kit/sockets.js'
import { itWithSession } from '../kit/transports.js'

describe('the wait before a code is sent again (R43)', () => {
  it('is 30, 60, then 120 seconds, and is part of the challenge and of the refusal', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await signIn(made.app, 'bob')
    for (const wait of [30, 60, 120, 120]) {
      const sent = await challenge(agent, 'sms').expect(200)
      expect(Date.parse(sent.body.resendAt) - Date.now()).toBe(wait * SECOND)
      clock.move((wait - 1) * SECOND)
      const refused = await challenge(agent, 'sms').expect(429)
      expect(refused.body).toMatchObject({ code: 'resend_too_soon', retryAfterSeconds: 1 })
      expect(refused.headers['retry-after']).toBe('1')
      clock.move(SECOND)
    }
    expect(made.standIn.count('send')).toBe(4)
  })

  it('is as long as the service requests if that is longer', async () => {
    stopClock()
    const made = host()
    const { send } = made.standIn.service
    made.standIn.service.send = async (request) => ({ ...(await send(request)), resendInSeconds: 90 })
    const agent = await signIn(made.app, 'bob')
    const sent = await challenge(agent, 'sms').expect(200)
    expect(Date.parse(sent.body.resendAt) - Date.now()).toBe(90 * SECOND)
  })

  it('lets one of 200 concurrent requests send a message', async () => {
    const made = host()
    const port = await listen(made.app)
    const login = await postJson(port, '/login', { name: 'bob' })
    const cookie = sessionCookie(login)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)),
    )
    expect(made.standIn.count('send')).toBe(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('the message budget (R43)', () => {
  it('is five in ten minutes, over all factors, sessions and backup codes', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await signIn(made.app, 'alice')
    await challenge(agent, 'sms').expect(200)
    // Backup codes require the strongest factor of the account.
    made.standIn.setApp('alice@example.com', '654321')
    await verify(agent, '654321', { factor: 'app' }).expect(200)
    await challenge(agent, 'email').expect(200)
    await agent.post('/mfa/backup').send({}).expect(200)
    const other = await signIn(made.app, 'alice')
    await challenge(other, 'sms').expect(200)
    await challenge(other, 'email').expect(200)
    const third = await signIn(made.app, 'alice')
    const refused = await challenge(third, 'sms').expect(429)
    expect(refused.body.code).toBe('too_many_messages')
    expect(Number(refused.headers['retry-after'])).toBe(600)
    expect(made.standIn.count('send') + made.standIn.count('sendBackupCodes')).toBe(5)
    // Factors that need no message still work.
    made.standIn.setApp('alice@example.com', '123456')
    clock.move(MINUTE)
    await verify(third, '123456', { factor: 'app' }).expect(200)
  })

  it('is five for 60 concurrent logins', async () => {
    const made = host()
    const port = await listen(made.app)
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const login = await postJson(port, '/login', { name: 'bob' })
        const cookie = sessionCookie(login)
        await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
      }),
    )
    expect(made.standIn.count('send')).toBe(5)
  })

  it('is ten in a day, and starts over the next day', async () => {
    const clock = stopClock()
    const made = host()
    let sent = 0
    for (let hour = 0; hour < 23; hour++) {
      if ((await challenge(await signIn(made.app, 'bob'), 'sms')).status === 200) sent++
      clock.move(HOUR)
    }
    expect(sent).toBe(10)
    const refused = await challenge(await signIn(made.app, 'bob'), 'sms').expect(429)
    expect(Number(refused.headers['retry-after'])).toBe(3_600)
    clock.move(DAY)
    await challenge(await signIn(made.app, 'bob'), 'sms').expect(200)
  })

  it('is separate for each account', async () => {
    const made = host()
    for (let login = 0; login < 6; login++) await challenge(await signIn(made.app, 'bob'), 'sms')
    await challenge(await signIn(made.app, 'alice'), 'sms').expect(200)
  })

  it('does not count messages that the service refused or could not send', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    made.standIn.setTrouble(made.standIn.down)
    for (let attempt = 0; attempt < 12; attempt++) await challenge(agent, 'sms').expect(503)
    made.standIn.setTrouble(undefined)
    const { send } = made.standIn.service
    made.standIn.service.send = async () => ({ outcome: 'refused', refusal: { reason: 'contact_refused' } })
    for (let attempt = 0; attempt < 12; attempt++) {
      expect((await challenge(agent, 'sms').expect(422)).body.code).toBe('contact_refused')
    }
    made.standIn.service.send = send
    await challenge(agent, 'sms').expect(200)
  })

  it('does not count messages that certainly were not sent, whatever the error code', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    made.standIn.setTrouble(async () => {
      throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'never connected', { effect: 'none' })
    })
    for (let attempt = 0; attempt < 12; attempt++) await challenge(agent, 'sms').expect(503)
    made.standIn.setTrouble(undefined)
    await challenge(agent, 'sms').expect(200)
  })

  it('of the service leads to the same refusal', async () => {
    const made = host()
    made.standIn.service.send = async () => ({
      outcome: 'refused',
      refusal: { reason: 'limited', retryAfterSeconds: 77 },
    })
    const refused = await challenge(await signIn(made.app, 'bob'), 'sms').expect(429)
    expect(refused.body.code).toBe('too_many_messages')
    expect(refused.headers['retry-after']).toBe('77')
  })
})

describe('a message that may have been sent although the service failed (R43)', () => {
  const unsure = [
    ['did not respond in time', () => new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')],
    ['broke off its response', () => new ServiceError('ERR_MFA_SERVICE_ANSWER', 'cut short')],
    [
      'could not be reached with unknown effect',
      () => new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'reset', { effect: 'unknown' }),
    ],
    ['failed with another error', () => new RangeError('a bug')],
  ] as const

  it('stays counted, and so does the wait, when the service may have sent it', () =>
    everyCase(unsure, async ([_title, error]) => {
      const clock = stopClock()
      const made = host()
      const agent = await signIn(made.app, 'bob')
      made.standIn.setTrouble(async () => {
        throw error()
      })
      for (const wait of [30, 60, 120, 120, 120]) {
        expect((await challenge(agent, 'sms')).status).toBeGreaterThanOrEqual(500)
        const refused = await challenge(agent, 'sms').expect(429)
        expect(refused.body).toMatchObject({ code: 'resend_too_soon', retryAfterSeconds: wait })
        clock.move(wait * SECOND)
      }
      made.standIn.setTrouble(undefined)
      expect((await challenge(agent, 'sms').expect(429)).body.code).toBe('too_many_messages')
      expect((await challenge(await signIn(made.app, 'bob'), 'sms').expect(429)).body.code).toBe(
        'too_many_messages',
      )
      expect(made.standIn.count('send')).toBe(5)
      clock.move(10 * MINUTE)
      await challenge(await signIn(made.app, 'bob'), 'sms').expect(200)
    }))

  it('stays counted if it had backup codes, when the service may have sent them', () =>
    everyCase(unsure, async ([_title, error]) => {
      const clock = stopClock()
      const made = host()
      const agent = await signInFully(made, 'bob')
      made.standIn.setTrouble(async () => {
        throw error()
      })
      const backup = () => agent.post('/mfa/backup').send({})
      expect((await backup()).status).toBeGreaterThanOrEqual(500)
      expect((await backup().expect(429)).body).toMatchObject({
        code: 'resend_too_soon',
        retryAfterSeconds: 30,
      })
      made.standIn.setTrouble(undefined)
      clock.move(30 * SECOND)
      await backup().expect(200)
    }))

  itWithSession(
    'reaches a slow service five times, however often an attacker with the password requests it',
    async () => {
      const service = await hostileService(() => {})
      const address = {
        baseUrl: service.url,
        apiKey: 'key-of-the-tests-0123456789',
        dialect: 'published',
      } as const
      const slow = { ...address, dialect: 'published', timeout: 1_000 } as const
      const made = host({ options: { service: { ...slow, breaker: false } } })
      const statuses: number[] = []
      for (let login = 0; login < 12; login++) {
        statuses.push((await challenge(await signIn(made.app, 'bob'), 'sms')).status)
      }
      expect(statuses).toEqual([503, 503, 503, 503, 503, 429, 429, 429, 429, 429, 429, 429])
      expect(service.calls).toHaveLength(5)
    },
  )

  it('is not counted while the service does not listen', async () => {
    // A port that is never given to a server of another test.
    const gone = {
      baseUrl: 'http://127.0.0.1:1',
      apiKey: 'key-of-the-tests-0123456789',
      dialect: 'published',
    } as const
    const made = host({ options: { service: gone } })
    const agent = await signIn(made.app, 'bob')
    // Some of these are refused by the open circuit breaker.
    for (let attempt = 0; attempt < 12; attempt++) await challenge(agent, 'sms').expect(503)
  })
})

describe('the recipient of a message (R42)', () => {
  it('is never taken from the request', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await agent
      .post('/mfa/challenge?phone=%2B15550100&user=u-ali')
      .send({
        factor: 'sms',
        phone: '+15550100',
        to: '+15550100',
        user: 'u-ali',
        User: ['a@b.example'],
        userId: 'u-ali',
      })
      .expect(200)
    expect(made.standIn.delivered).toMatchObject([{ to: '+447700900102' }])
    expect(made.standIn.calls.at(-1)?.request).toMatchObject({ account: 'u-bob' })
  })

  it('cannot be a factor of another account', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    for (const factor of ['email', 'app', 'dual', 'u-ali', '+447700900101', '__proto__', 'constructor']) {
      expect((await challenge(agent, factor).expect(404)).body.code).toBe('unknown_factor')
    }
    expect(made.standIn.calls).toHaveLength(0)
  })
})

describe('the client address (R31)', () => {
  it('in X-Forwarded-For is read without its port, and grouped by network', () =>
    everyCase(
      [
        ['203.0.113.9:4711', '203.0.113.9'],
        ['::ffff:203.0.113.9', '203.0.113.9'],
        ['[2001:db8::7]:4711', '2001:db8::7'],
        ['[2001:db8::7]', '2001:db8::7'],
        ['fe80::1%eth0', 'fe80::1'],
        ['unknown', undefined],
        ['call +44 20 7946 0000 at once', undefined],
        ['203.0.113.9.example', undefined],
        ['[', undefined],
      ],
      async ([passedOn, address]) => {
        const made = host({ first: (app) => void app.set('trust proxy', 1) })
        const agent = await signIn(made.app, 'bob')
        await challenge(agent, 'sms').set('X-Forwarded-For', passedOn).expect(200)
        expect(Reflect.get(made.standIn.calls.at(-1)?.request ?? {}, 'clientAddress')).toBe(address)
      },
    ))

  it.each([
    [false, undefined],
    [1, '203.0.113.9'],
  ])(
    'that the service receives is the one that Express determines (trust proxy: %s)',
    async (trust, address) => {
      const made = host({ first: (app) => void app.set('trust proxy', trust) })
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms').set('X-Forwarded-For', '198.51.100.1, 203.0.113.9').expect(200)
      expect(Reflect.get(made.standIn.calls.at(-1)?.request ?? {}, 'clientAddress')).toBe(address)
    },
  )
})
