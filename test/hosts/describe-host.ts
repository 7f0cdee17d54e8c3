import type { Store } from 'express-session'
import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { byStandIn, sendApproved } from '../kit/approved-change.js'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, host, jsonAgent, signInFully, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { begin, listen, postJson } from '../kit/sockets.js'

/** The behaviour that works with every supported version and session store. `makeStore` gives each test a session store. */
export function describeHost(versions: string, makeStore: () => Store | undefined): void {
  const make = (setup: Parameters<typeof host>[0] = {}) => {
    const store = makeStore()
    return host({ ...setup, ...(store && { store }) })
  }

  describe(`a host with ${versions}`, () => {
    it('signs a browser in, blocks it until then, and leads it to the requested page', async () => {
      const { app, standIn, failures } = make()
      const browser = browserAgent(app)
      const before = sessionCookie(await login(browser, 'bob').type('form').expect(200))
      await browser.get('/secret?tab=2').expect(303).expect('Location', '/mfa')
      await browser.get('/mfa').expect(200).expect('Content-Type', /html/)
      await challenge(browser, 'sms').type('form').expect(303)
      await browser.get('/mfa/verify').expect(200)
      await verify(browser, '000000').type('form').redirects(1).expect(200)
      const done = await verify(browser, standIn.newestCode()).type('form').expect(303)
      expect(done.headers.location).toBe('/secret?tab=2')
      await browser.get('/secret?tab=2').expect(200)
      await jsonAgent(app).get('/secret').set('Cookie', before).expect(401)
      await browser.get('/mfa/assets/mfa.css').expect(200).expect('Content-Type', /css/)
      expect(failures).toEqual([])
    })

    it('signs a JSON client in, enrolls an app, sends backup codes and signs it out', async () => {
      const made = make()
      const agent = await signInFully(made, 'bob')
      await agent.post('/transfer').expect(200)
      const asked = () => agent.post('/mfa/enroll-app').send({})
      expect((await sendApproved(agent, asked, byStandIn(made, agent))).status).toBe(200)
      await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
      expect((await agent.get('/secret')).body.mfa.amr).toEqual(['pwd', 'otp', 'sms', 'mfa'])
      await agent.post('/mfa/backup').send({}).expect(200)
      await agent.post('/logout').expect(200)
      await agent.get('/secret').expect(401)
      expect(made.failures).toEqual([])
    })

    it('renews a session under a new id with the same MFA state, and ends the old one', async () => {
      const made = make({
        routes: (app, mfa) => {
          app.post('/renew', (req, res, next) => {
            createMfa(mfa)
              .account.renewSession(req, req.user as object as TestUser)
              .then(() => res.json({ mfa: req.mfa }), next)
          })
        },
      })
      const agent = await signInFully(made, 'bob')
      const first = await agent.post('/renew').expect(200)
      const old = sessionCookie(first)
      const second = await agent.post('/renew').expect(200)
      expect(second.body.mfa).toEqual(first.body.mfa)
      expect(second.body.mfa.status).toBe('verified')
      expect(sessionCookie(second)).not.toBe(old)
      await agent.get('/secret').expect(200)
      await jsonAgent(made.app).get('/secret').set('Cookie', old).expect(401)
      expect(made.failures).toEqual([])
    })

    it('signs a JSON client in by the strategy on a route of its own', async () => {
      const made = make({
        routes: (app, _mfa, auth) => {
          app.post(
            '/mfa-login',
            auth.authenticate('mfa', { successReturnToOrRedirect: '/in', failWithError: true }),
          )
        },
      })
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      await agent.get('/secret').set('Accept', 'text/html').expect(303)
      await challenge(agent, 'sms').expect(200)
      await agent.post('/mfa-login').send({ code: '000000' }).expect(401)
      await agent
        .post('/mfa-login')
        .send({ code: made.standIn.newestCode() })
        .expect(302)
        .expect('Location', '/secret')
      await agent.get('/secret').expect(200)
    })

    it('receives every error, and leaves no rejection unhandled (R77, R83)', async () => {
      const { app, mfa, failures } = make({ options: { userId: () => '' } })
      expect((await login(jsonAgent(app), 'bob')).status).toBe(500)
      expect(failures).toHaveLength(1)
      expect(mfa.userId?.({} as never)).toBe('')
      const down = make()
      const agent = jsonAgent(down.app)
      await login(agent, 'bob').expect(200)
      down.standIn.setTrouble(down.standIn.down)
      await challenge(agent, 'sms').expect(503)
      await agent.post('/mfa/challenge').type('application/json').send('{"factor":').expect(400)
      await agent
        .post('/mfa/challenge')
        .send({ factor: ['sms'] })
        .expect(400)
      await agent
        .post('/mfa/challenge')
        .send({ factor: 'sms', pad: 'x'.repeat(5_000) })
        .expect(413)
      await agent.post('/mfa/challenge').type('text/plain').send('sms').expect(415)
    })

    it('evaluates five of a hundred wrong codes that arrive at once (R22)', async () => {
      const made = make()
      const port = await listen(made.app)
      const login = await postJson(port, '/login', { name: 'bob' })
      const cookie = sessionCookie(login)
      await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
      await Promise.all(
        Array.from({ length: 100 }, () => postJson(port, '/mfa/verify', { code: '000000' }, cookie)),
      )
      expect(made.standIn.count('verify')).toBe(5)
      const right = await postJson(port, '/mfa/verify', { code: made.standIn.newestCode() }, cookie)
      expect(right.status).toBe(429)
      const secret = await begin(port, {
        method: 'GET',
        path: '/secret',
        headers: { Cookie: cookie },
      }).finish()
      expect(secret.status).toBe(401)
    })
  })
}
