import express from 'express'
import type { MemoryStore, SessionData } from 'express-session'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import type { ItemStore } from '../../src/stores/store.js'
import { createEndings } from '../../src/stores/trust/not-me-links.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type HostSetup, host, jsonAgent, pendingCookie, verifiedCookie, withCookie } from '../kit/host.js'
import { challenge } from '../kit/sign-in.js'
import { heldWork } from '../kit/signal.js'

type Call = 'get' | 'set' | 'touch' | 'destroy'

/** A store that notes the calls of express-session and of the package. */
class NotingStore extends FaultyStore {
  calls: Call[] = []
  override get(...args: Parameters<FaultyStore['get']>): void {
    this.calls.push('get')
    super.get(...args)
  }
  override set(...args: Parameters<FaultyStore['set']>): void {
    this.calls.push('set')
    super.set(...args)
  }
  override touch(...args: Parameters<MemoryStore['touch']>): void {
    this.calls.push('touch')
    super.touch(...args)
  }
  override destroy(...args: Parameters<FaultyStore['destroy']>): void {
    this.calls.push('destroy')
    super.destroy(...args)
  }
}

/** The same without `touch`, as some stores are. */
class StoreWithoutTouch extends NotingStore {
  constructor() {
    super()
    Reflect.set(this, 'touch', undefined)
  }
}

type Change = 'nothing' | 'the session' | 'the cookie' | 'and saves the session' | 'after a reload'

const CHANGES: readonly Change[] = [
  'nothing',
  'the session',
  'the cookie',
  'and saves the session',
  'after a reload',
]

function testbed({
  resave,
  store = new NotingStore(),
  ...setup
}: { resave: boolean; store?: NotingStore } & HostSetup) {
  const held = heldWork()
  const made = host({
    store,
    session: { resave },
    ...setup,
    routes: (app, mfa, auth) => {
      setup.routes?.(app, mfa, auth)
      app.get('/page', (_req, res) => void res.json({}))
      app.get('/cart', (req, res) => {
        Reflect.set(req.session, 'cart', ['a book'])
        res.json({})
      })
      app.get('/saved', (req, res, next) => {
        req.session.save((error: unknown) => (error ? next(error) : res.json({})))
      })
      app.get('/saved-at-once', (req, res) => {
        req.session.save()
        res.json({})
      })
      app.post('/destroy', (req, res, next) => {
        req.session.destroy((error: unknown) => (error ? next(error) : res.json({})))
      })
      app.post('/slow', express.json(), async (req, res, next) => {
        const change: Change = req.body.change
        if (change === 'after a reload') await new Promise((resolve) => req.session.reload(resolve))
        await held.work()
        if (change !== 'nothing' && change !== 'the cookie') Reflect.set(req.session, 'cart', ['a book'])
        if (change === 'the cookie') req.session.cookie.maxAge = 60_000
        if (change !== 'and saves the session') return void res.json({})
        req.session.save((error: unknown) => (error ? next(error) : res.json({})))
      })
    },
    options: { login: { pendingPaths: ['/slow', '/destroy'] }, ...setup.options },
  })
  return { ...made, store, held }
}

/** Ends the session while another request of it is under way, which then makes a change and responds. */
async function endUnderWay(made: ReturnType<typeof testbed>, cookie: string, change: Change, way = 'logout') {
  const late = withCookie(made.app, cookie)
    .post('/slow')
    .send({ change })
    .then((response) => response)
  await made.held.arrived
  await withCookie(made.app, cookie).post(`/${way}`).expect(200)
  made.held.release()
  await late
}

const cases = CHANGES.flatMap((change) =>
  [true, false].flatMap((resave) => ['logout', 'destroy'].map((way) => ({ change, resave, way }))),
)

describe('a request that ends after the sign-out of its session (R149)', () => {
  it('does not bring back a verified session, whatever it changes', () =>
    everyCase(cases, async ({ change, resave, way }) => {
      const made = testbed({ resave })
      const cookie = await verifiedCookie(made, 'bob')
      await endUnderWay(made, cookie, change, way)
      expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
      await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(401)
    }))

  it('does not bring it back if the request did not pass the gate', () =>
    everyCase([true, false], async (resave) => {
      const early = heldWork()
      const made = testbed({
        resave,
        beforeGate: (app) => {
          app.get('/early', async (req, res) => {
            await early.work()
            Reflect.set(req.session, 'cart', ['a book'])
            res.json({})
          })
        },
      })
      const cookie = await verifiedCookie(made, 'bob')
      const late = withCookie(made.app, cookie)
        .get('/early')
        .then((response) => response)
      await early.arrived
      await withCookie(made.app, cookie).post('/logout').expect(200)
      early.release()
      await late
      expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
    }))

  it('does not bring back a pending login', () =>
    everyCase(cases, async ({ change, resave, way }) => {
      const made = testbed({ resave })
      const cookie = await pendingCookie(made, 'bob')
      await endUnderWay(made, cookie, change, way)
      expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
    }))

  it('does not bring it back in a store without touch', () =>
    everyCase(cases, async ({ change, resave, way }) => {
      const made = testbed({ resave, store: new StoreWithoutTouch() })
      const cookie = await verifiedCookie(made, 'bob')
      await endUnderWay(made, cookie, change, way)
      expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
    }))
})

describe('a session that ended and is stored again, where sessions-valid-after is kept (R149)', () => {
  /** A host that keeps it in a store that notes its reads. */
  function keepingHost() {
    const reads: string[] = []
    const items = memoryStore()
    const read: ItemStore['read'] = (owner) => {
      reads.push(owner)
      return items.read(owner)
    }
    const urls = { publicUrl: 'https://app.example' }
    const made = testbed({
      resave: false,
      options: { urls, notices: { store: { ...items, read } }, login: { pendingPaths: ['/destroy'] } },
    })
    return { ...made, reads }
  }
  const secretOf = (made: ReturnType<typeof keepingHost>, cookie: string) =>
    jsonAgent(made.app).get('/secret').set('Cookie', cookie)

  it('is not signed in, however it ended', () =>
    everyCase(['/logout', '/destroy', '/mfa/verify'], async (path) => {
      const made = keepingHost()
      const cookie = await verifiedCookie(made, 'bob')
      const stored = made.store.stored[sessionId(cookie)] ?? ''
      const browser = withCookie(made.app, cookie)
      if (path === '/mfa/verify') await challenge(browser, 'sms').expect(200)
      await browser.post(path).send({ code: made.standIn.newestCode() }).expect(200)
      made.store.stored[sessionId(cookie)] = stored
      await secretOf(made, cookie).expect(401)
      expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
    }))

  it('leaves the other sessions of the user, and a page reads one item store once', async () => {
    const made = keepingHost()
    const [first, other] = [await verifiedCookie(made, 'bob'), await verifiedCookie(made, 'bob')]
    await withCookie(made.app, first).post('/logout').expect(200)
    made.reads.length = 0
    await secretOf(made, other).expect(200)
    expect(made.reads).toEqual(['cutoff:u-bob'])
  })

  it('is among the last 20 of its user', async () => {
    const items = memoryStore()
    const { sessionsValidAfter } = createEndings(items)
    const clock = stopClock()
    for (let nth = 0; nth <= 25; nth++) {
      await sessionsValidAfter.endSession('u-bob', `session-${nth}`)
      clock.move(SECOND)
    }
    await sessionsValidAfter.set('u-eve')
    expect(await items.read('cutoff:u-bob')).toHaveLength(20)
    expect(await sessionsValidAfter.isVoid('u-bob', { startedAt: 0, sessionId: 'session-25' })).toBe(true)
    expect(await sessionsValidAfter.isVoid('u-bob', { startedAt: 0, sessionId: 'session-1' })).toBe(false)
    expect(await sessionsValidAfter.isVoid('u-eve', { startedAt: 0, sessionId: 'session-25' })).toBe(true)
  })
})

describe('what a page costs the session store (R149)', () => {
  /** The calls of the store for a page of a verified session, once an earlier page has shown how the app saves sessions. */
  async function callsOf(path: string, resave: boolean, store = new NotingStore()) {
    const made = testbed({ resave, store })
    const cookie = await verifiedCookie(made, 'bob')
    await withCookie(made.app, cookie).get('/page').expect(200)
    store.calls = []
    await withCookie(made.app, cookie).get(path).expect(200)
    return store.calls
  }

  it('is one read and one touch if nothing changed, with resave true and false', () =>
    everyCase([true, false], async (resave) => {
      expect(await callsOf('/page', resave)).toEqual(['get', 'touch'])
    }))

  it('is a further read before a write if the page changed the session', () =>
    everyCase([true, false], async (resave) => {
      expect(await callsOf('/cart', resave)).toEqual(['get', 'get', 'set'])
    }))

  it('is a touch instead of a write where the page saves an unchanged session', async () => {
    expect(await callsOf('/saved', true)).toEqual(['get', 'touch', 'touch'])
    expect(await callsOf('/saved', false)).toEqual(['get', 'touch', 'touch'])
  })

  it('is a write of a session that is still there in a store without touch, which prolongs it', async () => {
    expect(await callsOf('/page', true, new StoreWithoutTouch())).toEqual(['get', 'get', 'set'])
    expect(await callsOf('/page', false, new StoreWithoutTouch())).toEqual(['get'])
  })

  it('stores what the page changed, and the lifetime that it gave the cookie', () =>
    everyCase([true, false], async (resave) => {
      const made = testbed({ resave })
      const cookie = await verifiedCookie(made, 'bob')
      const stored = (): SessionData & { cart?: unknown } =>
        JSON.parse(made.store.stored[sessionId(cookie)] ?? '')
      await withCookie(made.app, cookie).get('/page').expect(200)
      await withCookie(made.app, cookie).get('/cart').expect(200)
      expect(stored().cart).toEqual(['a book'])
      made.held.release()
      await withCookie(made.app, cookie).post('/slow').send({ change: 'the cookie' }).expect(200)
      expect(stored().cookie.originalMaxAge).toBe(60_000)
    }))

  it('stores what a handler before the gate changed', () =>
    everyCase([true, false], async (resave) => {
      let visits = 0
      const made = testbed({
        resave,
        beforeGate: (app) => {
          app.use((req, _res, next) => {
            Reflect.set(req.session, 'visits', ++visits)
            next()
          })
        },
      })
      const cookie = await verifiedCookie(made, 'bob')
      for (const _time of [1, 2]) {
        await withCookie(made.app, cookie).get('/page').expect(200)
        expect(JSON.parse(made.store.stored[sessionId(cookie)] ?? '')).toMatchObject({ visits })
      }
    }))

  it('hands an error of the store on to the callback of the page', async () => {
    const store = new NotingStore()
    const made = testbed({ resave: false, store })
    const cookie = await verifiedCookie(made, 'bob')
    made.held.release()
    // The first read loads the session, the second one asks whether it is still there.
    store.failOn('get', { skip: 1 })
    const { status } = await withCookie(made.app, cookie)
      .post('/slow')
      .send({ change: 'and saves the session' })
    expect(status).toBe(500)
  })
})

describe('MFA_WARN_SESSION_RESAVE', () => {
  /** The times that the warning is in the log, after these pages of a verified session. */
  async function warningsAfter(paths: readonly string[], resave: boolean, store = new NotingStore()) {
    const lines: string[] = []
    const logger = { warn: (line: string) => void lines.push(line), error: () => {} }
    const made = testbed({ resave, store, options: { logger } })
    const cookie = await verifiedCookie(made, 'bob')
    for (const path of paths) await withCookie(made.app, cookie).get(path).expect(200)
    return lines.filter((line) => line.includes('MFA_WARN_SESSION_RESAVE')).length
  }

  it('is in the log once if the app saves unchanged sessions', async () => {
    expect(await warningsAfter(['/page', '/page', '/page'], true)).toBe(1)
    expect(await warningsAfter(['/page', '/page', '/page'], true, new StoreWithoutTouch())).toBe(1)
  })

  it('is not about an app that saves changed sessions only, or calls save itself', async () => {
    const paths = ['/page', '/cart', '/cart', '/saved', '/saved', '/saved-at-once', '/saved-at-once', '/page']
    expect(await warningsAfter(paths, false)).toBe(0)
  })
})
