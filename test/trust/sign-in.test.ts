import { MemoryStore } from 'express-session'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/stores/config.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { challengeStrongest, host, jsonAgent, signIn, type TestUser, withCookie } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen, postJson } from '../kit/sockets.js'
import { COOKIE, signInAndTrust, stateAfterLogin, trustCookieOf, trustingHost, trustLineOf } from './kit.js'

/** Signs a user in with both factors, trusts the browser, and returns its cookie. */
async function trustedCookie(host: ReturnType<typeof trustingHost>, name = 'bob'): Promise<string> {
  const agent = jsonAgent(host.app)
  await login(agent, name).expect(200)
  await challenge(agent, 'sms').expect(200)
  const answer = await verify(agent, host.standIn.newestCode(), { trust: true })
  expect(answer.body).toMatchObject({ trusted: true })
  return trustCookieOf(answer)
}

describe('a trusted browser', () => {
  it('skips the second factor at every login for 30 days', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    for (let day = 1; day < 30; day++) {
      clock.move(DAY)
      await agent.post('/logout').expect(200)
      expect(await stateAfterLogin(agent, 'bob'), `day ${day}`).toMatchObject({
        user: { id: 'u-bob' },
        mfa: { status: 'none', trusted: true },
      })
      await agent.get('/secret').expect(200)
    }
    expect(host.standIn.count('send')).toBe(1)
  })

  it('requires the second factor after exactly 30 days, however often it was used (R65)', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const first = await trustedCookie(host)
    clock.move(30 * DAY - 1)
    // As a browser that ignores the expiry of the cookie.
    const used = await login(withCookie(host.app, first), 'bob')
    expect(used.body.mfa.trusted).toBe(true)
    clock.move(1)
    const late = withCookie(host.app, trustCookieOf(used))
    expect((await stateAfterLogin(late, 'bob')).mfa).toMatchObject({ status: 'pending', trusted: false })
  })

  it('requires the second factor when its trust expires during a session (R65)', async () => {
    const clock = stopClock()
    const fingerprint = ({ email }: TestUser) => email
    const host = trustingHost({ options: { trustedDevices: { store: 'memory', maxAge: '1h', fingerprint } } })
    const agent = await signInAndTrust(host, 'bob')
    await login(agent, 'bob').expect(200)
    await agent.get('/secret').expect(200)
    clock.move(HOUR - 1)
    await agent.get('/secret').expect(200)
    clock.move(1)
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa')).body.status).toBe('pending')
  })

  it('requires the second factor in a session once its decision is made again and the user has other factors', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    await login(agent, 'bob').expect(200)
    host.users.bob?.factors.push({ method: 'email', email: 'bob@example.com' })
    await agent.get('/secret').expect(200)
    clock.move(5 * MINUTE)
    await agent.get('/secret').expect(401)
  })

  it('requires the second factor once the app trusts browsers no longer', async () => {
    const store = new MemoryStore()
    const made = trustingHost({ store })
    const agent = await signInAndTrust(made, 'bob')
    const cookie = sessionCookie(await login(agent, 'bob').expect(200))
    await agent.get('/secret').expect(200)
    const restarted = host({ store })
    expect((await withCookie(restarted.app, cookie).get('/secret').expect(401)).body.code).toBe(
      'mfa_required',
    )
  })

  it('counts as one factor: no amr, no step-up, no factor change (R67)', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    expect((await stateAfterLogin(agent, 'bob')).mfa).toMatchObject({
      status: 'none',
      amr: [],
      verifiedAt: null,
    })
    await agent.post('/mfa/enroll-app').send({}).expect(401)
    await agent.post('/mfa/backup').send({}).expect(401)
    const refused = await agent.post('/transfer').expect(401)
    expect(refused.body).toMatchObject({ code: 'step_up_required', next: '/mfa' })

    // A fresh second factor counts.
    await challenge(agent, 'sms').expect(200)
    await verify(agent, host.standIn.newestCode()).expect(200)
    await agent.post('/transfer').expect(200)
    const { body } = await agent.get('/secret')
    expect(body.mfa).toMatchObject({ status: 'verified', amr: ['pwd', 'sms', 'mfa'], trusted: false })
    expect(host.eventsOf('verified')).toMatchObject([{ purpose: 'sign-in' }, { purpose: 'step-up' }])
  })

  it('is trusted only on request', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    const answer = await verify(agent, host.standIn.newestCode(), { trust: false })
    expect(answer.body).toEqual({ status: 'verified', next: '/' })
    expect(trustLineOf(answer)).toBeUndefined()
    expect((await stateAfterLogin(agent, 'bob')).mfa.status).toBe('pending')
  })

  it('is not trusted after a wrong code', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    const answer = await verify(agent, '000000', { trust: true }).expect(401)
    expect(trustLineOf(answer)).toBeUndefined()
    expect(host.eventsOf('device_trusted')).toEqual([])
  })

  it('does not exist unless the app enables trusted devices', async () => {
    const { app, standIn } = host()
    const agent = jsonAgent(app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    const answer = await verify(agent, standIn.newestCode(), { trust: true })
    expect(trustLineOf(answer)).toBeUndefined()
    await agent.get('/mfa/devices').expect(404)
  })

  it('is not requested by an invalid value of trust (R81)', async () => {
    const { app } = trustingHost()
    const agent = jsonAgent(app)
    await login(agent, 'bob').expect(200)
    for (const trust of [1, 'yes', [true], { $ne: 1 }, null]) {
      const { body } = await agent
        .post('/mfa/verify')
        .send({ code: '000000', factor: 'sms', trust })
        .expect(400)
      expect(body.errors).toMatchObject([{ field: 'trust' }])
    }
  })

  it('can be trusted through the Passport strategy', async () => {
    const host = trustingHost({
      routes: (app, _mfa, auth) => {
        app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.json({}))
      },
    })
    const agent = jsonAgent(host.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    await agent.post('/mfa-login').send({ code: host.standIn.newestCode(), trust: 'on' }).expect(200)
    expect((await stateAfterLogin(agent, 'bob')).mfa.trusted).toBe(true)
  })

  it('is recognized with any kind of login, also before the gate (R02)', async () => {
    const host = trustingHost({
      beforeGate: (app) => {
        app.use('/remembered', (req, _res, next) => {
          req.logIn({ id: 'u-bob', factors: host.users.bob?.factors } as object as Express.User, next)
        })
      },
      routes: (app) => {
        app.get('/remembered', (req, res) => void res.json(req.mfa))
      },
    })
    const agent = await signInAndTrust(host, 'bob')
    await agent.post('/logout')
    expect((await agent.get('/remembered')).body).toMatchObject({ status: 'none', trusted: true })
    expect((await jsonAgent(host.app).get('/remembered')).body).toMatchObject({ code: 'mfa_required' })
  })
})

describe('the cookie of a trusted browser', () => {
  it('is HttpOnly, Lax, for this host only, and Secure under TLS (R11)', async () => {
    const host = trustingHost({ first: (app) => app.set('trust proxy', 1) })
    const agent = jsonAgent(host.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    const sent = { code: host.standIn.newestCode(), trust: true }
    const answer = await agent.post('/mfa/verify').set('X-Forwarded-Proto', 'https').send(sent)
    const line = trustLineOf(answer) ?? ''
    for (const part of ['Max-Age=2592000', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']) {
      expect(line).toContain(part)
    }
    expect(line).not.toMatch(/domain/i)

    const plain = await signInAndTrust(host, 'bob')
    expect(trustLineOf(await login(plain, 'bob'))).not.toContain('Secure')
  })

  it('does not contain a forged Host header (R16)', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms')
    const sent = { code: host.standIn.newestCode(), trust: true }
    const answer = await agent.post('/mfa/verify').set('Host', 'evil.example').send(sent)
    expect(JSON.stringify([answer.headers, answer.body])).not.toContain('evil')
    const { body } = await agent.get('/mfa/devices').set('Host', 'evil.example')
    expect(JSON.stringify(body)).not.toContain('evil')
  })

  it('contains 256 random bits, of which the store has only the hash (R64)', async () => {
    const seen: string[] = []
    const inner = openStore('memory')
    const store: typeof inner = {
      ...inner,
      put: (...kept) => {
        seen.push(JSON.stringify(kept))
        return inner.put(...kept)
      },
      swap: (...kept) => {
        seen.push(JSON.stringify(kept))
        return inner.swap(...kept)
      },
    }
    const host = trustingHost({ options: { trustedDevices: { store } } })
    const bits: string[] = []
    for (let browser = 0; browser < 20; browser++) {
      const agent = await signIn(host.app, 'otto')
      const code = await challengeStrongest(host, agent, 'otto')
      // The secret is a new one at each sign-in.
      const answers = [await verify(agent, code, { trust: true }), await login(agent, 'otto')]
      for (const cookie of answers.map(trustCookieOf)) {
        const [id = '', text = ''] = cookie.replace(`${COOKIE}=`, '').split('.')
        const token = Buffer.from(text, 'base64url')
        expect(token).toHaveLength(32)
        bits.push([...token].map((byte) => byte.toString(2).padStart(8, '0')).join(''))
        expect(seen.join()).toContain(id)
        for (const encoding of ['base64url', 'base64', 'hex', 'latin1'] as const) {
          expect(seen.join()).not.toContain(token.toString(encoding))
          expect(seen.join()).not.toContain(Buffer.from(text).toString(encoding))
        }
      }
    }
    for (let place = 0; place < 256; place++) expect(new Set(bits.map((text) => text[place])).size).toBe(2)
  })

  it('is stored without a contact', async () => {
    const seen: unknown[] = []
    const inner = openStore('memory')
    const put: typeof inner.put = (owner, item) => {
      if (owner.startsWith('devices:')) seen.push(item)
      return inner.put(owner, item)
    }
    await trustedCookie(trustingHost({ options: { trustedDevices: { store: { ...inner, put } } } }))
    expect(JSON.stringify(seen)).not.toContain('447700900102')
    expect(seen).toHaveLength(1)
  })

  it('can hold the trust of several users of one browser', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    expect((await stateAfterLogin(agent, 'alice')).mfa.status).toBe('pending')
    await signInAndTrust(host, 'alice', { agent })
    for (const name of ['bob', 'alice', 'bob', 'alice']) {
      expect((await stateAfterLogin(agent, name)).mfa, name).toMatchObject({ status: 'none', trusted: true })
    }
    expect((await stateAfterLogin(agent, 'dora')).mfa.status).toBe('pending')
  })

  it('is worthless to another user who stole it, also with the same factors (R64)', async () => {
    const host = trustingHost()
    const { bob } = host.users
    if (bob) host.users.eve = { ...bob, id: 'u-eve' }
    const cookie = await trustedCookie(host, 'bob')
    for (const name of ['alice', 'eve']) {
      const { mfa } = await stateAfterLogin(withCookie(host.app, cookie), name)
      expect(mfa, name).toMatchObject({ status: 'pending', trusted: false })
    }
    expect(host.eventsOf('device_recognized')).toEqual([])
    expect((await stateAfterLogin(withCookie(host.app, cookie), 'bob')).mfa.trusted).toBe(true)
  })

  it('is worthless without the first factor', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host, 'bob')
    await withCookie(host.app, cookie).get('/secret').expect(401)
    await withCookie(host.app, cookie).get('/mfa/devices').expect(401)
  })

  it('is worthless when a part was changed, and a wrong secret ends the trust', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host)
    const [id = '', token = ''] = cookie.replace(`${COOKIE}=`, '').split('.')
    const flipped = token.startsWith('A') ? `B${token.slice(1)}` : `A${token.slice(1)}`
    const tampered = [
      `${COOKIE}=`,
      `${COOKIE}=${id}`,
      `${COOKIE}=${id}.`,
      `${COOKIE}=.${token}`,
      `${COOKIE}=${token}.${id}`,
      `${COOKIE}=${id}.${token}x`,
      `${COOKIE}=__proto__.constructor`,
      `${COOKIE}=${'~'.repeat(3000)}`,
    ]
    for (const one of tampered) {
      expect((await stateAfterLogin(withCookie(host.app, one), 'bob')).mfa.trusted, one).toBe(false)
    }
    expect((await stateAfterLogin(withCookie(host.app, cookie), 'bob')).mfa.trusted).toBe(true)
    expect(
      (await stateAfterLogin(withCookie(host.app, `${COOKIE}=${id}.${flipped}`), 'bob')).mfa.trusted,
    ).toBe(false)
    expect((await stateAfterLogin(withCookie(host.app, cookie), 'bob')).mfa.trusted).toBe(false)
    expect(host.eventsOf('device_copied')).toHaveLength(1)
  })

  it('is found among planted cookies of the same name', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host)
    const planted = `${COOKIE}=${'A'.repeat(22)}.${'B'.repeat(43)}`
    const browser = withCookie(host.app, `${planted}; other=1; ${cookie}; ${COOKIE}=nonsense`)
    expect((await stateAfterLogin(browser, 'bob')).mfa.trusted).toBe(true)
  })

  it('gets a new secret at each use, while the old one is valid for ten seconds for concurrent sign-ins', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const first = await trustedCookie(host)
    const used = await login(withCookie(host.app, first), 'bob')
    const second = trustCookieOf(used)
    expect(second).not.toBe('')
    expect(second).not.toBe(first)
    clock.move(10 * SECOND - 1)
    expect((await stateAfterLogin(withCookie(host.app, first), 'bob')).mfa.trusted).toBe(true)
    expect((await stateAfterLogin(withCookie(host.app, second), 'bob')).mfa.trusted).toBe(true)
  })

  it('ends the trust when a copy is used after the browser has a newer secret', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const stolen = await trustedCookie(host)
    const used = await login(withCookie(host.app, stolen), 'bob')
    clock.move(10 * SECOND)
    expect((await stateAfterLogin(withCookie(host.app, stolen), 'bob')).mfa.status).toBe('pending')
    expect(host.eventsOf('device_copied')).toHaveLength(1)
    expect((await stateAfterLogin(withCookie(host.app, trustCookieOf(used)), 'bob')).mfa.status).toBe(
      'pending',
    )
  })

  it('is valid for twenty concurrent sign-ins of one browser', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host)
    const port = await listen(host.app)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => postJson(port, '/login', { name: 'bob' }, cookie)),
    )
    expect(answers.map(({ body }) => (body.mfa as { trusted: boolean }).trusted)).toEqual(
      Array.from({ length: 20 }, () => true),
    )
    expect(host.eventsOf('device_copied')).toEqual([])
  })
})
