import { MemoryStore } from 'express-session'
import { describe, expect, it } from 'vitest'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type Host, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { begin, listen, postJson } from '../kit/sockets.js'
import { standInService } from '../kit/stand-in-service.js'
import { itWithSession } from '../kit/transports.js'

type Agent = Awaited<ReturnType<typeof signIn>>

const wrong = (agent: Agent, factor?: string) => verify(agent, '000000', { ...(factor && { factor }) })

const right = ({ standIn }: Host, agent: Agent) => verify(agent, standIn.newestCode())

async function pendingLogin(port: number, name: string) {
  return sessionCookie(await postJson(port, '/login', { name }))
}

describe('concurrent verification over separate sockets (R21, R22)', () => {
  it('evaluates five of 200 wrong codes, and then rejects the correct code too', async () => {
    const made = host()
    const port = await listen(made.app)
    const cookie = await pendingLogin(port, 'bob')
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

  it('counts wrong codes in each process for itself, and forgets sessions, if both are in memory', async () => {
    const standIn = standInService()
    const sessions = new MemoryStore()
    const start = (store: MemoryStore) => listen(host({ standIn, store }).app)
    const [first, second, started] = await Promise.all([
      start(sessions),
      start(sessions),
      start(new MemoryStore()),
    ])
    const cookie = await pendingLogin(first, 'bob')
    await postJson(first, '/mfa/challenge', { factor: 'sms' }, cookie)
    for (const port of [first, second]) {
      for (let nth = 0; nth < 20; nth++) await postJson(port, '/mfa/verify', { code: '000000' }, cookie)
    }
    expect(standIn.count('verify')).toBe(10)

    const pending = await pendingLogin(first, 'alice')
    await postJson(first, '/mfa/challenge', { factor: 'sms' }, pending)
    const verified = sessionCookie(
      await postJson(first, '/mfa/verify', { code: standIn.newestCode() }, pending),
    )
    const secretAt = (port: number) =>
      begin(port, { method: 'GET', path: '/secret', headers: { Cookie: verified } }).finish()
    expect((await secretAt(second)).status).toBe(200)
    expect(await secretAt(started)).toMatchObject({ status: 401, body: { code: 'closed' } })
  })

  it('evaluates at most ten of 200 wrong codes in 40 sessions of one account', async () => {
    const made = host({ options: { limits: { sendsPerTenMinutes: 5 } } })
    const port = await listen(made.app)
    const cookies = await Promise.all(Array.from({ length: 40 }, () => pendingLogin(port, 'otto')))
    const answers = await Promise.all(
      cookies.flatMap((cookie) =>
        Array.from({ length: 5 }, () =>
          postJson(port, '/mfa/verify', { code: '000000', factor: 'app' }, cookie),
        ),
      ),
    )
    const evaluated = made.standIn.count('verify')
    // Codes still being evaluated count for the lock too: it can come a little early, never late.
    expect(evaluated).toBeLessThanOrEqual(10)
    expect(evaluated).toBeGreaterThan(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - evaluated)
    for (const { status, headers } of answers) {
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
  })

  it('creates one verified session for 200 correct codes', async () => {
    const store = new FaultyStore()
    const made = host({ store })
    // A service that does not use a code up, and accepts all five at the same moment.
    const allFive = signal()
    const { verify } = made.standIn.service
    made.standIn.service.verify = async (request) => {
      await verify(request)
      if (made.standIn.count('verify') === 5) allFive.give()
      await allFive.given
      return { outcome: 'valid' }
    }
    const port = await listen(made.app)
    const cookie = await pendingLogin(port, 'bob')
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

  it('creates at most one session for 200 correct and wrong codes, and evaluates at most five', async () => {
    const store = new FaultyStore()
    const made = host({ store })
    const port = await listen(made.app)
    const cookie = await pendingLogin(port, 'bob')
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

  it('signs the user in with a single correct code', async () => {
    const made = host()
    const port = await listen(made.app)
    const cookie = await pendingLogin(port, 'bob')
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    const answer = await postJson(port, '/mfa/verify', { code: made.standIn.newestCode() }, cookie)
    expect(answer.body).toEqual({ status: 'verified', next: '/' })
  })
})

describe('the attempts of one challenge (R22)', () => {
  it('are counted down in the responses', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const left = []
    for (let attempt = 0; attempt < 5; attempt++) left.push((await wrong(agent)).body.attemptsLeft)
    expect(left).toEqual([4, 3, 2, 1, 0])
    const answer = await wrong(agent).expect(429)
    expect(answer.headers['retry-after']).toBe('1')
  })

  it('do not increase when the code is sent again (R24, R39)', async () => {
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

  it('start over with a new code, and the old code is no longer valid', async () => {
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

  it('include malformed codes, which are never sent to the service', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const codes = ['abc', '!!!!!!', '12', '１２', '💥💥💥💥', ' ']
    const answers = []
    for (const code of codes) answers.push((await verify(agent, code)).body.code)
    expect(answers).toEqual([...Array(5).fill('invalid_code'), 'challenge_exhausted'])
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('accept a code in any spelling (R30)', async () => {
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

describe('ten wrong codes in a day (R23)', () => {
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

  it('lock the account over all factors and sessions, also for the correct code, and the responses say for how long', async () => {
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
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(1795)
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

  it('lock twice as long the second time (R27)', async () => {
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

  it('do not affect verified sessions until they verify another code (R27)', async () => {
    stopClock()
    const made = host()
    const owner = await signInFully(made, 'alice', 'email')
    await lockOut(made)
    await owner.get('/secret').expect(200)
    await owner.post('/transfer').expect(200)
    expect((await wrong(owner, 'app').expect(429)).body.code).toBe('locked')
  })

  it('include those of a step-up and of an app that is being set up (R20)', async () => {
    stopClock()
    const made = host()
    const owner = await signInFully(made, 'alice')
    await approveChange(owner, '/mfa/enroll-app', byStandIn(made, owner))
    await owner.post('/mfa/enroll-app').expect(200)
    for (let attempt = 0; attempt < 5; attempt++) {
      await owner.post('/mfa/enroll-app/confirm').send({ code: '000000' }).expect(401)
    }
    const exhausted = await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(429)
    expect(exhausted.body.code).toBe('challenge_exhausted')
    for (let attempt = 0; attempt < 5; attempt++) await wrong(owner, 'app').expect(401)
    const other = await signIn(made.app, 'alice')
    expect((await wrong(other, 'app').expect(429)).body.code).toBe('locked')
  })

  it('lock a challenge that was started before (R32)', async () => {
    stopClock()
    const made = host()
    const early = await signIn(made.app, 'alice')
    await challenge(early, 'email').expect(200)
    const code = made.standIn.newestCode()
    await lockOut(made)
    expect((await verify(early, code).expect(429)).body.code).toBe('locked')
  })

  it('lock no other account', async () => {
    const made = host()
    await lockOut(made)
    await signInFully(made, 'bob')
  })

  itWithSession('show a page that says how long the lock lasts', async () => {
    const made = host()
    const agent = await lockOut(made)
    const refused = verify(agent, '000000', { factor: 'app' }).set('Accept', 'text/html')
    const answer = await refused.redirects(1)
    expect(answer.status).toBe(429)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(1795)
    expect(answer.text).toMatch(/30 minutes/)
  })
})

describe('a correct code (R25)', () => {
  it('forgives the wrong codes of its own challenge only', async () => {
    stopClock()
    const made = host()
    const attacker = await signIn(made.app, 'alice')
    for (let attempt = 0; attempt < 5; attempt++) await wrong(attacker, 'app').expect(401)
    // The owner mistypes twice and signs in.
    const owner = await signIn(made.app, 'alice')
    await challenge(owner, 'sms')
    await wrong(owner).expect(401)
    await wrong(owner).expect(401)
    await right(made, owner).expect(200)
    // Five of ten are left: the owner's wrong codes are forgiven, the attacker's are not.
    const codes = []
    const again = await signIn(made.app, 'alice')
    await challenge(again, 'email')
    for (let attempt = 0; attempt < 5; attempt++) codes.push((await wrong(again)).body.code)
    expect(codes).toEqual(Array(5).fill('invalid_code'))
    const locked = await signIn(made.app, 'alice')
    expect((await wrong(locked, 'app')).body.code).toBe('locked')
  })

  itWithSession('ends its challenge, so that it cannot be used twice', async () => {
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

  it('is not needed for nine wrong codes to expire after a day', async () => {
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
