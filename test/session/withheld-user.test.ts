import type { SessionData } from 'express-session'
import type passport from 'passport'
import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  type HostSetup,
  host,
  jsonAgent,
  pendingCookie,
  signIn,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

type Stored = SessionData & { passport?: { user?: unknown }; mfa?: unknown }

/** A host with `passport.initialize()`, so that the gate knows Passport's instance, and what its store holds. */
function testbed(setup: HostSetup = {}) {
  const store = new FaultyStore()
  const made = host({
    ...setup,
    store,
    beforeGate(app, auth) {
      app.use(auth.initialize())
      setup.beforeGate?.(app, auth)
    },
  })
  const stored = (cookie: string) => JSON.parse(store.stored[sessionId(cookie)] ?? '{}') as Stored
  return { ...made, store, stored }
}

describe('the user of a pending login', () => {
  it('is not in the part of the session that Passport reads, until the second factor (R134)', async () => {
    const made = testbed()
    const pending = await pendingCookie(made, 'bob')
    expect(made.stored(pending).passport).toBeUndefined()
    const agent = withCookie(made.app, pending)
    expect((await agent.get('/mfa').expect(200)).body.status).toBe('pending')
    await challenge(withCookie(made.app, pending), 'sms').expect(200)
    expect(made.stored(pending).passport).toBeUndefined()
    const verified = sessionCookie(
      await verify(withCookie(made.app, pending), made.standIn.newestCode()).expect(200),
    )
    expect(made.stored(verified).passport).toEqual({ user: 'u-bob' })
    await withCookie(made.app, verified).get('/secret').expect(200)
  })

  it('stays there for an instance of Passport that the gate does not know, which is a warning', async () => {
    const warnings: string[] = []
    const store = new FaultyStore()
    const made = host({
      store,
      options: { diagnostics: {}, logger: { warn: (text) => void warnings.push(text), error: () => {} } },
    })
    const cookie = await pendingCookie(made, 'bob')
    expect(JSON.parse(store.stored[sessionId(cookie)] ?? '{}').passport).toEqual({ user: 'u-bob' })
    await withCookie(made.app, cookie).get('/secret').expect(401)
    const about = warnings.filter((text) => text.includes('MFA_WARN_PASSPORT_INSTANCE'))
    expect(about).toEqual([expect.stringContaining('passport.initialize()')])
  })

  it('is not shown to a route before the gate (R01, R134)', async () => {
    const made = testbed({
      beforeGate: (app) => void app.get('/early', (req, res) => void res.json({ user: req.user ?? null })),
    })
    const get = (cookie: string) => withCookie(made.app, cookie).get('/early')
    await get(await pendingCookie(made, 'bob')).expect(200, { user: null })
    expect((await get(await verifiedCookie(made, 'bob'))).body.user).toMatchObject({ id: 'u-bob' })
  })

  it('leaves the part of Passport at the first request after a login before the gate (R134)', async () => {
    const made = testbed({
      beforeGate(app, auth) {
        app.post(
          '/early',
          (req, _res, next) => {
            req.body = { name: 'bob' }
            next()
          },
          auth.authenticate('name'),
          (_req, res) => void res.json({}),
        )
      },
    })
    const cookie = sessionCookie(await jsonAgent(made.app).post('/early').expect(200))
    expect(made.stored(cookie).passport).toEqual({ user: 'u-bob' })
    await withCookie(made.app, cookie).get('/secret').expect(401)
    expect(made.stored(cookie).passport).toBeUndefined()
    expect((await withCookie(made.app, cookie).get('/mfa')).body.status).toBe('pending')
  })

  it.each([true, false])('is gone after a sign-out (keepSessionInfo: %s)', async (keepSessionInfo) => {
    const made = testbed({
      routes(app) {
        app.post('/login/bye', (req, res, next) =>
          req.logout({ keepSessionInfo }, (error) => (error ? next(error) : res.json({}))),
        )
      },
    })
    const agent = await signIn(made.app, 'bob')
    await agent.post('/login/bye').expect(200)
    expect((await agent.get('/mfa')).body.status).toBe('none')
  })

  it('is replaced by the next user who signs in, also with keepSessionInfo', async () => {
    const made = testbed({ login: { keepSessionInfo: true } })
    const agent = await signIn(made.app, 'bob')
    await login(agent, 'alice').expect(200)
    await challenge(agent, 'email').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    expect((await agent.get('/secret').expect(200)).body.mfa.status).toBe('verified')
  })

  it('is void in any other session, and for a deserializer that finds another user (R04)', async () => {
    let found = 'u-bob'
    const made = testbed({
      beforeGate(_app, auth: passport.Authenticator) {
        auth.serializeUser<string>((_user, done) => done(null, 'u-bob'))
        Reflect.set(auth, '_deserializers', [])
        auth.deserializeUser<string>((_id, done) =>
          done(null, { id: found, factors: [] } as object as Express.User),
        )
      },
    })
    const [first, second] = [await pendingCookie(made, 'bob'), await pendingCookie(made, 'bob')]
    const copied = { ...made.stored(second), mfa: made.stored(first).mfa }
    made.store.stored[sessionId(second)] = JSON.stringify(copied)
    expect((await withCookie(made.app, second).get('/mfa')).body.status).toBe('none')
    found = 'u-ali'
    expect((await withCookie(made.app, first).get('/mfa')).body.status).toBe('none')
  })

  it('is brought back for a pending login only, and not where it was put beside another record', async () => {
    const made = testbed()
    const verified = await verifiedCookie(made, 'bob')
    const { passport: kept, ...data } = made.stored(verified)
    const beside = { ...data, mfa: { record: data.mfa, user: kept?.user } }
    made.store.stored[sessionId(verified)] = JSON.stringify(beside)
    await withCookie(made.app, verified).get('/secret').expect(401, { code: 'closed' })
  })

  it('of another session does not take the place of the user who signed in to this one (R04)', async () => {
    const made = testbed()
    const [other, cookie] = [await pendingCookie(made, 'alice'), await verifiedCookie(made, 'bob')]
    const planted = { ...made.stored(cookie), mfa: made.stored(other).mfa }
    made.store.stored[sessionId(cookie)] = JSON.stringify(planted)
    for (let visit = 0; visit < 2; visit++) {
      expect((await withCookie(made.app, cookie).get('/mfa')).body).toMatchObject({ status: 'pending' })
      expect(made.stored(cookie).mfa).toMatchObject({ user: 'u-bob' })
    }
  })

  it('ends with the pending login, and when the host no longer finds them (R05)', async () => {
    const clock = stopClock()
    const made = testbed()
    const [late, deleted] = [await pendingCookie(made, 'bob'), await pendingCookie(made, 'dora')]
    delete made.users.dora
    expect((await withCookie(made.app, deleted).get('/mfa')).body.status).toBe('none')
    expect(made.stored(deleted).mfa).toBeUndefined()
    clock.move(11 * MINUTE)
    expect((await challenge(withCookie(made.app, late), 'sms')).body.code).toBe('pending_login_expired')
  })

  it('goes back to Passport when no second factor is required any more', async () => {
    let decision: 'require' | 'skip' = 'require'
    const made = testbed({ options: { policy: () => decision } })
    const cookie = await pendingCookie(made, 'nina')
    expect(made.stored(cookie).passport).toBeUndefined()
    decision = 'skip'
    await withCookie(made.app, cookie).get('/mfa').expect(200)
    expect(made.stored(cookie).passport).toEqual({ user: 'u-nin' })
    await withCookie(made.app, cookie).get('/secret').expect(200)
  })

  it('is shown at once where a guard finds that no second factor is required any more', async () => {
    let decision: 'require' | 'skip' = 'require'
    const made = testbed({
      options: { policy: () => decision },
      routes: (app, mfa) => {
        app.get('/login/me', createMfa(mfa).requireStrongest(), (req, res) => void res.json(req.user))
      },
    })
    const cookie = await pendingCookie(made, 'nina')
    decision = 'skip'
    expect((await withCookie(made.app, cookie).get('/login/me').expect(200)).body.id).toBe('u-nin')
  })

  it('goes back to Passport when the user no longer has a factor', async () => {
    const made = testbed()
    const cookie = await pendingCookie(made, 'bob')
    made.users.bob?.factors.pop()
    await withCookie(made.app, cookie).get('/mfa').expect(200)
    expect(made.stored(cookie).passport).toEqual({ user: 'u-bob' })
  })

  it('stays with Passport when its instance is unknown, and is withheld by the gate', async () => {
    const store = new FaultyStore()
    const made = host({ store })
    const cookie = await pendingCookie(made, 'bob')
    expect(JSON.parse(store.stored[sessionId(cookie)] ?? '{}').passport).toEqual({ user: 'u-bob' })
    await withCookie(made.app, cookie).get('/secret').expect(401)
  })
})
