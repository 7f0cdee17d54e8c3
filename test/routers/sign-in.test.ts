import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

describe('signing in with a second factor', () => {
  it('withholds the user until the code is right (R01)', async () => {
    const { app, standIn } = host()
    const agent = jsonAgent(app)
    const pending = await login(agent, 'bob').expect(200)
    expect(pending.body.user).toBeNull()
    expect(pending.body.mfa.status).toBe('pending')

    const blocked = await agent.get('/secret').expect(401)
    expect(blocked.body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
    const { body: standing } = await agent.get('/mfa').expect(200)
    expect(standing.factors).toMatchObject([{ id: 'sms', method: 'sms' }])

    const challenged = await challenge(agent, 'sms').expect(200)
    expect(challenged.body).toMatchObject({ status: 'challenged', factor: 'sms', to: '••• 02' })
    expect(JSON.stringify(challenged.body)).not.toContain(standIn.newestCode())

    const verified = await verify(agent, standIn.newestCode()).expect(200)
    expect(verified.body).toEqual({ status: 'verified', next: '/' })
    const open = await agent.get('/secret').expect(200)
    expect(open.body.mfa).toMatchObject({ status: 'verified', amr: ['pwd', 'sms', 'mfa'] })
  })

  it('does not ask a user who has no second factor', async () => {
    const { app } = host()
    const agent = await signIn(app, 'nina')
    await agent.get('/secret').expect(200)
  })

  it('leads a browser to the challenge and then to the requested page', async () => {
    const { app, standIn } = host()
    const agent = browserAgent(app)
    await login(agent, 'bob').type('form')
    const redirect = await agent.get('/secret?tab=2').expect(303)
    expect(redirect.headers.location).toBe('/mfa')
    const page = await agent.get('/mfa').expect(200)
    expect(page.text).toContain('••• 02')
    await challenge(agent, 'sms').type('form').expect(303).expect('Location', '/mfa/verify')
    const entry = await agent.get('/mfa/verify').expect(200)
    expect(entry.text).toContain('one-time-code')
    const wrong = await verify(agent, '000 00x').type('form').redirects(1).expect(200)
    expect(wrong.text).toContain('aria-invalid')
    await verify(agent, standIn.newestCode()).type('form').expect(303).expect('Location', '/secret?tab=2')
  })

  it('changes the session id at the password and again at the second factor, and ends the old ids (R03)', async () => {
    const { app, standIn } = host({
      beforeGate: (app) => {
        app.get('/basket', (req, res) => {
          Object.assign(req.session, { basket: 1 })
          res.end()
        })
      },
    })
    const agent = jsonAgent(app)
    const cookies = [
      await agent.get('/basket').expect(200),
      await login(agent, 'bob').expect(200),
      await challenge(agent, 'sms').expect(200),
      await verify(agent, standIn.newestCode()).expect(200),
    ]
      .map((answer) => sessionCookie(answer))
      .filter((cookie) => cookie !== '')
    expect(new Set(cookies).size).toBe(3)
    await agent.get('/secret').expect(200)
    for (const old of cookies.slice(0, 2)) {
      const { body } = await jsonAgent(app).get('/secret').set('Cookie', old).expect(401)
      expect(body.code).toBe('closed')
    }
  })

  it('asks again when the second factor is older than the route allows, or lies in the future (R17)', async () => {
    const clock = stopClock()
    const agent = await signInFully(host(), 'bob')
    clock.move(5 * MINUTE - 1)
    await agent.post('/transfer').expect(200)
    for (const ms of [1, -5 * MINUTE - 1]) {
      clock.move(ms)
      expect((await agent.post('/transfer').expect(401)).body.code).toBe('step_up_required')
    }
    clock.move(1)
    await agent.post('/transfer').expect(200)
  })
})
