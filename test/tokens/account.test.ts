import { describe, expect, it } from 'vitest'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { testService, totpCode } from '../../src/testing/service.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { signIn, type TestUser } from '../kit/host.js'
import { connect, serveWithSockets } from '../kit/web-socket.js'
import { begin, signInWithTokens, type TokenSetup, tokenClient, tokenHost } from './kit.js'

/** A host whose service keeps apps, and what a client without cookies does there. */
function keepingHost(setup: TokenSetup = {}) {
  const inbox = testInbox()
  const kit = testService(testCarrier(inbox))
  const made = tokenHost({ ...setup, options: { service: kit.service, ...setup.options } })
  const code = () => inbox.all()[0]?.code
  return {
    ...made,
    inbox,
    async tokensOf(name: string) {
      const client = tokenClient(made.app, { login: await begin(made, name) })
      await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
      return (await client.post('/mfa/verify').send({ code: code() }).expect(200)).body
    },
    /** Approves what a request asks for, and sends it again. */
    async approved(access: string, path: string, body = {}) {
      const { body: asked } = await tokenClient(made.app, { access }).post(path).send(body).expect(401)
      const approval = asked.approval.id
      const client = tokenClient(made.app, { access, login: asked.login })
      await client.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
      const given = await client.post('/mfa/verify').send({ code: code(), approval }).expect(200)
      const next = tokenClient(made.app, { access, login: given.body.login })
      return { answer: await next.post(path).send(body), login: given.body.login }
    },
  }
}

describe('the account routes with an access token', () => {
  it('list the factors, without a cookie', async () => {
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const { body, headers } = await tokenClient(made.app, { access }).get('/mfa').expect(200)
    expect(body).toMatchObject({ status: 'verified', factors: [{ id: 'sms' }] })
    expect(headers['set-cookie']).toBeUndefined()
  })

  it('add an authenticator app that the user has approved, and remove it again', async () => {
    const clock = stopClock()
    const made = keepingHost()
    const { access } = await made.tokensOf('bob')
    const { answer, login } = await made.approved(access, '/mfa/enroll-app')
    expect(answer.status).toBe(200)
    const confirmed = await tokenClient(made.app, { access, login })
      .post('/mfa/enroll-app/confirm')
      .send({ code: totpCode(answer.body.secret, Date.now()) })
      .expect(200)
    expect(confirmed.body).toEqual({ status: 'enrolled', access: expect.any(String) })
    clock.move(MINUTE)
    const strong = tokenClient(made.app, { access: confirmed.body.access })
    await strong.post('/api/strong').expect(200)
    await tokenClient(made.app, { access }).post('/api/strong').expect(401)
    // The setup is enough for a rule, and for no change of factors.
    const refused = await strong.post('/mfa/enroll-app/remove').send({}).expect(401)
    expect(refused.body.code).toBe('step_up_required')
    const fresh = await tokenClient(made.app, { access: confirmed.body.access, login: refused.body.login })
      .post('/mfa/verify')
      .send({ factor: 'app', code: totpCode(answer.body.secret, Date.now()) })
      .expect(200)
    const next = tokenClient(made.app, { access: fresh.body.access })
    await next.post('/mfa/enroll-app/remove').send({}).expect(200, { status: 'removed' })
  })

  it('show backup codes that the user has approved', async () => {
    stopClock()
    const made = keepingHost()
    const { access } = await made.tokensOf('bob')
    const { answer } = await made.approved(access, '/mfa/backup/codes')
    expect(answer.status).toBe(200)
    expect(answer.body.codes.length).toBeGreaterThan(5)
  })

  it('refuse a reference and a token of two users, and a token without a user', async () => {
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const login = await begin(made, 'alice')
    const { body } = await tokenClient(made.app, { access, login }).get('/mfa').expect(403)
    expect(body.code).toBe('other_user')
    await tokenClient(made.app, { access: 'x.y' }).get('/mfa').expect(401, { code: 'bad_token' })
  })

  it('take the user of the token, whoever is signed in to the session beside it', async () => {
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const agent = await signIn(made.app, 'nina')
    const { body } = await agent.get('/mfa').set('Authorization', `Bearer ${access}`).expect(200)
    expect(body).toMatchObject({ status: 'verified', factors: [{ id: 'sms' }] })
    // A proxy's password is no token.
    expect((await agent.get('/mfa').set('Authorization', 'Basic YTpi').expect(200)).body.status).toBe('none')
  })

  it('refuse to act for a user with a token', async () => {
    const made = tokenHost({
      moreRoutes(app, mfa, access) {
        app.post('/api/act', access, async (req, res) => {
          await mfa.account.actAs(req, { id: 'u-ali' } as TestUser, { reason: 'ticket 7' })
          res.json({})
        })
        app.post('/api/renew', access, mfa.requireMfa(), async (req, res) => {
          await mfa.account.renewSession(req, req.user as unknown as TestUser)
          res.json({})
        })
      },
    })
    const { access } = await signInWithTokens(made, 'bob')
    const client = tokenClient(made.app, { access })
    await client.post('/api/act').expect(500, { failed: 'ERR_MFA_ACTING' })
    await client.post('/api/renew').expect(500, { failed: 'TypeError' })
  })
})

describe('mfa.upgrade (R134)', () => {
  it('accepts no token and no reference, in an app with sessions and in one without', async () => {
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const login = await begin(made, 'bob')
    const onlyTokens = tokenHost({ tokens: { only: true } })
    for (const { app, parts } of [made, onlyTokens]) {
      const port = await serveWithSockets(app, async (req, accept, socket) => {
        const upgrade = await parts.upgrade(req, app)
        if (upgrade.outcome === 'signed_in') accept()
        else socket.end(upgrade.response)
      })
      const tokens = { Authorization: `Bearer ${access}` }
      for (const headers of [tokens, { 'MFA-Login': login }, { ...tokens, 'MFA-Login': login }]) {
        expect(await connect(port, '', headers)).toEqual({ status: 401, code: 'sign_in_required' })
      }
    }
  })
})

describe('a trusted device without a cookie', () => {
  it('is a value in the answer that takes the place of the factor, and proves nothing', async () => {
    stopClock()
    const made = tokenHost({ options: { trustedDevices: { store: 'memory' } } })
    const login = await begin(made, 'bob')
    const client = tokenClient(made.app, { login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const { body, headers } = await client
      .post('/mfa/verify')
      .send({ code: made.standIn.newestCode(), trust: true })
      .expect(200)
    expect(body).toMatchObject({ trusted: true, device: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/) })
    expect(headers['set-cookie']).toBeUndefined()
    const again = await tokenClient(made.app, { device: body.device })
      .post('/auth/login')
      .send({ name: 'bob' })
      .expect(200)
    expect(again.body.device).not.toBe(body.device)
    await tokenClient(made.app, { access: again.body.access }).post('/api/transfer').expect(401)
    await tokenClient(made.app, { access: again.body.refresh }).post('/auth/refresh').expect(200)
    await made.parts.account.revokeDevices(made.users.bob as TestUser)
    const due = await tokenClient(made.app, { access: again.body.refresh }).post('/auth/refresh').expect(401)
    expect(due.body).toMatchObject({ code: 'mfa_required', login: expect.any(String) })
  })
})
