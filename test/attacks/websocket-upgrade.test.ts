import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import type passport from 'passport'
import { describe, expect, it } from 'vitest'
import { createMfa, mfaSession, type SignedInUpgrade } from '../../src/index.js'
import type { Upgrade } from '../../src/web/guard/upgrade.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import {
  type Host,
  type HostSetup,
  host,
  jsonAgent,
  pendingCookie,
  type TestUser,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { connect, type OnUpgrade, serveWithSockets } from '../kit/web-socket.js'
import { noticingHost } from '../notices/kit.js'
import { signInAndTrust, trustingHost } from '../trust/kit.js'

/*
 * The attacker knows the password, has no second factor, and opens a WebSocket with the cookie of the pending login.
 */

/** A host whose Passport is found on the request, as the default instance is. */
function hostWithPassport(setup: HostSetup = {}) {
  let auth: passport.Authenticator | undefined
  const made = host({
    ...setup,
    beforeGate(app, own) {
      auth = own
      app.use(own.initialize())
      setup.beforeGate?.(app, own)
    },
  })
  if (!auth) throw new Error('no Passport')
  const secret = 'a test secret'
  const sessions = session({ secret, resave: false, saveUninitialized: false, store: made.store })
  return { ...made, auth, sessions }
}

type Clock = ReturnType<typeof stopClock>

/** All sessions, as they are stored. */
const storedIn = ({ store }: Pick<Host, 'store'>) => JSON.stringify(Reflect.get(store, 'sessions'))

/** The request of an upgrade, with what middleware adds to it. */
type Extended = IncomingMessage & { user?: unknown; session?: { passport?: { user?: unknown } } }

/** Runs middleware on a request without a response, as the READMEs of ws and socket.io do. */
async function runAll(req: IncomingMessage, handlers: readonly RequestHandler[]): Promise<void> {
  for (const handler of handlers) {
    await new Promise<void>((resolve, reject) => {
      Reflect.apply(handler, undefined, [req, {}, (error?: unknown) => (error ? reject(error) : resolve())])
    })
  }
}

const says =
  (isSignedIn: (req: Extended) => unknown, handlers: readonly RequestHandler[]): OnUpgrade =>
  async (req, accept, socket) => {
    await runAll(req, handlers)
    if (isSignedIn(req)) accept()
    else socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
  }

/** A server that asks `mfa.upgrade`. */
const guarded =
  ({ app, mfa }: Pick<Host, 'app' | 'mfa'>, more?: { origins: readonly string[] }): OnUpgrade =>
  async (req, accept, socket) => {
    const upgrade = await createMfa(mfa).upgrade(req, app, more)
    if (upgrade.outcome === 'signed_in') accept()
    else socket.end(upgrade.response)
  }

describe('a WebSocket server as the READMEs of ws and socket.io show it', () => {
  it.each([
    ['req.user', (req: Extended) => req.user],
    ['the user that Passport wrote into the session', (req: Extended) => req.session?.passport?.user],
  ])('does not say hello to the password alone when it asks for %s (R134)', async (_what, isSignedIn) => {
    const made = hostWithPassport()
    const { app, auth, sessions } = made
    const port = await serveWithSockets(app, says(isSignedIn, [sessions, auth.session()]))
    expect((await connect(port, await pendingCookie(made, 'bob'))).status).toBe(401)
    expect((await connect(port, await verifiedCookie(made, 'bob'))).status).toBe(101)
  })
})

describe('mfa.upgrade', () => {
  it('refuses the password alone and signed-out browsers, and accepts the second factor (R134)', async () => {
    const made = host()
    const port = await serveWithSockets(made.app, guarded(made))
    expect(await connect(port, '')).toEqual({ status: 401, code: 'sign_in_required' })
    expect(await connect(port, await pendingCookie(made, 'bob'))).toEqual({
      status: 401,
      code: 'mfa_required',
    })
    expect((await connect(port, await verifiedCookie(made, 'bob'))).status).toBe(101)
  })

  it('decides in a second process by the session that the first one stored (R134)', async () => {
    const store = new MemoryStore()
    const first = host({ store })
    const second = host({ store, standIn: first.standIn })
    const port = await serveWithSockets(second.app, guarded(second))
    const [pending, verified] = [await pendingCookie(first, 'bob'), await verifiedCookie(first, 'bob')]
    expect((await connect(port, pending)).status).toBe(401)
    expect((await connect(port, verified)).status).toBe(101)
    await withCookie(first.app, verified).post('/logout').expect(200)
    expect(await connect(port, verified)).toEqual({ status: 401, code: 'sign_in_required' })
  })

  it('refuses a login that was started before the gate (R134)', async () => {
    const made = host({
      beforeGate: (app, auth) =>
        void app.post(
          '/early',
          (req, _res, next) => {
            req.body = { name: 'bob' }
            next()
          },
          auth.authenticate('name'),
          (_req, res) => void res.json({}),
        ),
    })
    const port = await serveWithSockets(made.app, guarded(made))
    const cookie = sessionCookie(await withCookie(made.app, '').post('/early').expect(200))
    const before = storedIn(made)
    expect(await connect(port, cookie)).toEqual({ status: 401, code: 'mfa_required' })
    expect(storedIn(made)).toBe(before)
  })

  it('neither ends nor changes the session that it reads (R134)', async () => {
    const clock = stopClock()
    const made = host()
    const port = await serveWithSockets(made.app, guarded(made))
    const cookie = await pendingCookie(made, 'bob')
    const before = storedIn(made)
    await connect(port, cookie)
    await connect(port, '')
    expect(storedIn(made)).toBe(before)
    clock.move(HOUR)
    expect(await connect(port, cookie)).toEqual({ status: 401, code: 'pending_login_expired' })
    expect(storedIn(made)).toBe(before)
  })

  it('refuses pages of other sites, unless they are listed', async () => {
    const made = host()
    const Origin = 'https://evil.example'
    const port = await serveWithSockets(made.app, guarded(made))
    const cookie = await verifiedCookie(made, 'bob')
    expect(await connect(port, cookie, { Origin })).toEqual({ status: 403, code: 'cross_site' })
    const listing = await serveWithSockets(made.app, guarded(made, { origins: [Origin] }))
    expect((await connect(listing, cookie, { Origin })).status).toBe(101)
    await everyCase(
      ['https://other.example', `${Origin}:8443`, `${Origin}/`, 'http://evil.example', 'null', 'not a url'],
      async (other) => {
        expect(await connect(listing, cookie, { Origin: other })).toEqual({ status: 403, code: 'cross_site' })
      },
    )
  })

  it('accepts a user who needs no second factor, until the session is decided again and the user has one (R134)', async () => {
    const clock = stopClock()
    const made = host()
    const port = await serveWithSockets(made.app, guarded(made))
    const cookie = await pendingCookie(made, 'nina')
    expect((await connect(port, cookie)).status).toBe(101)
    made.users.nina?.factors.push({ method: 'sms', phone: '+447700900105' })
    clock.move(5 * MINUTE)
    expect(await connect(port, cookie)).toEqual({ status: 401, code: 'mfa_required' })
  })

  it('says why it refuses, for programs and for the socket', async () => {
    const made = host()
    const found: Upgrade<TestUser>[] = []
    const port = await serveWithSockets(made.app, async (req, _accept, socket) => {
      const upgrade = await createMfa(made.mfa).upgrade(req, made.app)
      found.push(upgrade)
      if (upgrade.outcome === 'refused') socket.end(upgrade.response)
    })
    await connect(port, await pendingCookie(made, 'bob'))
    expect(found).toMatchObject([
      {
        ...{ outcome: 'refused', refusal: 'mfa_required', status: 401 },
        problem: { code: 'mfa_required', status: 401, next: '/mfa' },
        response: expect.stringMatching(/^HTTP\/1\.1 401 Unauthorized\r\n/),
      },
    ])
  })

  it('lets middleware in front of the gate read the request to its end', async () => {
    const made = host({
      first: (app) =>
        void app.use('/live', async (req, _res, next) => {
          for await (const part of req) expect(part).toBe('')
          next()
        }),
    })
    const port = await serveWithSockets(made.app, guarded(made))
    expect((await connect(port, await verifiedCookie(made, 'bob'))).status).toBe(101)
  })

  it('finds the gate by the address that the browser requested, in a route that is mounted at a path', async () => {
    const made = host({
      first: (app) => void app.get('/', (_req, res) => void res.send('home')),
      routes: (app, mfa) =>
        void app.use('/stream', async (req, res) => {
          const { outcome } = await createMfa(mfa).upgrade(req, made.app)
          res.json({ outcome })
        }),
    })
    const agent = withCookie(made.app, await verifiedCookie(made, 'bob'))
    await agent.get('/stream').expect(200, { outcome: 'signed_in' })
  })

  it('fails closed when the request does not reach the gate (R134)', async () => {
    const made = host()
    const early = host({ first: (app) => void app.use('/live', (_req, res) => void res.sendStatus(204)) })
    const port = await serveWithSockets(made.app, guarded({ app: early.app, mfa: early.mfa }))
    expect(await connect(port, '')).toEqual({ status: 500, code: 'ERR_MFA_UPGRADE' })
    const other = await serveWithSockets(made.app, guarded({ app: made.app, mfa: early.mfa }))
    expect(await connect(other, await verifiedCookie(made, 'bob'))).toEqual({
      status: 500,
      code: 'ERR_MFA_UPGRADE',
    })
  })
})

describe('a connection that mfa.upgrade accepted', () => {
  /** Connects with this cookie, and returns what `mfa.upgrade` said, for later checks. */
  async function accepted(
    made: Pick<Host, 'app' | 'mfa'>,
    cookie: string,
  ): Promise<SignedInUpgrade<TestUser>> {
    const found: Upgrade<TestUser>[] = []
    const port = await serveWithSockets(made.app, async (req, accept, socket) => {
      const upgrade = await createMfa(made.mfa).upgrade(req, made.app)
      found.push(upgrade)
      if (upgrade.outcome === 'signed_in') accept()
      else socket.end(upgrade.response)
    })
    expect((await connect(port, cookie)).status).toBe(101)
    const [upgrade] = found
    if (upgrade?.outcome !== 'signed_in') throw new Error('refused')
    return upgrade
  }

  it('is current until the user signs out (R134)', async () => {
    const made = host()
    const cookie = await verifiedCookie(made, 'bob')
    const upgrade = await accepted(made, cookie)
    expect([upgrade.user.id, upgrade.mfa.status]).toEqual(['u-bob', 'verified'])
    expect(await upgrade.isCurrent()).toBe(true)
    await withCookie(made.app, cookie).post('/logout').expect(200)
    expect(await upgrade.isCurrent()).toBe(false)
  })

  it('is not current after a "this wasn\'t me" link (R134)', async () => {
    const made = noticingHost()
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms').expect(200)
    const upgrade = await accepted(
      made,
      sessionCookie(await verify(agent, made.standIn.newestCode()).expect(200)),
    )
    expect(await upgrade.isCurrent()).toBe(true)
    const { bob } = made.users
    if (!bob) throw new Error('no bob')
    await createMfa(made.mfa).account.secure(bob)
    const before = storedIn(made)
    expect(await upgrade.isCurrent()).toBe(false)
    expect(storedIn(made)).toBe(before)
  })

  it('is not current after the trust in its browser ended (R134)', async () => {
    const clock = stopClock()
    const made = trustingHost()
    const agent = await signInAndTrust(made, 'bob')
    await agent.post('/logout').expect(200)
    const upgrade = await accepted(made, sessionCookie(await login(agent, 'bob').expect(200)))
    expect(upgrade.mfa.trusted).toBe(true)
    const before = storedIn(made)
    clock.move(5 * MINUTE)
    expect(await upgrade.isCurrent()).toBe(true)
    expect(storedIn(made)).toBe(before)
    const { bob } = made.users
    if (!bob) throw new Error('no bob')
    await createMfa(made.mfa).account.revokeDevices(bob)
    expect(await upgrade.isCurrent()).toBe(false)
  })

  it('is unknown, and not current, while the session store fails (R134)', async () => {
    const store = new MemoryStore()
    const made = host({ store })
    const upgrade = await accepted(made, await verifiedCookie(made, 'bob'))
    store.get = (_id, callback) => callback(new Error('the store is down'))
    await expect(upgrade.isCurrent()).rejects.toMatchObject({
      code: 'ERR_MFA_UPGRADE',
      message: expect.stringContaining('Pass the Express app that mounts express-session'),
    })
  })
})

describe('the gate on a request that did not come through Express', () => {
  it('withholds the user of the password alone (R134)', () =>
    everyCase([{}, { app: 'of another framework' }], async (more) => {
      const hosted = hostWithPassport()
      const extend: RequestHandler = (req, _res, next) => {
        Object.assign(req, more)
        next()
      }
      const handlers = [extend, hosted.sessions, hosted.auth.session(), mfaSession(hosted.mfa)]
      const port = await serveWithSockets(
        hosted.app,
        says((req) => req.user, handlers),
      )
      expect((await connect(port, await pendingCookie(hosted, 'bob'))).status).toBe(401)
      expect((await connect(port, await verifiedCookie(hosted, 'bob'))).status).toBe(101)
    }))

  it('withholds the user of a login that took too long, and of a session that was ended (R134)', () =>
    everyCase(
      [
        [pendingCookie, (_made: Host, clock: Clock) => clock.move(HOUR)],
        [verifiedCookie, ({ mfa, users }: Host) => users.bob && createMfa(mfa).account.secure(users.bob)],
      ] as const,
      async ([cookieOf, end]) => {
        const clock = stopClock()
        let sessionAuth: RequestHandler = () => {}
        const made = host({
          options: {
            urls: { publicUrl: 'https://shop.example' },
            notices: { store: 'memory', onNotice: () => {} },
          },
          beforeGate: (_app, auth) => {
            sessionAuth = auth.session()
          },
        })
        const cookie = await cookieOf(made, 'bob')
        clock.move(1)
        await end(made, clock)
        const sessions = session({
          secret: 'a test secret',
          resave: false,
          saveUninitialized: false,
          store: made.store,
        })
        const handlers = [sessions, sessionAuth, mfaSession(made.mfa)]
        const before = storedIn(made)
        const port = await serveWithSockets(
          made.app,
          says((req) => req.user, handlers),
        )
        expect((await connect(port, cookie)).status).toBe(401)
        expect(storedIn(made)).toBe(before)
      },
    ))

  it('says what is missing in front of it instead of throwing a TypeError (R134)', async () => {
    const made = hostWithPassport()
    await everyCase(
      [
        [[], 'ERR_MFA_NO_SESSION'],
        [[made.sessions], 'ERR_MFA_NO_PASSPORT'],
      ] as const,
      async ([before, code]) => {
        const port = await serveWithSockets(
          made.app,
          says(() => true, [...before, mfaSession(made.mfa)]),
        )
        expect(await connect(port, '')).toEqual({ status: 500, code })
      },
    )
  })
})
