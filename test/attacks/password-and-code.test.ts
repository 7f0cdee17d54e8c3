import { describe, expect, it } from 'vitest'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type Host, jsonAgent, withCookie } from '../kit/host.js'
import { bothFactors, loginWith } from '../kit/login-route.js'
import { publishedService } from '../kit/published-service.js'
import { challenge, verify } from '../kit/sign-in.js'

/*
 * A login route takes password and code in one request. The password creates a new session, and the challenge of the old one goes on in
 * it. Attackers try to bring a challenge into a session that did not request it, and to gain attempts, time or messages.
 */

type Agent = ReturnType<typeof jsonAgent>

/** A session that has shown the password of a user and has requested a text message, with its code and its cookie. */
async function challenged(made: Host, name = 'bob', factor = 'sms') {
  const cookie = sessionCookie(await loginWith(jsonAgent(made.app), name).expect(401))
  const agent = withCookie(made.app, cookie)
  await challenge(agent, factor).expect(200)
  return { agent, cookie, code: made.standIn.newestCode() }
}

const expectSignedOut = (agent: Agent) => agent.get('/secret').expect(401)

async function expectRefused(answer: ReturnType<typeof loginWith>, code: string) {
  const { status, body, headers } = await answer
  expect([status, body.code ?? code]).toEqual([401, code])
  return { body, cookie: sessionCookie({ headers } as Parameters<typeof sessionCookie>[0]) }
}

describe('a password and a code in one request', () => {
  it('are refused when the code was requested for another user of the same session', async () => {
    const made = bothFactors()
    const { agent, code } = await challenged(made, 'bob')
    for (const name of ['alice', 'dora', 'otto']) {
      const other = await loginWith(
        withCookie(made.app, sessionCookie(await loginWith(agent, 'bob'))),
        name,
        {
          code,
        },
      )
      expect([name, other.status]).toEqual([name, 401])
      await expectSignedOut(withCookie(made.app, sessionCookie(other)))
    }
  })

  it('are refused when another session of the user requested the code, whoever has that session', async () => {
    const made = bothFactors()
    const { code } = await challenged(made)
    const intruder = jsonAgent(made.app)
    await expectRefused(loginWith(intruder, 'bob', { code }), 'mfa_required')
    await expectRefused(loginWith(intruder, 'bob', { code }), 'mfa_required')
    await expectRefused(loginWith(intruder, 'bob', { code, factor: 'sms' }), 'mfa_required')
    await expectSignedOut(intruder)
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('are refused when the session has requested a newer code (R39)', async () => {
    const clock = stopClock()
    const made = bothFactors()
    const agent = jsonAgent(made.app)
    await loginWith(agent, 'alice').expect(401)
    await challenge(agent, 'sms').expect(200)
    const older = made.standIn.newestCode()
    clock.move(31 * SECOND)
    await challenge(agent, 'email').expect(200)
    await expectRefused(loginWith(agent, 'alice', { code: older, factor: 'sms' }), 'mfa_required')
    await expectRefused(loginWith(agent, 'alice', { code: older }), 'invalid_code')
    await expectSignedOut(agent)
  })

  it('are refused with a code that was used, also in the session that used it', async () => {
    const made = bothFactors()
    const { agent, cookie, code } = await challenged(made)
    const used = await loginWith(agent, 'bob', { code }).expect(200)
    const verified = withCookie(made.app, sessionCookie(used))
    await expectRefused(loginWith(withCookie(made.app, cookie), 'bob', { code }), 'mfa_required')
    const again = await expectRefused(loginWith(verified, 'bob', { code }), 'mfa_required')
    await expectSignedOut(withCookie(made.app, again.cookie))
  })

  it('are refused with the code of a step-up, which was requested for another purpose', async () => {
    const made = bothFactors()
    const { agent, code } = await challenged(made)
    const verified = withCookie(made.app, sessionCookie(await loginWith(agent, 'bob', { code }).expect(200)))
    await verified.post('/transfer').expect(200)
    await challenge(verified, 'sms').expect(200)
    await expectRefused(loginWith(verified, 'bob', { code: made.standIn.newestCode() }), 'mfa_required')
  })

  it('are refused when the session was ended while the password was checked (R07)', async () => {
    const made = bothFactors(
      {},
      {
        behindGate: (app) =>
          void app.use('/login/both', (req, _res, next) => {
            if (!req.get('x-logout')) return next()
            // Another tab signs out while the host checks the password.
            req.sessionStore.destroy(req.sessionID, next)
          }),
      },
    )
    const { agent, code } = await challenged(made)
    await expectRefused(loginWith(agent.set('X-Logout', 'yes'), 'bob', { code }), 'mfa_required')
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('are refused when another tab requested a newer code while the password was checked (R39)', async () => {
    let meanwhile = async () => {}
    const made = bothFactors(
      {},
      {
        behindGate: (app) =>
          void app.use('/login/both', (_req, _res, next) => {
            meanwhile().then(() => next(), next)
          }),
      },
    )
    const { agent, cookie, code } = await challenged(made, 'alice')
    meanwhile = async () => void (await challenge(withCookie(made.app, cookie), 'email').expect(200))
    await expectRefused(loginWith(agent, 'alice', { code, factor: 'sms' }), 'mfa_required')
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('leave a session that an attacker planted without any rights (R03)', async () => {
    const made = bothFactors({ name: { keepSessionInfo: true }, mfa: { keepSessionInfo: true } })
    // The attacker knows the password, requests the code, and plants the session in the browser of the victim.
    const { agent: attacker, cookie, code } = await challenged(made)
    const victim = await loginWith(withCookie(made.app, cookie), 'bob', { code }).expect(200)
    expect(sessionCookie(victim)).not.toBe(cookie)
    await expectSignedOut(attacker)
    await verify(attacker, code).expect(401)
    await expectRefused(loginWith(attacker, 'bob', { code }), 'mfa_required')
    await withCookie(made.app, sessionCookie(victim)).get('/secret').expect(200)
  })

  it('become one session when sent ten times at once, also at a service that accepts a code twice (R21)', async () => {
    const service = await publishedService()
    await everyCase(['self', 'published'], async (kind) => {
      const store = new FaultyStore()
      const made = bothFactors(
        {},
        { store, ...(kind === 'published' && { options: { service: service.address } }) },
      )
      const { cookie, code: own } = await challenged(made)
      const code = kind === 'published' ? service.sentCode : own
      store.readMs = 20
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => loginWith(withCookie(made.app, cookie), 'bob', { code })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const works = await Promise.all(
        answers.map((answer) => withCookie(made.app, sessionCookie(answer)).get('/secret')),
      )
      expect(works.filter(({ status }) => status === 200)).toHaveLength(1)
    })
  })

  it('have the attempts of the challenge, and no more for showing the password again (R22, R24)', async () => {
    const made = bothFactors({ mfa: { failWithError: true } })
    const agent = jsonAgent(made.app)
    await loginWith(agent, 'bob').expect(401)
    await challenge(agent, 'sms').expect(200)
    const code = made.standIn.newestCode()
    for (let attempt = 0; attempt < 5; attempt++) {
      await loginWith(agent, 'bob', { code: '000000' }).expect(401)
      await loginWith(agent, 'bob').expect(401)
    }
    await loginWith(agent, 'bob', { code }).expect(429)
    await expectSignedOut(agent)
    expect(made.standIn.count('verify')).toBe(5)
  })

  it('share the lock of the account when no challenge is needed (R23)', async () => {
    const made = bothFactors()
    made.standIn.setApp('alice@example.com', '424242')
    for (let attempt = 0; attempt < 10; attempt++) {
      await loginWith(jsonAgent(made.app), 'alice', { code: '000000' }).expect(401)
    }
    const agent = jsonAgent(made.app)
    const locked = await loginWith(agent, 'alice', { code: '424242' }).expect(429)
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(60)
    await expectSignedOut(agent)
  })

  it('do not extend the life of a code, nor the wait before the next one (R36, R39)', async () => {
    const clock = stopClock()
    const made = bothFactors()
    const agent = jsonAgent(made.app)
    await loginWith(agent, 'bob').expect(401)
    await challenge(agent, 'sms').expect(200)
    const code = made.standIn.newestCode()
    await loginWith(agent, 'bob').expect(401)
    expect((await challenge(agent, 'sms').expect(429)).body.code).toBe('resend_too_soon')
    for (let minute = 0; minute < 5; minute++) {
      await loginWith(agent, 'bob').expect(401)
      clock.move(MINUTE)
    }
    const { body } = await expectRefused(loginWith(agent, 'bob', { code }), 'mfa_required')
    // Not `code_expired`: the new login has no challenge, so the user is asked for a factor.
    expect(body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
    await expectSignedOut(agent)
  })

  it('are refused with a weaker code than the policy requires by then (R115)', async () => {
    let requires: 'require' | { require: 'strong' } = 'require'
    const made = bothFactors({}, { options: { policy: () => requires } })
    const agent = jsonAgent(made.app)
    await loginWith(agent, 'alice').expect(401)
    await challenge(agent, 'sms').expect(200)
    const code = made.standIn.newestCode()
    requires = { require: 'strong' }
    for (const fields of [{ code }, { code, factor: 'sms' }]) {
      expect((await loginWith(agent, 'alice', fields)).status).toBeGreaterThanOrEqual(401)
      await expectSignedOut(agent)
    }
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('are refused when another site sends them (R13)', async () => {
    const made = bothFactors()
    const { agent, code } = await challenged(made)
    const answer = await loginWith(agent.set('Sec-Fetch-Site', 'cross-site'), 'bob', { code }).expect(403)
    await expectSignedOut(withCookie(made.app, sessionCookie(answer)))
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('do not let the password of one user approve a request with the session and the code of another', async () => {
    const made = bothFactors({ name: { session: false }, mfa: { session: false } })
    const agent = jsonAgent(made.app)
    await agent.post('/login').send({ name: 'bob' }).expect(200)
    await challenge(agent, 'sms').expect(200)
    // One for the pending login of another user, and one in a verified session.
    for (const isVerified of [false, true]) {
      if (isVerified) await verify(agent, made.standIn.newestCode()).expect(200)
      const { body } = await loginWith(agent, 'alice', { code: made.standIn.newestCode() }).expect(403)
      expect(body.code ?? 'other_user').toBe('other_user')
      expect(made.standIn.count('verify')).toBe(Number(isVerified))
    }
  })
})
