import express, { type Express as App, type Request } from 'express'
import type passport from 'passport'
import { Strategy } from 'passport-strategy'
import { describe, expect, it } from 'vitest'
import { createMfa, type MfaEvent, requireMfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, type HostSetup, host, jsonAgent, signInFully, testUsers } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/*
 * A request of two users: the session of alice, who has shown a factor, and the token of bob.
 */

/** Names the user of a token for one request, as `passport-jwt` does. */
class Token extends Strategy {
  readonly name = 'token'
  override authenticate(req: Request): void {
    const name = String(req.get('x-token') ?? '')
    if (name === 'nobody') return this.success({ role: 'service' } as object as Express.User)
    const user = testUsers()[name]
    if (user) this.success(user as object as Express.User)
    else this.pass()
  }
}

function tokenHost(setup: HostSetup = {}) {
  const events: MfaEvent[] = []
  const log: string[] = []
  const store = new FaultyStore()
  const paid: string[] = []
  const pay: express.RequestHandler = (req, res) => {
    paid.push(String(Reflect.get(req.user ?? {}, 'id')))
    res.json({ paid: true })
  }
  const made = host({
    store,
    ...setup,
    options: {
      onEvent: (event) => void events.push(event),
      logger: { warn: (text) => void log.push(text), error: (text) => void log.push(text) },
      ...setup.options,
    },
    beforeGate(app, auth) {
      app.use(auth.initialize())
      auth.use(new Token())
      setup.beforeGate?.(app, auth)
    },
    behindGate(app, auth) {
      if (setup.beforeGate === undefined) app.use(auth.authenticate('token', { session: false }))
    },
    routes(app, mfa, auth) {
      const { requireStrongest, account } = createMfa(mfa)
      app.post('/pay', requireMfa(), pay)
      app.post('/pay-own', createMfa(mfa).requireMfa(), pay)
      app.post('/pay-strong', requireStrongest(), pay)
      app.post('/pay-bound', express.json(), requireMfa({ bind: ['amount'] }), pay)
      app.post('/mfa-login', express.json(), auth.authenticate('mfa', { session: false }), pay)
      app.post('/act', async (req, res) => {
        await account.actAs(req, testUsers().nina as never, { reason: 'ticket 7', requireMfa: {} })
        res.json({})
      })
      setup.routes?.(app, mfa, auth)
    },
  })
  return { ...made, store, events, log, paid }
}

const GUARDED = ['/pay', '/pay-own', '/pay-strong', '/pay-bound']
const stored = ({ store }: { store: FaultyStore }) => JSON.stringify(store.stored)

describe('a request whose token names another user than its session (R143)', () => {
  it('is refused by every guard with 403, changes nothing stored, and is logged and an event', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    await agent.get('/secret').expect(200)
    const before = stored(made)
    await everyCase(GUARDED, async (path) => {
      const { body, headers } = await agent.post(path).set('X-Token', 'bob').send({ amount: '5' }).expect(403)
      expect(body).toMatchObject({ code: 'other_user' })
      expect(body).not.toHaveProperty('next')
      expect(headers).not.toHaveProperty('location')
    })
    expect(made.paid).toEqual([])
    expect(stored(made)).toBe(before)
    expect(made.log.filter((text) => text.includes('another user than its session'))).toHaveLength(4)
    const refused = made.events.filter(({ type }) => type === 'other_user_refused')
    expect(refused).toHaveLength(4)
    expect(refused[0]).toMatchObject({ userId: 'u-ali' })
    await agent.post('/pay').expect(200)
    expect(made.paid).toEqual(['u-ali'])
  })

  it('gets a page without a redirect in a browser', async () => {
    const made = tokenHost()
    const signedIn = await signInFully(made, 'bob')
    await everyCase(GUARDED, async (path) => {
      const page = await signedIn
        .post(path)
        .set({ Accept: 'text/html', 'X-Token': 'alice' })
        .send({ amount: '5' })
        .expect(403)
      expect(page.headers).not.toHaveProperty('location')
      expect(page.text).toContain('Another account is signed in here')
    })
  })

  it('does not use the approval of the user of the session', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'bob')
    const { body } = await agent.post('/pay-bound').send({ amount: '5' }).expect(401)
    const approval = body.approval.id
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    await agent.post('/mfa/verify').send({ code: made.standIn.newestCode(), approval }).expect(200)
    await agent.post('/pay-bound').set('X-Token', 'alice').send({ amount: '5' }).expect(403)
    expect(made.paid).toEqual([])
    await agent.post('/pay-bound').send({ amount: '5' }).expect(200)
    expect(made.paid).toEqual(['u-bob'])
  })

  it('reaches no route of ours, which would change the factors of the user of the session', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    const before = stored(made)
    await everyCase(
      [
        ['get', '/mfa'],
        ['get', '/mfa/verify'],
        ['post', '/mfa/challenge'],
        ['post', '/mfa/enroll-app'],
        ['post', '/mfa/backup'],
        ['post', '/mfa/cancel'],
      ] as const,
      async ([method, path]) => {
        const { body } = await agent[method](path).set('X-Token', 'bob').expect(403)
        expect(body.code).toBe('other_user')
      },
    )
    expect(stored(made)).toBe(before)
  })

  it('is refused by the strategy, where it does not sign the user in', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    await challenge(agent, 'sms').expect(200)
    const before = stored(made)
    const code = made.standIn.newestCode()
    await agent.post('/mfa-login').set('X-Token', 'bob').send({ code }).expect(403)
    expect(made.paid).toEqual([])
    expect(stored(made)).toBe(before)
    await agent.post('/mfa-login').send({ code }).expect(200)
  })

  it('is of another user if its own has no id, or is no object', async () => {
    const odd: unknown[] = [{ role: 'service' }, 'u-ali', 7, true, {}, null]
    const made = tokenHost({
      routes: (app) => {
        app.post('/odd/:nth', (req, _res, next) => {
          Reflect.set(req, 'user', odd[Number(req.params.nth)])
          next()
        })
        app.post('/odd/:nth', requireMfa(), (_req, res) => void res.json({}))
      },
    })
    const agent = await signInFully(made, 'alice')
    await agent.post('/pay').set('X-Token', 'nobody').expect(403)
    await everyCase(
      odd.map((_user, nth) => nth),
      (nth) => agent.post(`/odd/${nth}`).expect(403),
    )
    const own = tokenHost({ options: { userId: (user) => user.factors.length } })
    const session = await signInFully(own, 'bob')
    await session.post('/pay').set('X-Token', 'nobody').expect(403)
  })

  it('passes as the same user in another object', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    await everyCase(GUARDED.slice(0, 3), (path) => agent.post(path).set('X-Token', 'alice').expect(200))
  })

  it('is compared by the property that Passport uses, and not seen in another one', async () => {
    const made = tokenHost({
      routes: (app, _mfa, auth) => {
        app.post('/assigned', (req, _res, next) => {
          req.headers['x-token'] = 'bob'
          next()
        })
        app.post(
          '/assigned',
          auth.authenticate('token', { session: false, assignProperty: 'account' }),
          requireMfa(),
          (req, res) => void res.json({ account: Reflect.get(req, 'account').id }),
        )
      },
    })
    const agent = await signInFully(made, 'alice')
    await agent.post('/assigned').expect(200, { account: 'u-bob' })
  })

  it('lets nobody act for a user with the factor of the session', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    await agent.post('/act').set('X-Token', 'bob').expect(500)
    expect(made.failures).toMatchObject([{ code: 'ERR_MFA_ACTING' }])
  })

  it('leaves the stored session as it is where the token is read before the gate', () =>
    everyCase(['alice', 'nina', undefined], async (name) => {
      const made = tokenHost({
        beforeGate: (app: App, auth: passport.Authenticator) =>
          void app.use((req, res, next) =>
            req.get('x-token') ? auth.authenticate('token', { session: false })(req, res, next) : next(),
          ),
      })
      const agent = name === undefined ? jsonAgent(made.app) : await signInFullyOrOnce(made, name)
      // A pending login, too.
      if (name === undefined) await login(agent, 'alice').expect(200)
      const before = stored(made)
      expect((await agent.get('/secret').set('X-Token', 'bob')).status).toBe(403)
      await agent.post('/pay').set('X-Token', 'bob').expect(403)
      await agent.get('/mfa').set('X-Token', 'bob').expect(403)
      await agent.get('/secret').set({ Accept: 'text/html', 'X-Token': 'bob' }).expect(403)
      expect(stored(made)).toBe(before)
      await agent.get('/secret').expect(name === undefined ? 401 : 200)
    }))

  it('costs nothing: a page of one user has the calls and writes that it had before', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    let writes = 0
    const set = made.store.set.bind(made.store)
    made.store.set = (...args) => {
      writes++
      set(...args)
    }
    const calls = made.standIn.calls.length
    for (let visit = 0; visit < 5; visit++) {
      await agent.get('/secret').expect(200)
      await agent.post('/pay').expect(200)
    }
    expect([made.standIn.calls.length - calls, writes]).toEqual([0, 0])
  })

  it('stays a login where it is one (R04)', async () => {
    const made = tokenHost()
    const agent = await signInFully(made, 'alice')
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    await agent.post('/pay').expect(200)
    expect(made.paid).toEqual(['u-bob'])
    const browser = browserAgent(made.app)
    await login(browser, 'bob').expect(200)
    await browser.get('/secret').expect(303)
  })
})

/** Signs in with both factors a user who has some, and otherwise with the password. */
async function signInFullyOrOnce(made: ReturnType<typeof tokenHost>, name: string) {
  if (name !== 'nina') return signInFully(made, name)
  const agent = jsonAgent(made.app)
  await login(agent, name).expect(200)
  return agent
}
