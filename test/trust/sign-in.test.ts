import { describe, expect, it } from 'vitest'
import { DAY, HOUR, SECOND, stopClock } from '../kit/clock.js'
import { host, jsonAgent } from '../kit/host.js'
import { listen, postJson } from '../kit/sockets.js'
import {
  browserWith,
  COOKIE,
  login,
  signInAndTrust,
  trustCookieOf,
  trustingHost,
  trustLineOf,
} from './kit.js'

/** Signs bob in with both factors and has his browser trusted; the cookie it got. */
async function trustedCookie(host: ReturnType<typeof trustingHost>, name = 'bob'): Promise<string> {
  const agent = jsonAgent(host.app)
  await login(agent, name)
  await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
  const answer = await agent.post('/mfa/verify').send({ code: host.standIn.newestCode(), trust: true })
  expect(answer.body).toMatchObject({ trusted: true })
  return trustCookieOf(answer)
}

describe('a trusted browser', () => {
  it('skips the question at the second login, and at the third, for as long as it was said', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    for (let day = 1; day < 30; day++) {
      clock.move(DAY)
      await agent.post('/logout').expect(200)
      expect(await login(agent, 'bob'), `day ${day}`).toMatchObject({
        user: { id: 'u-bob' },
        mfa: { status: 'none', trusted: true },
      })
      await agent.get('/secret').expect(200)
    }
    expect(host.standIn.count('send')).toBe(1)
  })

  it('R65 is asked again from the very millisecond its thirty days are over, however often it was used', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const first = await trustedCookie(host)
    clock.move(30 * DAY - 1)
    // A browser that keeps cookies too long.
    const used = await browserWith(host.app, first).post('/login').send({ name: 'bob' })
    expect(used.body.mfa.trusted).toBe(true)
    clock.move(1)
    const late = browserWith(host.app, trustCookieOf(used))
    expect((await login(late, 'bob')).mfa).toMatchObject({ status: 'pending', trusted: false })
  })

  it('R65 is asked again when its time ends within a session', async () => {
    const clock = stopClock()
    const host = trustingHost({ options: { trustedDevices: { store: 'memory', maxAge: '1h' } } })
    const agent = await signInAndTrust(host, 'bob')
    await login(agent, 'bob')
    clock.move(HOUR - 1)
    await agent.get('/secret').expect(200)
    clock.move(1)
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa')).body.status).toBe('pending')
  })

  it('R67 has shown one factor: no amr, no step-up, no factor change', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    expect((await login(agent, 'bob')).mfa).toMatchObject({ status: 'none', amr: [], verifiedAt: null })
    const refused = await agent.post('/transfer').expect(401)
    expect(refused.body).toMatchObject({ code: 'step_up_required', next: '/mfa' })
    await agent.post('/mfa/enroll-app').send({}).expect(401)
    await agent.post('/mfa/backup').send({}).expect(401)

    // Shown now, it counts as ever.
    await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    await agent.post('/mfa/verify').send({ code: host.standIn.newestCode() }).expect(200)
    await agent.post('/transfer').expect(200)
    const { body } = await agent.get('/secret')
    expect(body.mfa).toMatchObject({ status: 'verified', amr: ['pwd', 'sms', 'mfa'], trusted: false })
    expect(host.told('verified')).toMatchObject([{ purpose: 'sign-in' }, { purpose: 'step-up' }])
  })

  it('is one that asked for it: nothing is trusted by itself', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    const answer = await agent.post('/mfa/verify').send({ code: host.standIn.newestCode(), trust: false })
    expect(answer.body).toEqual({ status: 'verified', next: '/' })
    expect(trustLineOf(answer)).toBeUndefined()
    expect((await login(agent, 'bob')).mfa.status).toBe('pending')
  })

  it('is not trusted by a wrong code', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    const answer = await agent.post('/mfa/verify').send({ code: '000000', trust: true }).expect(401)
    expect(trustLineOf(answer)).toBeUndefined()
    expect(host.told('device_trusted')).toEqual([])
  })

  it('cannot be asked for where the app did not ask for trusted devices', async () => {
    const { app, standIn } = host()
    const agent = jsonAgent(app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    const answer = await agent.post('/mfa/verify').send({ code: standIn.newestCode(), trust: true })
    expect(trustLineOf(answer)).toBeUndefined()
    await agent.get('/mfa/devices').expect(404)
  })

  it('R81 is asked for by a truth, not by anything else', async () => {
    const { app } = trustingHost()
    const agent = jsonAgent(app)
    await login(agent, 'bob')
    for (const trust of [1, 'yes', [true], { $ne: 1 }, null]) {
      const { body } = await agent
        .post('/mfa/verify')
        .send({ code: '000000', factor: 'sms', trust })
        .expect(400)
      expect(body.errors).toMatchObject([{ field: 'trust' }])
    }
  })

  it('may be trusted through the Passport strategy, too', async () => {
    const host = trustingHost({
      routes: (app, _mfa, auth) => {
        app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.json({}))
      },
    })
    const agent = jsonAgent(host.app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    await agent.post('/mfa-login').send({ code: host.standIn.newestCode(), trust: 'on' }).expect(200)
    expect((await login(agent, 'bob')).mfa.trusted).toBe(true)
  })

  it('R02 is known whatever signs the person in, also before the gate', async () => {
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
  it('R11 is HttpOnly, Lax, for this host alone, and Secure under TLS', async () => {
    const host = trustingHost({ first: (app) => app.set('trust proxy', 1) })
    const agent = jsonAgent(host.app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    const sent = { code: host.standIn.newestCode(), trust: true }
    const answer = await agent.post('/mfa/verify').set('X-Forwarded-Proto', 'https').send(sent)
    const line = trustLineOf(answer) ?? ''
    for (const part of ['Max-Age=2592000', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']) {
      expect(line).toContain(part)
    }
    expect(line).not.toMatch(/domain/i)

    const plain = await signInAndTrust(host, 'bob')
    expect(trustLineOf(await plain.post('/login').send({ name: 'bob' }))).not.toContain('Secure')
  })

  it('R16 says nothing of a Host that was made up', async () => {
    const host = trustingHost()
    const agent = jsonAgent(host.app)
    await login(agent, 'bob')
    await agent.post('/mfa/challenge').send({ factor: 'sms' })
    const sent = { code: host.standIn.newestCode(), trust: true }
    const answer = await agent.post('/mfa/verify').set('Host', 'evil.example').send(sent)
    expect(JSON.stringify([answer.headers, answer.body])).not.toContain('evil')
    const { body } = await agent.get('/mfa/devices').set('Host', 'evil.example')
    expect(JSON.stringify(body)).not.toContain('evil')
  })

  it('R64 holds 256 random bits, of which the store knows the hash alone', async () => {
    const seen: string[] = []
    const { openStore } = await import('../../src/stores/open.js')
    const inner = openStore('memory')
    const store = {
      ...inner,
      put: (owner: string, item: { id: string; value: string; expiresAt: number }) => {
        seen.push(owner, item.id, item.value)
        return inner.put(owner, item)
      },
    }
    const host = trustingHost({ options: { trustedDevices: { store } } })
    const [id = '', token = ''] = (await trustedCookie(host)).replace(`${COOKIE}=`, '').split('.')
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(seen).toContain(id)
    expect(seen.join()).not.toContain(token)
    expect(seen.join()).not.toContain('447700900102')
  })

  it('holds several users of one browser, each with a trust of their own', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    expect((await login(agent, 'alice')).mfa.status).toBe('pending')
    await signInAndTrust(host, 'alice', { agent })
    for (const name of ['bob', 'alice', 'bob', 'alice']) {
      expect((await login(agent, name)).mfa, name).toMatchObject({ status: 'none', trusted: true })
    }
    expect((await login(agent, 'dora')).mfa.status).toBe('pending')
  })

  it('R64 opens nothing to another user who has stolen it', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host, 'bob')
    const thief = browserWith(host.app, cookie)
    expect((await login(thief, 'alice')).mfa).toMatchObject({ status: 'pending', trusted: false })
    expect(host.told('device_recognized')).toEqual([])
  })

  it('opens nothing without the first factor', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host, 'bob')
    await browserWith(host.app, cookie).get('/secret').expect(401)
    await browserWith(host.app, cookie).get('/mfa/devices').expect(401)
  })

  it('opens nothing when a part of it was changed, and ends the trust whose secret is wrong', async () => {
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
      expect((await login(browserWith(host.app, one), 'bob')).mfa.trusted, one).toBe(false)
    }
    expect((await login(browserWith(host.app, cookie), 'bob')).mfa.trusted).toBe(true)
    expect((await login(browserWith(host.app, `${COOKIE}=${id}.${flipped}`), 'bob')).mfa.trusted).toBe(false)
    expect((await login(browserWith(host.app, cookie), 'bob')).mfa.trusted).toBe(false)
    expect(host.told('device_copied')).toHaveLength(1)
  })

  it('is found among planted ones of the same name', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host)
    const planted = `${COOKIE}=${'A'.repeat(22)}.${'B'.repeat(43)}`
    const browser = browserWith(host.app, `${planted}; other=1; ${cookie}; ${COOKIE}=nonsense`)
    expect((await login(browser, 'bob')).mfa.trusted).toBe(true)
  })

  it('gets another secret at each use; the old one serves ten seconds, for sign-ins at the same moment', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const first = await trustedCookie(host)
    const used = await browserWith(host.app, first).post('/login').send({ name: 'bob' })
    const second = trustCookieOf(used)
    expect(second).not.toBe('')
    expect(second).not.toBe(first)
    clock.move(10 * SECOND - 1)
    expect((await login(browserWith(host.app, first), 'bob')).mfa.trusted).toBe(true)
    expect((await login(browserWith(host.app, second), 'bob')).mfa.trusted).toBe(true)
  })

  it('ends the trust when a copy of it is used after the browser itself moved on', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const stolen = await trustedCookie(host)
    const used = await browserWith(host.app, stolen).post('/login').send({ name: 'bob' })
    clock.move(10 * SECOND)
    expect((await login(browserWith(host.app, stolen), 'bob')).mfa.status).toBe('pending')
    expect(host.told('device_copied')).toHaveLength(1)
    expect((await login(browserWith(host.app, trustCookieOf(used)), 'bob')).mfa.status).toBe('pending')
  })

  it('serves twenty sign-ins of one browser at once', async () => {
    const host = trustingHost()
    const cookie = await trustedCookie(host)
    const port = await listen(host.app)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => postJson(port, '/login', { name: 'bob' }, cookie)),
    )
    expect(answers.map(({ body }) => (body.mfa as { trusted: boolean }).trusted)).toEqual(
      Array.from({ length: 20 }, () => true),
    )
    expect(host.told('device_copied')).toEqual([])
  })
})
