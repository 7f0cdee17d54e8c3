import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type Host, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { listen, postJson } from '../kit/sockets.js'

type Agent = Awaited<ReturnType<typeof signIn>>

const wrong = (agent: Agent, factor?: string) => verify(agent, '000000', { ...(factor && { factor }) })

const right = ({ standIn }: Host, agent: Agent) => verify(agent, standIn.newestCode())

async function halfway(port: number, name: string) {
  return sessionCookie(await postJson(port, '/login', { name }))
}

describe('R21 R22 two hundred at once, over sockets of their own', () => {
  it('of wrong codes: five are evaluated, then the right one is refused too', async () => {
    const made = host()
    const port = await listen(made.app)
    const cookie = await halfway(port, 'bob')
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => postJson(port, '/mfa/verify', { code: '000000' }, cookie)),
    )
    expect(made.standIn.count('verify')).toBe(5)
    expect(answers.filter(({ body }) => body.code === 'invalid_code')).toHaveLength(5)
    expect(
      answers.filter(({ body, status }) => body.code === 'challenge_exhausted' && status === 429),
    ).toHaveLength(195)
    const last = await postJson(port, '/mfa/verify', { code: made.standIn.newestCode() }, cookie)
    expect(last.body.code).toBe('challenge_exhausted')
    expect(made.standIn.count('verify')).toBe(5)
  })

  it('of wrong codes in forty sessions of one account: at most ten are evaluated', async () => {
    const made = host({ options: { limits: { sendsPerTenMinutes: 5 } } })
    const port = await listen(made.app)
    const cookies = await Promise.all(Array.from({ length: 40 }, () => halfway(port, 'otto')))
    const answers = await Promise.all(
      cookies.flatMap((cookie) =>
        Array.from({ length: 5 }, () =>
          postJson(port, '/mfa/verify', { code: '000000', factor: 'app' }, cookie),
        ),
      ),
    )
    const evaluated = made.standIn.count('verify')
    // What is still being evaluated counts for the lock, too: it may come a little early, never late.
    expect(evaluated).toBeLessThanOrEqual(10)
    expect(evaluated).toBeGreaterThan(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - evaluated)
    for (const { status, headers } of answers) {
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
  })

  it('of right codes: one verified session comes of them', async () => {
    const store = new FaultyStore()
    const made = host({ store })
    // A service that forgets to use a code up, and says yes to all five at the same moment.
    const allFive = signal()
    const { verify } = made.standIn.service
    made.standIn.service.verify = async (request) => {
      await verify(request)
      if (made.standIn.count('verify') === 5) allFive.give()
      await allFive.given
      return { outcome: 'valid' }
    }
    const port = await listen(made.app)
    const cookie = await halfway(port, 'bob')
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    store.readMs = 50
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        postJson(port, '/mfa/verify', { code: made.standIn.newestCode() }, cookie),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1)
    const verified = store.records.filter(({ stage }) => stage === 'verified')
    expect(verified).toHaveLength(1)
    expect(store.stored).not.toHaveProperty([sessionId(cookie)])
  })

  it('of right and wrong ones mixed: never more than one session, never more than five evaluated', async () => {
    const store = new FaultyStore()
    const made = host({ store })
    const port = await listen(made.app)
    const cookie = await halfway(port, 'bob')
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    const code = made.standIn.newestCode()
    await Promise.all(
      Array.from({ length: 200 }, (_, number) =>
        postJson(port, '/mfa/verify', { code: number % 4 === 3 ? code : '000000' }, cookie),
      ),
    )
    expect(made.standIn.count('verify')).toBeLessThanOrEqual(5)
    const verified = store.records.filter(({ stage }) => stage === 'verified')
    expect(verified.length).toBeLessThanOrEqual(1)
  })

  it('of nothing: a person who types the right code is in', async () => {
    const made = host()
    const port = await listen(made.app)
    const cookie = await halfway(port, 'bob')
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    const answer = await postJson(port, '/mfa/verify', { code: made.standIn.newestCode() }, cookie)
    expect(answer.body).toEqual({ status: 'verified', next: '/' })
  })
})

describe('R22 the tries of one challenge', () => {
  it('are told as they go', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const left = []
    for (let attempt = 0; attempt < 5; attempt++) left.push((await wrong(agent)).body.attemptsLeft)
    expect(left).toEqual([4, 3, 2, 1, 0])
    const answer = await wrong(agent).expect(429)
    expect(answer.headers['retry-after']).toBe('1')
  })

  it('R24 R39 are not more after the code was sent again', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const first = made.standIn.newestCode()
    const { expiresAt } = (await agent.get('/mfa')).body.challenge
    for (let attempt = 0; attempt < 4; attempt++) await wrong(agent).expect(401)
    clock.move(31 * SECOND)
    const again = await challenge(agent, 'sms').expect(200)
    expect(made.standIn.newestCode()).toBe(first)
    expect(again.body.expiresAt).toBe(expiresAt)
    await wrong(agent).expect(401)
    expect((await right(made, agent)).body.code).toBe('challenge_exhausted')
  })

  it('are new with a new code, which the old code is not good for', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const first = made.standIn.newestCode()
    for (let attempt = 0; attempt < 5; attempt++) await wrong(agent)
    clock.move(31 * SECOND)
    await challenge(agent, 'sms').expect(200)
    expect(made.standIn.newestCode()).not.toBe(first)
    expect((await verify(agent, first)).body.code).toBe('invalid_code')
    await right(made, agent).expect(200)
  })

  it('count what could be no code at all, which is never sent to the service', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const codes = ['abc', '!!!!!!', '12', '１２', '💥💥💥💥', ' ']
    const answers = []
    for (const code of codes) answers.push((await verify(agent, code)).body.code)
    expect(answers).toEqual([...Array(5).fill('invalid_code'), 'challenge_exhausted'])
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('R30 take a code in any spelling for the same', async () => {
    for (const spell of [
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code: string) => ` ${code.slice(0, 3)}–${code.slice(3)}\u200b`,
      (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    ]) {
      const made = host()
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms')
      await verify(agent, spell(made.standIn.newestCode())).expect(200)
    }
  })
})

describe('R23 ten wrong codes in a day', () => {
  async function lockOut(made: Host, name = 'alice') {
    let agent = await signIn(made.app, name)
    for (let attempt = 0; attempt < 4; attempt++) await wrong(agent, 'app').expect(401)
    await challenge(agent, 'sms')
    for (let attempt = 0; attempt < 3; attempt++) await wrong(agent).expect(401)
    agent = await signIn(made.app, name)
    await challenge(agent, 'email')
    for (let attempt = 0; attempt < 2; attempt++) await wrong(agent).expect(401)
    await verify(agent, 'AAAA-BBBB-CCCC-DDDE', { factor: 'backup' }).expect(401)
    return agent
  }

  it('over all factors and sessions lock the account, for the right code too, and say for how long', async () => {
    const clock = stopClock()
    const made = host()
    made.standIn.setApp('alice@example.com', '123456')
    const agent = await lockOut(made)
    const calls = made.standIn.calls.length
    for (const [path, body] of [
      ['/mfa/verify', { code: '123456', factor: 'app' }],
      ['/mfa/verify', { code: made.standIn.newestCode() }],
      ['/mfa/verify', { code: 'AAAABBBBCCCCDDDD', factor: 'backup' }],
      ['/mfa/challenge', { factor: 'sms' }],
      ['/mfa/challenge', { factor: 'app' }],
    ] as const) {
      const answer = await agent.post(path).send(body).expect(429)
      expect(answer.body).toMatchObject({ code: 'locked', retryAfterSeconds: 1_800 })
      expect(answer.headers['retry-after']).toBe('1800')
    }
    // A new login and another session change nothing.
    const other = await signIn(made.app, 'alice')
    await verify(other, '123456', { factor: 'app' }).expect(429)
    expect(made.standIn.calls).toHaveLength(calls)

    clock.move(30 * MINUTE - SECOND)
    const late = await signIn(made.app, 'alice')
    await verify(late, '123456', { factor: 'app' }).expect(429)
    clock.move(SECOND)
    await verify(late, '123456', { factor: 'app' }).expect(200)
  })

  it('R27 lock twice as long the second time', async () => {
    const clock = stopClock()
    const made = host()
    await lockOut(made)
    clock.move(30 * MINUTE)
    const agent = await lockOut(made)
    const answer = await wrong(agent, 'app').expect(429)
    expect(answer.headers['retry-after']).toBe('3600')
    clock.move(HOUR)
    await wrong(agent, 'app').expect(401)
  })

  it('R27 do not end sessions that are verified, nor what they may still do', async () => {
    stopClock()
    const made = host()
    const victim = await signInFully(made, 'alice', 'email')
    await lockOut(made)
    await victim.get('/secret').expect(200)
    await victim.post('/transfer').expect(200)
    expect((await wrong(victim, 'app').expect(429)).body.code).toBe('locked')
  })

  it('R20 may be those of a step-up, and of an app that is set up, as well', async () => {
    stopClock()
    const made = host()
    const owner = await signInFully(made, 'alice')
    await owner.post('/mfa/enroll-app').expect(200)
    for (let attempt = 0; attempt < 5; attempt++) {
      await owner.post('/mfa/enroll-app/confirm').send({ code: '000000' }).expect(401)
    }
    const spent = await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(429)
    expect(spent.body.code).toBe('challenge_exhausted')
    for (let attempt = 0; attempt < 5; attempt++) await wrong(owner, 'app').expect(401)
    const other = await signIn(made.app, 'alice')
    expect((await wrong(other, 'app').expect(429)).body.code).toBe('locked')
  })

  it('R32 lock a challenge that was started before', async () => {
    stopClock()
    const made = host()
    const early = await signIn(made.app, 'alice')
    await challenge(early, 'email').expect(200)
    const code = made.standIn.newestCode()
    await lockOut(made)
    expect((await verify(early, code).expect(429)).body.code).toBe('locked')
  })

  it('lock nobody else', async () => {
    const made = host()
    await lockOut(made)
    await signInFully(made, 'bob')
  })

  it('are told on a page, in words', async () => {
    const made = host()
    const agent = await lockOut(made)
    const answer = await verify(agent, '000000', { factor: 'app' }).set('Accept', 'text/html')
    expect(answer.status).toBe(429)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.headers['retry-after']).toBe('1800')
    expect(answer.text).toMatch(/30 minutes/)
  })
})

describe('R25 a right code', () => {
  it('forgives the wrong ones of its own challenge and no others', async () => {
    stopClock()
    const made = host()
    const thief = await signIn(made.app, 'alice')
    for (let attempt = 0; attempt < 5; attempt++) await wrong(thief, 'app').expect(401)
    // The victim mistypes twice and signs in.
    const victim = await signIn(made.app, 'alice')
    await challenge(victim, 'sms')
    await wrong(victim).expect(401)
    await wrong(victim).expect(401)
    await right(made, victim).expect(200)
    // Five are left of ten: the victim's own are forgiven, the thief's are not.
    const codes = []
    const again = await signIn(made.app, 'alice')
    await challenge(again, 'email')
    for (let attempt = 0; attempt < 5; attempt++) codes.push((await wrong(again)).body.code)
    expect(codes).toEqual(Array(5).fill('invalid_code'))
    const locked = await signIn(made.app, 'alice')
    expect((await wrong(locked, 'app')).body.code).toBe('locked')
  })

  it('ends its challenge: it cannot be used twice', async () => {
    const made = host()
    const { service } = made.standIn
    const { verify: check } = service
    service.verify = async (request) => {
      await check(request)
      return { outcome: 'valid' }
    }
    const cookie = sessionCookie(await login(jsonAgent(made.app), 'bob'))
    const samePending = () => jsonAgent(made.app).set('Cookie', cookie)
    await challenge(samePending(), 'sms')
    await verify(samePending(), '111111').expect(200)
    await verify(samePending(), '111111').expect(401)
  })

  it('is not needed for nine wrong ones to be forgotten a day later', async () => {
    const clock = stopClock()
    const made = host()
    for (let day = 0; day < 3; day++) {
      for (let attempt = 0; attempt < 9; attempt++) {
        await wrong(await signIn(made.app, 'otto'), 'app').expect(401)
      }
      clock.move(DAY)
    }
    await wrong(await signIn(made.app, 'otto'), 'app').expect(401)
  })
})
