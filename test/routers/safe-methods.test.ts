import type { Server } from 'node:http'
import express from 'express'
import { MemoryStore } from 'express-session'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../service/src/store/open.js'
import type { Store, Value } from '../../service/src/store/store.js'
import { requireMfa } from '../../src/index.js'
import { readParts } from '../../src/session/record-text.js'
import { testKeys } from '../../src/testing/key-service.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { challengeStrongest, type HostSetup, jsonAgent, withCookie } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { noticingHost, passBothFactors } from '../notices/kit.js'
import { openApi } from '../openapi/from-table.js'
import { type Agent, stateAfterLogin, trustCookieOf } from '../trust/kit.js'

/*
 * Every route is requested by GET, HEAD and OPTIONS in every situation that a user can be in, with the parameters of a
 * POST in the query. All stored data is compared before and after. Methods and what is accepted are paired, not multiplied:
 * each pair comes in every second situation.
 */

const PAGE = 'text/html,application/xhtml+xml,*/*;q=0.8'
const PROGRAM = 'application/json'

type Clock = ReturnType<typeof stopClock>
type Watched = ReturnType<typeof watchedHost>
type Sessions = Record<string, Record<string, unknown>>

/** A situation that a user can be in, and what a safe request may change in it. */
interface Situation {
  readonly setup?: HostSetup
  readonly prepare: (host: Watched, clock: Clock) => Promise<Agent>
  /** The stored data after a request, where it differs from that before. */
  readonly after?: (before: Stored, path: string) => Partial<Stored>
  /** Whether any request ends the situation, even one with a method that the route does not have. */
  readonly ends?: boolean
  /** How often the service is asked for the state of a message. Defaults to never. */
  readonly asks?: number
}

const isEmpty = (data: object) => Object.keys(data).length === 0

/** All stored data, every call of the service, and every event and notice. */
type Stored = Awaited<ReturnType<Watched['stored']>>

let database: Store
beforeAll(async () => {
  database = await openStore({ dataDir: 'memory://', keyId: 'of-the-tests' })
})
afterAll(() => database.close())

let hosts = 0

/** A host with every feature on, whose counters and trusted devices are in a database that the test can read. */
function watchedHost(setup: HostSetup = {}) {
  const names = { counters: `counters_${++hosts}`, trust: `trust_${hosts}` }
  const unchanged = new Map<string, Promise<object[]>>()
  const pool = {
    async query({ text, values }: { text: string; values?: unknown[] }) {
      if (!/^\s*SELECT\s/i.test(text)) unchanged.clear()
      const rows = await database.query<Record<string, Value>>(text, values as Value[] | undefined)
      return { rows, rowCount: rows.length }
    },
  }
  const store = new MemoryStore()
  const standIn = standInService()
  let asked = 0
  Object.assign(standIn.service, {
    keys: testKeys({ id: 'vault.example' }).verbs,
    factorsOf: async () => ({ existing: [], offeredKeys: ['passkey', 'security-key'], backupCodesLeft: 2 }),
  })
  standIn.service.deliveryOf = async () => {
    asked++
    return { status: 'queued', channel: 'sms', to: '••• 01', updatedAt: Date.now() }
  }
  const host = noticingHost({
    ...setup,
    standIn,
    store,
    // Before the session, so that this route does not change it.
    first: (app) => void app.get('/cookies', (req, res) => void res.send(req.get('cookie'))),
    options: {
      limits: { store: { postgres: { pool, tableName: names.counters } } },
      trustedDevices: { store: { postgres: { pool, tableName: names.trust } } },
      languages: { offer: ['en', 'de'] },
      keys: true,
      // A warning is an event, and these tests open the app at an IP address.
      diagnostics: { ignore: ['MFA_WARN_KEY_IP_ADDRESS', 'MFA_WARN_PASSPORT_INSTANCE'] },
      recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
      ...setup.options,
    },
  })
  const readRows = async (table: string) => {
    const [found] = await database.query('SELECT to_regclass($1) AS it', [table])
    return found?.it ? database.query(`SELECT * FROM ${table} AS one ORDER BY one::text`) : []
  }
  // Every statement of the app goes through the pool: while all of them only read, the tables do not change.
  const rowsOf = (table: string) => {
    const rows = unchanged.get(table) ?? readRows(table)
    unchanged.set(table, rows)
    return rows
  }
  return {
    ...host,
    /** How often the service was asked for the state of a message, which changes nothing. */
    asked: () => asked,
    sessions: () => structuredClone(Reflect.get(store, 'sessions') as Record<string, string>),
    restore: (sessions: Record<string, string>) => Reflect.set(store, 'sessions', structuredClone(sessions)),
    async stored() {
      const sessions = Object.entries(Reflect.get(store, 'sessions') as Record<string, string>)
      return {
        // Without the cookie's times, which express-session writes anew for every request (`touch`).
        sessions: Object.fromEntries(
          sessions.map(([id, data]) => {
            const { cookie: _cookie, ...rest } = JSON.parse(data)
            return [id, rest]
          }),
        ) as Sessions,
        counters: await rowsOf(names.counters),
        trust: await rowsOf(names.trust),
        calls: structuredClone(host.standIn.calls),
        delivered: structuredClone(host.standIn.delivered),
        events: structuredClone(host.events),
        notices: host.notices.map(({ notice }) => notice.type),
        compromises: host.compromises.length,
      }
    },
  }
}

async function pendingLogin(host: Watched, name = 'alice') {
  const agent = jsonAgent(host.app)
  await stateAfterLogin(agent, name)
  return agent
}

const STALE = 16 * MINUTE
const FACTOR_CHANGES = new Set(['/enroll-app', '/enroll-app/remove', '/backup', '/backup/remove'])

/**
 * A user who opens a page that changes factors, without a fresh second factor as strong as any, must show one, and the
 * session stores for which page (R55, R92). Nothing is sent or verified by that.
 */
const notesStepUp: Situation['after'] = (before, path) => {
  if (!FACTOR_CHANGES.has(path)) return {}
  const stepUp = { stepUp: { factors: ['app'], backup: false }, returnTo: `/mfa${path}` }
  const [[id, data] = ['', {}], ...others] = Object.entries(before.sessions).reverse()
  const { mfa } = data
  const changed = {
    ...data,
    mfa: { ...readParts(mfa), ...stepUp },
  }
  return { sessions: Object.fromEntries([...others, [id, changed]]) }
}

const paying: HostSetup = {
  behindGate: (app) => void app.use('/pay', express.urlencoded({ extended: false })),
  routes: (app) =>
    void app.post('/pay', requireMfa({ maxAge: '5m', resume: ['to'] }), (_req, res) => void res.end()),
}

/** A form that was posted when the second factor was old. */
async function interrupted(host: Watched, clock: Clock) {
  const agent = await passBothFactors(host, 'alice')
  clock.move(STALE)
  await agent.post('/pay').set('Accept', PAGE).type('form').send({ to: 'carol' }).expect(303)
  await challenge(agent, 'sms').expect(200)
  return agent
}

const SITUATIONS: Record<string, Situation> = {
  'nobody is signed in': { prepare: async ({ app }) => jsonAgent(app) },
  'the second factor is missing': { prepare: (host) => pendingLogin(host) },
  'a message is queued at its carrier': {
    async prepare(host, clock) {
      const { send } = host.standIn.service
      host.standIn.service.send = async (request) => ({ ...(await send(request)), outcome: 'queued' })
      const agent = await pendingLogin(host)
      await challenge(agent, 'sms').expect(200)
      clock.move(3 * SECOND)
      return agent
    },
    asks: 1,
  },
  'wrong codes were entered': {
    async prepare(host) {
      const agent = await pendingLogin(host)
      await challenge(agent, 'sms').expect(200)
      for (let guess = 0; guess < 6; guess++) await verify(agent, '000000')
      return agent
    },
  },
  'the account is locked': {
    async prepare(host) {
      for (let session = 0; session < 3; session++) {
        const other = await pendingLogin(host)
        for (let guess = 0; guess < 4; guess++) await verify(other, '000000', { factor: 'app' })
      }
      return pendingLogin(host)
    },
  },
  'a factor must be enrolled, and an app is prepared': {
    setup: { options: { policy: () => 'require' } },
    async prepare(host) {
      const agent = await pendingLogin(host, 'nina')
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      return agent
    },
  },
  'the pending login has expired': {
    async prepare(host, clock) {
      const agent = await pendingLogin(host)
      await challenge(agent, 'sms').expect(200)
      clock.move(11 * MINUTE)
      return agent
    },
    ends: true,
    // The first request after the expiry signs the user out: the only change that a safe request may make (R05).
    after: ({ events }) => ({
      sessions: expect.toSatisfy((left: Sessions) => Object.values(left).every(isEmpty)),
      events: [
        ...events,
        { type: 'given_up', reason: 'expired', userId: 'u-ali', method: 'sms', at: Date.now() },
      ],
    }),
  },
  'both factors are fresh, and several changes are in progress': {
    async prepare(host) {
      const agent = await passBothFactors(host, 'alice', { trust: true })
      await agent.post('/mfa/backup').send({}).expect(200)
      await approveChange(agent, '/mfa/enroll-app', byStandIn(host, agent))
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      await challenge(agent, 'email').expect(200)
      return agent
    },
  },
  'the second factor is old': {
    async prepare(host, clock) {
      const agent = await passBothFactors(host, 'alice')
      clock.move(STALE)
      return agent
    },
    after: notesStepUp,
  },
  'a form waits for a fresh second factor, with a challenge in progress': {
    setup: paying,
    prepare: interrupted,
    after: notesStepUp,
  },
  'an interrupted form can be sent again': {
    setup: paying,
    async prepare(host, clock) {
      const agent = await interrupted(host, clock)
      await verify(agent, host.standIn.newestCode()).expect(200)
      return agent
    },
    after: notesStepUp,
  },
  'few backup codes are left': {
    async prepare(host) {
      const { service } = host.standIn
      const { verify: check } = service
      service.verify = async (request) => {
        const answer = await check(request)
        return answer.outcome === 'valid' ? { ...answer, backupCodesLeft: 1 } : answer
      }
      const owner = await passBothFactors(host, 'alice')
      await owner.post('/mfa/backup').send({}).expect(200)
      const agent = await pendingLogin(host)
      await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(200)
      return agent
    },
    after: notesStepUp,
  },
  'the browser is trusted': {
    async prepare(host) {
      const first = jsonAgent(host.app)
      await stateAfterLogin(first, 'alice')
      const code = await challengeStrongest(host, first, 'alice')
      const trusting = await verify(first, code, { trust: true }).expect(200)
      const agent = withCookie(host.app, trustCookieOf(trusting))
      await stateAfterLogin(agent, 'alice')
      return agent
    },
    after: notesStepUp,
  },
  'no second factor is required': {
    setup: { options: { policy: () => 'skip' } },
    prepare: (host) => pendingLogin(host, 'nina'),
  },
}

/** Every path of the routers, with its methods. */
function pathsOf(host: Watched) {
  const device = String(host.eventsOf('device_trusted').at(0) ?? 'x')
  const documented = Object.entries(openApi.paths ?? {}).map(([path, item]) => ({
    path: path.replace('{device}', device),
    methods: Object.keys(item).filter((name) => ['get', 'post', 'delete'].includes(name)),
  }))
  const assets = ['mfa.css', 'mfa.js'].map((name) => ({ path: `/assets/${name}`, methods: ['get'] }))
  return [...documented, ...assets]
}

/** The host at one port for all requests of a test, since supertest would open a new one for each of hundreds. */
function listening({ app }: Watched): Server {
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  return server
}

/** The parameters of every POST, as a query. */
function postParameters(host: Watched): string {
  const { notMeUrl = '' } = host.notices.find(({ notice }) => notice.notMeUrl)?.notice ?? {}
  const token = notMeUrl && new URL(notMeUrl).searchParams.get('token')
  return new URLSearchParams({
    ...{ code: host.standIn.newestCode(), factor: 'sms', trust: 'true', device: 'x', language: 'de' },
    ...{ token: token ?? '', back: '/mfa', choose: '', again: '', sent: '', _method: 'POST' },
  }).toString()
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options', 'propfind', 'search'] as const

describe.each(
  Object.entries(SITUATIONS).map(([name, situation], place) => [name, situation, place] as const),
)('while %s (R14)', (_name, { setup, prepare, after, ends, asks = 0 }, place) => {
  it('GET, HEAD and OPTIONS change no stored data on any route', async () => {
    const clock = stopClock()
    const host = watchedHost(setup)
    const agent = await prepare(host, clock)
    const cookie = (await agent.get('/cookies')).text
    const site = listening(host)
    const sessions = host.sessions()
    let before = await host.stored()

    const query = postParameters(host)
    const [one, other] = place % 2 ? [PAGE, PROGRAM] : [PROGRAM, PAGE]
    for (const { path } of pathsOf(host)) {
      for (const [method, accept, address] of [
        ['get', one, path],
        ['get', other, `${path}?${query}`],
        ['head', one, `${path}?${query}`],
        ['options', other, `${path}?${query}`],
      ] as const) {
        const answer = await request(site)
          [method](`/mfa${address}`)
          .set({ Accept: accept, Cookie: cookie, 'X-HTTP-Method-Override': 'POST' })
        const label = `${method} ${address} as ${accept}`
        expect(answer.status, label).toBeLessThan(500)
        const counts = ends || (method !== 'options' && !path.startsWith('/assets/'))
        const stored = await host.stored()
        expect(stored, label).toEqual({ ...before, ...(counts && after?.(before, path)) })
        host.restore(sessions)
        before = { ...stored, sessions: before.sessions }
      }
    }
    expect(host.asked()).toBe(asks)
  })

  it('every unsupported method gets a 405 that lists the supported ones, and changes nothing', async () => {
    const clock = stopClock()
    const host = watchedHost(setup)
    const agent = await prepare(host, clock)
    const cookie = (await agent.get('/cookies')).text
    const site = listening(host)
    const query = postParameters(host)
    const before = await host.stored()
    for (const [index, { path, methods }] of pathsOf(host).entries()) {
      if (path.startsWith('/assets/')) continue
      const allow = methods.flatMap((name) => (name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()]))
      const unsupported = METHODS.filter((method) => !methods.includes(method))
      // Each situation takes every third one, so that all situations together take each of them several times.
      for (const method of unsupported.filter((_, nth) => (nth + index + place) % 3 === 0)) {
        const answer = await request(site)
          [method](`/mfa${path}?${query}`)
          .set({ Accept: PROGRAM, Cookie: cookie })
          .send({ code: host.standIn.newestCode(), factor: 'sms' })
        expect(answer.status, `${method} ${path}`).toBe(405)
        expect(answer.headers.allow, `${method} ${path}`).toBe(allow.join(', '))
      }
    }
    const { sessions, events } = before
    expect({ ...(await host.stored()), ...(ends && { sessions, events }) }).toEqual(before)
  })
})
