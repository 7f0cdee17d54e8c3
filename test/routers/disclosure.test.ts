import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import type { MfaEvent } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

describe('a response (R41, R46)', () => {
  it('contains no code, full phone number or full email address, whether page or JSON, in headers or body', async () => {
    const clock = stopClock()
    for (const accept of ['text/html', 'application/json']) {
      const { app, standIn } = host()
      const agent = jsonAgent(app).set('Accept', accept)
      const seen: Response[] = []
      const record = async (answer: PromiseLike<Response>) => void seen.push(await answer)
      await login(agent, 'alice')
      await record(agent.get('/mfa?choose'))
      for (const factor of ['sms', 'email', 'app']) {
        await record(challenge(agent, factor))
        await record(agent.get('/mfa/verify'))
        await record(agent.get('/mfa'))
        await record(challenge(agent, factor))
        await record(verify(agent, '000000', { factor }))
        clock.move(31 * SECOND)
      }
      await challenge(agent, 'sms')
      await record(verify(agent, standIn.newestCode()))
      await record(agent.get('/mfa'))
      await record(agent.get('/mfa/backup'))
      await record(agent.post('/mfa/backup').send({}))
      clock.move(6 * MINUTE)
      await record(agent.post('/transfer'))
      expect(seen.length).toBeGreaterThan(18)
      const all = seen.map(({ headers, text }) => JSON.stringify(headers) + text).join('\n')
      for (const { code } of standIn.delivered) expect(all).not.toMatch(new RegExp(`\\b${code}\\b`))
      for (const hidden of ['+447700900101', '7700900101', '0101', 'lice@', 'AAAABBBB', 'EEEEFFFF']) {
        expect(all).not.toContain(hidden)
      }
    }
  })

  it('contains a masked contact only for the user whose contact it is (R46)', async () => {
    const { app } = host()
    await signIn(app, 'alice')
    for (const path of ['/mfa', '/mfa/verify', '/mfa/backup', '/secret']) {
      expect((await jsonAgent(app).get(path)).text).not.toMatch(/•|@example/)
      expect((await browserAgent(app).get(path)).text).not.toMatch(/•|@example/)
    }
  })
})

describe('the response to a wrong code (R33)', () => {
  it('is the same for a random, a used, an unknown and another user’s code', async () => {
    stopClock()
    const { app, standIn } = host()
    const dora = await signIn(app, 'dora')
    await challenge(dora, 'dual')
    const doras = standIn.newestCode()
    const first = await signIn(app, 'bob')
    await challenge(first, 'sms')
    const used = standIn.newestCode()
    await verify(first, used).expect(200)
    const answers = []
    for (const code of ['000000', used, doras, 'ZZZZZZ', 'x']) {
      const agent = await signIn(app, 'bob')
      await challenge(agent, 'sms')
      const { status, body } = await verify(agent, code)
      answers.push(JSON.stringify({ status, body }))
      if (answers.length === 4) break
    }
    expect(new Set(answers).size).toBe(1)
  })

  it('says that a factor was sent no code while one of another factor is awaited, without a call to the service', async () => {
    const { app, standIn } = host()
    const agent = await signIn(app, 'alice')
    await challenge(agent, 'sms').expect(200)
    const { body } = await verify(agent, standIn.newestCode(), { factor: 'email' }).expect(409)
    expect(body.code).toBe('no_challenge')
    expect(standIn.count('verify')).toBe(0)
  })

  it('says that the code expired from what the session knows, without a call to the service', async () => {
    const clock = stopClock()
    const { app, standIn } = host()
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms')
    clock.move(5 * MINUTE - 1)
    expect((await verify(agent, '000000')).body.code).toBe('invalid_code')
    clock.move(1)
    const calls = standIn.calls.length
    const late = await verify(agent, standIn.newestCode()).expect(401)
    expect(late.body.code).toBe('code_expired')
    expect(standIn.calls).toHaveLength(calls)
  })
})

describe('a code (R91)', () => {
  it('is accepted only as its own kind: backup code, delivered code or app code', async () => {
    stopClock()
    const made = host()
    const { app, standIn } = made
    const owner = await signInFully(made, 'alice')
    await owner.post('/mfa/backup').send({}).expect(200)
    const agent = await signIn(app, 'alice')
    await challenge(agent, 'sms').expect(200)
    const delivered = standIn.newestCode()
    await verify(agent, 'AAAABBBBCCCCDDDD').expect(401)
    await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'app' }).expect(401)
    await verify(agent, delivered, { factor: 'backup' }).expect(401)
    expect(standIn.calls.slice(-3).map(({ request }) => Reflect.get(request as object, 'kind'))).toEqual([
      'code',
      'code',
      'backup',
    ])
    await verify(agent, 'aaaa-bbbb cccc dddd', { factor: 'backup' }).expect(200)
    expect((await agent.get('/secret').expect(200)).body.mfa.amr).toEqual(['pwd', 'otp', 'mfa'])
    // A backup code works once.
    const again = await signIn(app, 'alice')
    await verify(again, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(401)
  })

  it('is not accepted as a backup code from a user without a contact to send backup codes to', async () => {
    const { app, standIn } = host()
    const agent = await signIn(app, 'otto')
    for (const path of ['/mfa/challenge', '/mfa/verify']) {
      await agent.post(path).send({ code: 'AAAABBBBCCCCDDDD', factor: 'backup' }).expect(404)
    }
    expect(standIn.calls).toHaveLength(0)
  })
})

describe('events (R89)', () => {
  it('name the user and what happened, but no code, secret or contact', async () => {
    const clock = stopClock()
    const events: MfaEvent[] = []
    const made = host({ options: { onEvent: (event) => void events.push(event) } })
    const { app, standIn } = made
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms')
    await verify(agent, '000000')
    await verify(agent, standIn.newestCode()).expect(200)
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({})
    await agent.post('/mfa/enroll-app/confirm').send({ code: '999999' })
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await agent.post('/mfa/backup').send({}).expect(200)
    clock.move(6 * MINUTE)
    await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(200)
    const other = await signIn(app, 'bob')
    await other.post('/mfa/cancel').send({}).expect(200)
    expect(events.map(({ at: _at, ...event }) => event)).toEqual(
      [
        { type: 'pending_login_started' },
        { type: 'challenged', method: 'sms', delivery: 'sent', again: false },
        { type: 'refused', method: 'sms', code: 'invalid_code' },
        { type: 'verified', method: 'sms', purpose: 'sign-in', afterMs: 0 },
        { type: 'challenged', method: 'sms', delivery: 'sent', again: false },
        { type: 'approved', method: 'sms', approval: expect.any(String), binding: 'entered', afterMs: 0 },
        { type: 'refused', method: 'app', code: 'invalid_code' },
        { type: 'app_enrolled' },
        { type: 'backup_codes_sent' },
        { type: 'verified', method: 'backup', purpose: 'step-up' },
        { type: 'pending_login_started' },
        { type: 'given_up', reason: 'canceled' },
      ].map((event) => ({ userId: 'u-bob', ...event })),
    )
    for (const { at } of events) {
      expect(at).toBeLessThanOrEqual(Date.now())
    }
    const all = JSON.stringify(events)
    for (const hidden of [
      ...standIn.delivered.map(({ code }) => code),
      '999999',
      'JBSWY3',
      '0900102',
      '@',
      'AAAA',
    ]) {
      expect(all.replaceAll(/"at":\d+/g, '')).not.toContain(hidden)
    }
  })

  it('report a lock once, when it begins, and each refusal that follows', async () => {
    const events: MfaEvent[] = []
    const made = host({ options: { onEvent: (event) => void events.push(event) } })
    for (let session = 0; session < 3; session++) {
      const agent = await signIn(made.app, 'otto')
      for (let attempt = 0; attempt < 4; attempt++) {
        await verify(agent, '000000', { factor: 'app' })
      }
    }
    expect(events.filter(({ type }) => type === 'locked')).toMatchObject([
      { userId: 'u-ott', forSeconds: 1_800 },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'refused', method: 'app', code: 'locked' })
  })

  it('do not affect a sign-in when the host’s listener throws', async () => {
    const made = host({
      options: {
        onEvent: () => {
          throw new Error('a bug of the host')
        },
      },
    })
    await signInFully(made, 'bob')
  })

  it('do not report a code as verified that was checked after the logout', async () => {
    const events: MfaEvent[] = []
    const made = host({ options: { onEvent: (event) => void events.push(event) } })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const held = made.standIn.hold()
    const late = verify(agent, made.standIn.newestCode()).then((answer) => answer)
    await held.arrived
    await agent.post('/logout').expect(200)
    held.release()
    await late
    expect(events.map(({ type }) => type)).not.toContain('verified')
  })
})

describe('a log entry (R84)', () => {
  it('contains no code, contact or user', async () => {
    const logged: string[] = []
    const note = (...parts: unknown[]) => void logged.push(parts.map((part) => String(part)).join(' '))
    const made = host({ options: { logger: { warn: note, error: note } } })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    made.standIn.setTrouble(made.standIn.down)
    await verify(agent, made.standIn.newestCode()).expect(503)
    expect(logged).toHaveLength(1)
    for (const hidden of [made.standIn.newestCode(), '900102', 'bob', 'u-bob'])
      expect(logged.join()).not.toContain(hidden)
  })
})
