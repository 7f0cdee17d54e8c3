import { describe, expect, it } from 'vitest'
import { browserAgent, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { COOKIE, trustingHost } from '../trust/kit.js'

describe('an attacker who signs in with a weaker factor than the strongest one of the account (R92)', () => {
  it.each([
    ['the mailbox', 'email'],
    ['a text message', 'sms'],
  ])('cannot have a browser trusted with %s', async (_what, factor) => {
    const made = trustingHost()
    const attacker = await signIn(made.app, 'alice')
    await challenge(attacker, factor).expect(200)
    const answer = await verify(attacker, made.standIn.newestCode(), { trust: true }).expect(200)
    expect(answer.body).toMatchObject({ status: 'verified', trusted: false })
    expect(String(answer.headers['set-cookie'])).not.toContain(COOKIE)
    expect(made.eventsOf('device_trusted')).toEqual([])
    await attacker.post('/logout').expect(200)
    const { body } = await login(attacker, 'alice').expect(200)
    expect(body).toMatchObject({ user: null, mfa: { status: 'pending' } })
  })

  it('sees no box for it, while the strongest factor has one', async () => {
    const { app } = trustingHost()
    const browser = browserAgent(app)
    await login(browser, 'alice').type('form')
    for (const factor of ['email', 'sms']) {
      await challenge(browser, factor).type('form').expect(303)
      const page = await browser.get(`/mfa/verify?factor=${factor}`).expect(200)
      expect(page.text).not.toContain('name="trust"')
    }
    const page = await browser.get('/mfa/verify?factor=app').expect(200)
    expect(page.text).toContain('name="trust"')
  })

  itWithSession('cannot have a browser trusted by the Passport strategy', async () => {
    const made = trustingHost({
      routes: (app, _mfa, auth) => {
        app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.json({ done: true }))
      },
    })
    const attacker = jsonAgent(made.app)
    await login(attacker, 'alice')
    await challenge(attacker, 'email').expect(200)
    await attacker.post('/mfa-login').send({ code: made.standIn.newestCode(), trust: true }).expect(200)
    expect(made.eventsOf('device_trusted')).toEqual([])
  })
})
