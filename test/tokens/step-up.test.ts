import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { testUsers } from '../kit/host.js'
import { begin, payloadOf, signInWithTokens, signToken, tokenClient, tokenHost } from './kit.js'

/** Shows a code that is sent for what a refused request named. */
async function stepUp(
  made: ReturnType<typeof tokenHost>,
  given: { access: string; login: string },
  body = {},
  status = 200,
) {
  const client = tokenClient(made.app, given)
  await client
    .post('/mfa/challenge')
    .send({ factor: 'sms', ...body })
    .expect(200)
  return client
    .post('/mfa/verify')
    .send({ code: made.standIn.newestCode(), ...body })
    .expect(status)
}

describe('a guard for a token', () => {
  it('lets the request pass while the factor in its claims is fresh, and says what was proven', async () => {
    stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const { body } = await tokenClient(made.app, { access }).post('/api/transfer').expect(200)
    expect(body).toMatchObject({
      user: 'u-bob',
      mfa: { status: 'verified', acr: 'urn:countersign:acr:medium', amr: ['pwd', 'sms', 'mfa'] },
    })
  })

  it('refuses a rule that is not kept as RFC 9470 says it, with everything in the body and a login for this step-up', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    clock.move(6 * MINUTE)
    const client = tokenClient(made.app, { access })
    const { body, headers } = await client.post('/api/transfer').expect(401)
    const acrValues = [
      'urn:countersign:acr:weak',
      'urn:countersign:acr:medium',
      'urn:countersign:acr:strong',
      'phr',
      'phrh',
    ]
    expect(headers['www-authenticate']).toBe(
      `Bearer error="insufficient_user_authentication", acr_values="${acrValues.join(' ')}", max_age="300"`,
    )
    expect(body).toMatchObject({
      code: 'step_up_required',
      acrValues,
      maxAgeSeconds: 300,
      factors: [{ id: 'sms' }],
      login: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.any(String),
    })
    // One is open for each rule, whatever number of requests is refused, on parallel requests, too.
    const again = await Promise.all([client.post('/api/transfer'), client.post('/api/transfer')])
    expect(again.map((answer) => answer.body.login)).toEqual([body.login, body.login])
    const other = await client.post('/api/strong').expect(403)
    expect(other.body.login).not.toBe(body.login)
  })

  it('R151: issues an access token with the new time and no refresh token after a step-up, once', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access, refresh } = await signInWithTokens(made, 'bob')
    const before = payloadOf(access)
    clock.move(6 * MINUTE)
    const { login } = (await tokenClient(made.app, { access }).post('/api/transfer').expect(401)).body
    const { body } = await stepUp(made, { access, login })
    expect(Object.keys(body)).toEqual(['access'])
    expect(made.issued.map(({ reason }) => reason)).toEqual(['login', 'step-up'])
    const after = payloadOf(body.access)
    expect(after).toMatchObject({ sid: before?.sid, auth_time: Number(before?.auth_time) + 360 })
    await tokenClient(made.app, { access, login }).post('/mfa/verify').send({ code: '123456' }).expect(401)
    await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(200)
    await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
    // The refreshed token has the times of the login again.
    const refreshed = await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(200)
    expect(payloadOf(refreshed.body.access)).toMatchObject({ auth_time: before?.auth_time, sid: before?.sid })
    await tokenClient(made.app, { access: refreshed.body.access }).post('/api/transfer').expect(401)
  })

  it('R151: refuses to send what issue returns for a step-up if it has a refresh token', async () => {
    const clock = stopClock()
    const made = tokenHost({
      tokens: {
        issue: (_user, claims) => ({ access: signToken({ ...claims, kind: 'access' }), refresh_token: 'x' }),
      },
    })
    const { access } = await signInWithTokens(made, 'bob')
    clock.move(6 * MINUTE)
    const { login } = (await tokenClient(made.app, { access }).post('/api/transfer').expect(401)).body
    const { body } = await stepUp(made, { access, login }, {}, 500)
    expect(body).toEqual({ failed: 'ERR_MFA_TOKENS' })
  })

  it('R150: takes a step-up only beside a token of its user and its login', async () => {
    const clock = stopClock()
    const users = testUsers()
    const made = tokenHost({ users })
    const bob = await signInWithTokens(made, 'bob')
    const again = await signInWithTokens(made, 'bob')
    const alice = await signInWithTokens(made, 'alice')
    clock.move(6 * MINUTE)
    const { login } = (await tokenClient(made.app, { access: bob.access }).post('/api/transfer').expect(401))
      .body
    await tokenClient(made.app, { login }).get('/mfa').expect(401)
    for (const { access } of [again, alice]) {
      const { body } = await tokenClient(made.app, { access, login }).get('/mfa').expect(403)
      expect(body.code).toBe('other_user')
    }
    await tokenClient(made.app, { access: bob.access, login }).get('/mfa').expect(200)
  })

  it('goes by the claims of a token, whatever is under way beside it', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const old = await signInWithTokens(made, 'bob')
    clock.move(6 * MINUTE)
    const open = await begin(made, 'bob')
    const { login } = (await tokenClient(made.app, { access: old.access }).post('/api/transfer').expect(401))
      .body
    const fresh = await signInWithTokens(made, 'bob')
    for (const sent of [login, open]) {
      await tokenClient(made.app, { access: fresh.access, login: sent }).post('/api/transfer').expect(200)
      await tokenClient(made.app, { access: old.access, login: sent }).post('/api/transfer').expect(401)
    }
  })

  it('binds a request to an approval, which issues no token and counts once', async () => {
    stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const payment = { to: 'DE89', amount: '250.00' }
    const pay = (login?: string, fields = payment) =>
      tokenClient(made.app, { access, ...(login && { login }) })
        .post('/api/pay')
        .send(fields)
    const { body: asked } = await pay().expect(401)
    expect(asked).toMatchObject({ code: 'step_up_required', approval: { authorization_details: payment } })
    const { body: approved } = await stepUp(
      made,
      { access, login: asked.login },
      { approval: asked.approval.id },
    )
    expect(approved).toMatchObject({ status: 'approved', login: expect.stringMatching(/^[\w-]{43}$/) })
    expect(made.issued).toHaveLength(1)
    await pay(approved.login, { ...payment, amount: '2500.00' }).expect(401)
    const paid = await pay(approved.login).expect(401)
    expect(paid.body.code).toBe('step_up_required')
  })

  it('uses an approval up with the request that it was given for', async () => {
    stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const payment = { to: 'DE89', amount: '250.00' }
    const pay = (login?: string) =>
      tokenClient(made.app, { access, ...(login && { login }) })
        .post('/api/pay')
        .send(payment)
    const { body: asked } = await pay().expect(401)
    const approval = { approval: asked.approval.id }
    const { body: approved } = await stepUp(made, { access, login: asked.login }, approval)
    const answers = await Promise.all([pay(approved.login), pay(approved.login), pay(approved.login)])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    await pay(approved.login).expect(401)
    expect(made.issued).toHaveLength(1)
  })

  it('R152: counts no claims that issue did not make, changed ones, or ones from the request', async () => {
    stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const payload = payloadOf(access) ?? {}
    const mfa = payload.mfa as object
    const now = Math.floor(Date.now() / 1000)
    for (const changed of [
      { ...payload, sub: 'u-ali' },
      { ...payload, auth_time: now + 30 },
      { ...payload, mfa: { ...mfa, record: String(Reflect.get(mfa, 'record')).replace(' s ', ' a ') } },
      { ...payload, mfa: { ...mfa, product: '/other' } },
      { ...payload, mfa: { ...mfa, mark: 'A'.repeat(43) } },
      { ...payload, mfa: undefined, acr: 'phr', amr: ['hwk', 'user', 'mfa'] },
    ]) {
      const { body } = await tokenClient(made.app, { access: signToken(changed) })
        .post('/api/transfer')
        .expect(401)
      expect(['mfa_required', 'step_up_required']).toContain(body.code)
    }
  })

  it('R143: refuses claims of another user than the one on the request', async () => {
    const made = tokenHost({
      moreRoutes: (app, mfa, access) => {
        const asAlice = (req: { user?: unknown }, _res: unknown, next: () => void) => {
          req.user = testUsers().alice
          next()
        }
        app.post('/api/mixed', access, asAlice as never, mfa.requireMfa(), (_req, res) => void res.json({}))
      },
    })
    const { access } = await signInWithTokens(made, 'bob')
    expect((await tokenClient(made.app, { access }).post('/api/mixed').expect(403)).body.code).toBe(
      'other_user',
    )
  })

  it('counts claims of an issuer as login.issuers says, and nothing else of them', async () => {
    const clock = stopClock()
    const iss = 'https://login.example.com'
    const made = tokenHost({
      options: { login: { issuers: { [iss]: { acr: { phr: 'phishing-resistant' } } } } },
    })
    const now = () => Math.floor(Date.now() / 1000)
    const access = signToken({
      kind: 'access',
      sub: 'u-bob',
      iss,
      acr: 'phr',
      auth_time: now(),
      sid: 'theirs',
    })
    await tokenClient(made.app, { access }).post('/api/transfer').expect(200)
    const weak = signToken({
      kind: 'access',
      sub: 'u-bob',
      iss,
      acr: 'other',
      auth_time: now(),
      sid: 'theirs',
    })
    await tokenClient(made.app, { access: weak }).post('/api/transfer').expect(401)
    clock.move(HOUR)
    await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
  })
})
