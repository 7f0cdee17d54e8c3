import express from 'express'
import { describe, expect, it } from 'vitest'
import { createMfa, TrustStoreError } from '../../src/index.js'
import { openStore } from '../../src/stores/config.js'
import { DAY, HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  browserAgent,
  type HostSetup,
  host,
  jsonAgent,
  LISTED_APP,
  signIn,
  type TestUser,
} from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen, postJson } from '../kit/sockets.js'
import { stateAfterLogin } from '../trust/kit.js'
import { followNotMeLink, linkIn, noticingHost, passBothFactors } from './kit.js'

const SECURED = { status: 'secured' }

describe('the "this wasn’t me" link', () => {
  it('ends verified, trusted and pending sessions and the trust in every device, of that user only', async () => {
    const clock = stopClock()
    const host = noticingHost()
    const verified = await passBothFactors(host, 'bob')
    clock.move(60_000)
    const trusted = await passBothFactors(host, 'bob', { trust: true })
    await login(trusted, 'bob').expect(200)
    const pending = await signIn(host.app, 'bob')
    const alice = await passBothFactors(host, 'alice')
    for (const agent of [verified, trusted, alice]) await agent.get('/secret').expect(200)
    clock.move(1)

    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
    for (const agent of [verified, trusted, pending]) {
      await agent.get('/secret').expect(401, { code: 'closed' })
      expect((await agent.get('/mfa')).body).toEqual({ status: 'none', factors: [] })
    }
    await alice.get('/secret').expect(200)
    expect((await stateAfterLogin(trusted, 'bob')).mfa.status).toBe('pending')
    expect(host.eventsOf('account_secured')).toMatchObject([{ userId: 'u-bob' }])
    expect(host.eventsOf('devices_revoked')).toMatchObject([{ userId: 'u-bob', count: 1, why: 'not_me' }])
  })

  it('lets the user sign in again', async () => {
    const clock = stopClock()
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
    clock.move(60_000)
    const agent = await passBothFactors(host, 'bob')
    await agent.get('/secret').expect(200)
  })

  it('informs the host, with a notice that is ready to send', async () => {
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    const notice = host.newest('device_trusted')
    await followNotMeLink(host, notice).expect(200, SECURED)
    expect(host.compromises).toMatchObject([
      {
        userId: 'u-bob',
        noticedAt: notice.at,
        notice: { type: 'account_secured', subject: 'Testbed: your account was secured' },
      },
    ])
    const [compromise] = host.compromises
    expect(compromise?.notice.notMeUrl).toBeUndefined()
    expect(compromise?.notice.text).toContain('Please also change your password.')
  })

  it('works once, even for twenty concurrent requests', async () => {
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    const token = new URL(host.newest('device_trusted').notMeUrl ?? '').searchParams.get('token')
    const port = await listen(host.app)
    await Promise.all(Array.from({ length: 20 }, () => postJson(port, '/mfa/not-me', { token })))
    expect(host.compromises).toHaveLength(1)
    const { body } = await jsonAgent(host.app).post('/mfa/not-me').send({ token }).expect(404)
    expect(body.code).toBe('unknown_link')
  })

  it('works for exactly seven days', async () => {
    const clock = stopClock()
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    clock.move(7 * DAY - 1)
    await jsonAgent(host.app)
      .get(linkIn(host.newest('device_trusted')))
      .expect(200, { status: 'open' })
    clock.move(1)
    await jsonAgent(host.app)
      .get(linkIn(host.newest('device_trusted')))
      .expect(404)
    await followNotMeLink(host, host.newest('device_trusted')).expect(404)
    expect(host.compromises).toEqual([])
  })

  it('changes nothing when it is opened (R14) or posted by another site (R13)', async () => {
    const host = noticingHost()
    const agent = await passBothFactors(host, 'bob', { trust: true })
    const link = linkIn(host.newest('device_trusted'))
    for (const method of ['get', 'head', 'options'] as const) await jsonAgent(host.app)[method](link)
    await browserAgent(host.app).get(link).expect(200)
    await followNotMeLink(host, host.newest('device_trusted')).set('Sec-Fetch-Site', 'cross-site').expect(403)
    await agent.get('/secret').expect(200)
    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
  })

  it('does not work with a forged token', () =>
    everyCase(
      ['', 'x', `${'A'.repeat(22)}.${'B'.repeat(43)}`, '__proto__', 'a'.repeat(5000)],
      async (token) => {
        const host = noticingHost()
        const agent = await passBothFactors(host, 'bob', { trust: true })
        const made = jsonAgent(host.app).post('/mfa/not-me')
        const answer = await made.send({ token })
        expect([400, 404, 413]).toContain(answer.status)
        const genuine = new URL(host.newest('device_trusted').notMeUrl ?? '').searchParams.get('token') ?? ''
        const forged = genuine.endsWith('A') ? `${genuine.slice(0, -1)}Q` : `${genuine.slice(0, -1)}A`
        await jsonAgent(host.app).post('/mfa/not-me').send({ token: forged }).expect(404)
        await jsonAgent(host.app)
          .post('/mfa/not-me')
          .send({ token: [genuine] })
          .expect(400)
        await agent.get('/secret').expect(200)
      },
    ))

  it('informs the host in English if the language of the request cannot be determined', async () => {
    let fails = false
    const locale = () => {
      if (fails) throw new Error('no languages today')
      return 'de'
    }
    const logger = { warn: () => {}, error: () => {} }
    const host = noticingHost({ options: { languages: { locale }, logger } })
    await passBothFactors(host, 'bob', { trust: true })
    fails = true
    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
    expect(host.compromises).toMatchObject([{ userId: 'u-bob', notice: { locale: 'en' } }])
  })

  it('is stored as a hash of its secret (R64)', async () => {
    const seen: string[] = []
    const inner = openStore('memory')
    const store = {
      ...inner,
      put: (owner: string, item: { id: string; value: string; expiresAt: number }) => {
        seen.push(owner, item.id, item.value)
        return inner.put(owner, item)
      },
    }
    const host = noticingHost({ options: { notices: { store } } })
    await passBothFactors(host, 'bob', { trust: true })
    const token = new URL(host.newest('device_trusted').notMeUrl ?? '').searchParams.get('token') ?? ''
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.join()).not.toContain(token.split('.')[1])
  })

  it('ends the session while a code is being checked, and the trust requested with it (R07)', async () => {
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    const notice = host.newest('device_trusted')
    const attacker = await signIn(host.app, 'bob')
    host.standIn.setApp('bob@example.com', '1')
    const { bob } = host.users
    bob?.factors.push({ method: 'app', user: 'bob@example.com' })
    host.standIn.setApp('bob@example.com', '424242')
    const held = host.standIn.hold()
    const answer = verify(attacker, '424242', { factor: 'app', trust: true }).then((done) => done)
    await held.arrived
    await followNotMeLink(host, notice).expect(200, SECURED)
    held.release()
    expect((await answer).body).not.toMatchObject({ trusted: true })
    await attacker.get('/secret').expect(401)
    expect((await stateAfterLogin(attacker, 'bob')).mfa.status).toBe('pending')
  })

  it('ends sessions without touching the session store', async () => {
    const store = new FaultyStore()
    const host = noticingHost({ store })
    const agent = await passBothFactors(host, 'bob', { trust: true })
    const before = { ...store.stored }
    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
    expect(store.stored).toEqual(before)
    await agent.get('/secret').expect(401)
  })

  it('blocks sessions that may be void while its store is down (R09)', async () => {
    const inner = openStore('memory')
    let isDown = false
    const store = {
      ...inner,
      read: async (owner: string) => {
        if (isDown) throw new Error('gone')
        return inner.read(owner)
      },
    }
    const host = noticingHost({ options: { notices: { store } } })
    const agent = await passBothFactors(host, 'bob', { trust: true })
    isDown = true
    await agent.get('/secret').expect(503)
    expect(host.failures.at(-1)).toBeInstanceOf(TrustStoreError)
    await followNotMeLink(host, host.newest('device_trusted')).expect(503)
    isDown = false
    await agent.get('/secret').expect(200)
    await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
  })

  it('cannot be replaced by secure() in a host without a store, whose sessions would stay open', async () => {
    const { app, mfa, users } = host()
    const agent = await signIn(app, 'nina')
    const { nina } = users
    if (!nina) throw new Error('nina')
    await expect(createMfa(mfa).account.secure(nina)).rejects.toThrow('account.secure needs a store')
    await agent.get('/secret').expect(200)
  })

  it('ends a pending login whose correct code is being checked, however it would go on, and it is not stored again (R07)', () =>
    everyCase(['require', { require: 'strong' }] as const, async (later) => {
      const clock = stopClock()
      let policy: typeof later = 'require'
      const store = new FaultyStore()
      const host = noticingHost({ store, session: { resave: true }, options: { policy: () => policy } })
      await passBothFactors(host, 'bob', { trust: true })
      clock.move(MINUTE)
      policy = later
      const agent = await signIn(host.app, 'bob')
      await challenge(agent, 'sms').expect(200)
      const held = host.standIn.hold()
      const late = verify(agent, host.standIn.newestCode()).then((answer) => answer)
      await held.arrived
      await followNotMeLink(host, host.newest('device_trusted')).expect(200, SECURED)
      clock.move(MINUTE)
      // The host deletes the sessions, too.
      for (const id of Object.keys(store.stored)) delete store.stored[id]
      held.release()
      const { status, body } = await late
      expect([status, body.code]).toEqual([401, 'session_ended'])
      expect(store.stored).toEqual({})
      expect((await agent.get('/mfa')).body.status).toBe('none')
    }))

  it('has the same effect as a call of secure() by the host', async () => {
    const host = noticingHost()
    const agent = await passBothFactors(host, 'bob', { trust: true })
    const { bob } = host.users
    if (!bob) throw new Error('bob')
    await createMfa(host.mfa).account.secure(bob)
    await agent.get('/secret').expect(401)
  })
})

describe('the "this wasn’t me" link of a user without a second factor', () => {
  /** A host that sends nina a notice with a link, about a removed phone. */
  async function noticed(setup: HostSetup = {}) {
    const made = noticingHost({
      ...setup,
      routes: (app, mfa) => {
        app.post('/forget-phone', (req, res, next) => {
          const factor = { method: 'sms', phone: '+447700900109' } as const
          createMfa(mfa)
            .account.factorRemoved(req, req.user as object as TestUser, factor)
            .then(() => res.json({}), next)
        })
      },
    })
    const agent = await signIn(made.app, 'nina')
    await agent.post('/forget-phone').expect(200)
    return { ...made, agent, link: made.newest('factor_removed') }
  }

  it('ends their sessions, but not the next one', async () => {
    const clock = stopClock()
    const made = await noticed()
    const other = await signIn(made.app, 'nina')
    await other.get('/secret').expect(200)
    clock.move(1)
    await followNotMeLink(made, made.link).expect(200, SECURED)
    for (const agent of [made.agent, other]) await agent.get('/secret').expect(401, { code: 'closed' })
    clock.move(1)
    await (await signIn(made.app, 'nina')).get('/secret').expect(200)
  })

  it('ends a session that logged in before the gate, and one in a grace period', async () => {
    const clock = stopClock()
    const made = await noticed({
      options: { policy: () => ({ graceUntil: Date.now() + DAY }) },
      beforeGate: (app, auth) => {
        app.post('/early', express.json(), auth.authenticate('name'), (_req, res) => void res.json({}))
      },
    })
    const early = jsonAgent(made.app)
    await early.post('/early').send({ name: 'nina' }).expect(200)
    for (const agent of [early, made.agent]) {
      expect((await agent.get('/secret').expect(200)).body.mfa.graceUntil).not.toBeNull()
    }
    clock.move(1)
    await followNotMeLink(made, made.link).expect(200, SECURED)
    for (const agent of [early, made.agent]) await agent.get('/secret').expect(401)
  })

  it('ends a renewed session', async () => {
    const clock = stopClock()
    const made = noticingHost({
      routes: (app, mfa) => {
        app.post('/renew', (req, res, next) => {
          createMfa(mfa)
            .account.renewSession(req, req.user as object as TestUser)
            .then(() => res.json({}), next)
        })
      },
    })
    const agent = await signIn(made.app, 'nina')
    clock.move(HOUR)
    await agent.post('/renew').expect(200)
    const { nina } = made.users
    if (!nina) throw new Error('nina')
    await createMfa(made.mfa).account.secure(nina)
    await agent.get('/secret').expect(401)
  })

  it('leaves them the full ten minutes of a pending login when they get a factor (R05)', async () => {
    const clock = stopClock()
    const made = await noticed()
    clock.move(HOUR)
    made.users.nina?.factors.push({ method: 'sms', phone: '+447700900109' })
    expect((await made.agent.get('/mfa').expect(200)).body).toMatchObject({
      status: 'pending',
      expiresAt: new Date(Date.now() + 10 * MINUTE).toISOString(),
    })
    await made.agent.get('/secret').expect(401)
    await challenge(made.agent, 'sms').expect(200)
    await verify(made.agent, made.standIn.newestCode()).expect(200)
    await made.agent.get('/secret').expect(200)
  })

  it('lets them set up an app, which every later sign-in requires', async () => {
    const made = await noticed({
      options: LISTED_APP,
    })
    await made.agent.post('/mfa/enroll-app').send({}).expect(200)
    made.standIn.setApp('nina@example.com', '424242')
    await made.agent.post('/mfa/enroll-app/confirm').send({ code: '424242' }).expect(200)
    expect((await made.agent.get('/secret').expect(200)).body.mfa.status).toBe('verified')
    await (await signIn(made.app, 'nina')).get('/secret').expect(401)
  })

  it('stores its time in a session once, not at every request', async () => {
    const store = new FaultyStore()
    const made = noticingHost({ store })
    const agent = await signIn(made.app, 'nina')
    const [before] = store.documents
    await agent.get('/secret').expect(200)
    expect(Reflect.get(store.documents[0] ?? {}, 'mfa')).toEqual(Reflect.get(before ?? {}, 'mfa'))
    store.failOn('set')
    await agent.get('/secret').expect(200)
    expect(store.willFail()).toBe(true)
  })
})

describe('the page behind the link', () => {
  it('asks first, ends every session at a click, and later says that the link was used', async () => {
    const host = noticingHost()
    await passBothFactors(host, 'bob', { trust: true })
    const link = linkIn(host.newest('device_trusted'))
    const browser = browserAgent(host.app)
    const asked = await browser.get(link).expect(200)
    expect(asked.text).toContain('It wasn’t me: sign everyone out')
    expect(asked.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
    const token = /name="token" value="([^"]+)"/.exec(asked.text)?.[1]
    const done = await browser.post('/mfa/not-me').type('form').send({ token }).expect(303)
    expect(done.headers.location).toBe('/mfa/not-me?done')
    const page = await browser.get('/mfa/not-me?done').expect(200)
    expect(page.text).toContain('Everyone is signed out')
    expect(page.text).toContain('href="/login"')
    const late = await browser.get(link).expect(404)
    expect(late.text).toContain('This link no longer works')
  })
})
