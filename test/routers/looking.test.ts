import type { Server } from 'node:http'
import express from 'express'
import { MemoryStore } from 'express-session'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../service/src/store/open.js'
import type { Store, Value } from '../../service/src/store/store.js'
import { requireMfa } from '../../src/index.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { challengeStrongest, type HostSetup, jsonAgent } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { noticingHost, passBothFactors } from '../notices/kit.js'
import { openApi } from '../openapi/document.js'
import { type Agent, browserWith, stateAfterLogin, trustCookieOf } from '../trust/kit.js'

/*
 * Every route, from everywhere a person can stand, is looked at by GET, HEAD and OPTIONS, with all that a POST would
 * want in its address. What is kept anywhere is compared before and after.
 */

const PAGE = 'text/html,application/xhtml+xml,*/*;q=0.8'
const PROGRAM = 'application/json'

type Clock = ReturnType<typeof stopClock>
type Watched = ReturnType<typeof watchedHost>
type Sessions = Record<string, Record<string, unknown>>

/** Somebody who stands somewhere, and what looking is meant to change there. */
interface Place {
  readonly setup?: HostSetup
  readonly come: (host: Watched, clock: Clock) => Promise<Agent>
  /** What is kept after a look, where that is not what was kept before. */
  readonly after?: (before: Kept, path: string) => Partial<Kept>
  /** Any request ends what is there, also one that is told of another method. */
  readonly ends?: boolean
  /** How often the service is asked how a message stands. Never, unless said. */
  readonly asks?: number
}

const isEmpty = (data: object) => Object.keys(data).length === 0

/** Everything that is kept anywhere, and everything that was asked for or told. */
type Kept = Awaited<ReturnType<Watched['kept']>>

let database: Store
beforeAll(async () => {
  database = await openStore({ dataDir: 'memory://', keyId: 'of-the-tests' })
})
afterAll(() => database.close())

let hosts = 0

/** A host that offers all it can, with its counters and its trust in a database of its own to look into. */
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
  standIn.service.deliveryOf = async () => {
    asked++
    return { status: 'queued', channel: 'sms', to: '••• 01', updatedAt: Date.now() }
  }
  const host = noticingHost({
    ...setup,
    standIn,
    store,
    // Before the session, so that asking does nothing to it.
    first: (app) => void app.get('/cookies', (req, res) => void res.send(req.get('cookie'))),
    options: {
      limits: { store: { postgres: { pool, tableName: names.counters } } },
      trustedDevices: { store: { postgres: { pool, tableName: names.trust } } },
      languages: { offer: ['en', 'de'] },
      ...setup.options,
    },
  })
  const readRows = async (table: string) => {
    const [found] = await database.query('SELECT to_regclass($1) AS it', [table])
    return found?.it ? database.query(`SELECT * FROM ${table} AS one ORDER BY one::text`) : []
  }
  // Every statement goes through the pool: while it only reads, the tables stay as they are.
  const rowsOf = (table: string) => {
    const rows = unchanged.get(table) ?? readRows(table)
    unchanged.set(table, rows)
    return rows
  }
  return {
    ...host,
    /** How often the service was asked how a message stands; that is asked, and done to nobody. */
    asked: () => asked,
    sessions: () => structuredClone(Reflect.get(store, 'sessions') as Record<string, string>),
    restore: (sessions: Record<string, string>) => Reflect.set(store, 'sessions', structuredClone(sessions)),
    async kept() {
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

async function halfway(host: Watched, name = 'alice') {
  const agent = jsonAgent(host.app)
  await stateAfterLogin(agent, name)
  return agent
}

const STALE = 16 * MINUTE

/**
 * A user who comes to change factors without a fresh one as strong as any must show it, and the session notes for what (R55, R92). Nothing
 * is sent or proven by that.
 */
const notesStepUp: Place['after'] = (before, path) => {
  if (path !== '/enroll-app' && path !== '/backup') return {}
  const noted = { stepUp: { factors: ['app'], backup: false }, returnTo: `/mfa${path}` }
  const [[id, data] = ['', {}], ...others] = Object.entries(before.sessions).reverse()
  const { mfa } = data
  const changed = { ...data, mfa: { ...(typeof mfa === 'string' ? { record: mfa } : Object(mfa)), ...noted } }
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

const PLACES: Record<string, Place> = {
  'nobody is signed in': { come: async ({ app }) => jsonAgent(app) },
  'the second factor is missing': { come: (host) => halfway(host) },
  'a code is under way that waits for its carrier': {
    async come(host, clock) {
      const { send } = host.standIn.service
      host.standIn.service.send = async (request) => ({ ...(await send(request)), outcome: 'queued' })
      const agent = await halfway(host)
      await challenge(agent, 'sms').expect(200)
      clock.move(3 * SECOND)
      return agent
    },
    asks: 1,
  },
  'wrong codes were typed': {
    async come(host) {
      const agent = await halfway(host)
      await challenge(agent, 'sms').expect(200)
      for (let guess = 0; guess < 6; guess++) await verify(agent, '000000')
      return agent
    },
  },
  'the account is locked': {
    async come(host) {
      for (let session = 0; session < 3; session++) {
        const other = await halfway(host)
        for (let guess = 0; guess < 4; guess++) await verify(other, '000000', { factor: 'app' })
      }
      return halfway(host)
    },
  },
  'a first factor must be set up, and one is prepared': {
    setup: { options: { policy: () => 'require' } },
    async come(host) {
      const agent = await halfway(host, 'nina')
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      return agent
    },
  },
  'the half-login took too long': {
    async come(host, clock) {
      const agent = await halfway(host)
      await challenge(agent, 'sms').expect(200)
      clock.move(11 * MINUTE)
      return agent
    },
    ends: true,
    // Whoever comes too late is signed out, and told so: the one thing that a look may end (R05).
    after: ({ events }) => ({
      sessions: expect.toSatisfy((left: Sessions) => Object.values(left).every(isEmpty)),
      events: [
        ...events,
        { type: 'given_up', reason: 'expired', userId: 'u-alice', method: 'sms', at: Date.now() },
      ],
    }),
  },
  'both factors were shown just now, and much is under way': {
    async come(host) {
      const agent = await passBothFactors(host, 'alice', { trust: true })
      await agent.post('/mfa/backup').send({}).expect(200)
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      await challenge(agent, 'email').expect(200)
      return agent
    },
  },
  'the second factor is old': {
    async come(host, clock) {
      const agent = await passBothFactors(host, 'alice')
      clock.move(STALE)
      return agent
    },
    after: notesStepUp,
  },
  'a form waits for a fresh second factor, with a code under way': {
    setup: paying,
    come: interrupted,
    after: notesStepUp,
  },
  'a form was interrupted, and can be sent now': {
    setup: paying,
    async come(host, clock) {
      const agent = await interrupted(host, clock)
      await verify(agent, host.standIn.newestCode()).expect(200)
      return agent
    },
    after: notesStepUp,
  },
  'few backup codes are left': {
    async come(host) {
      const { service } = host.standIn
      const { verify: check } = service
      service.verify = async (request) => {
        const answer = await check(request)
        return answer.outcome === 'valid' ? { ...answer, backupCodesLeft: 1 } : answer
      }
      const owner = await passBothFactors(host, 'alice')
      await owner.post('/mfa/backup').send({}).expect(200)
      const agent = await halfway(host)
      await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(200)
      return agent
    },
    after: notesStepUp,
  },
  'the browser is trusted': {
    async come(host) {
      const first = jsonAgent(host.app)
      await stateAfterLogin(first, 'alice')
      const code = await challengeStrongest(host, first, 'alice')
      const trusting = await verify(first, code, { trust: true }).expect(200)
      const agent = browserWith(host.app, trustCookieOf(trusting))
      await stateAfterLogin(agent, 'alice')
      return agent
    },
    after: notesStepUp,
  },
  'nothing is asked for': {
    setup: { options: { policy: () => 'skip' } },
    come: (host) => halfway(host, 'nina'),
  },
}

/** Every path of the routers, with what it answers to. */
function pathsOf(host: Watched) {
  const device = String(host.eventsOf('device_trusted').at(0) ?? 'x')
  const documented = Object.entries(openApi.paths ?? {}).map(([path, item]) => ({
    path: path.replace('{device}', device),
    methods: Object.keys(item).filter((name) => ['get', 'post', 'delete'].includes(name)),
  }))
  const assets = ['mfa.css', 'mfa.js'].map((name) => ({ path: `/assets/${name}`, methods: ['get'] }))
  return [...documented, ...assets]
}

/** The host at one address for all of a test's requests: supertest finds a new one for each of hundreds otherwise. */
function listening({ app }: Watched): Server {
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  return server
}

/** All that a POST would want, in the address. */
function wishes(host: Watched): string {
  const { notMeUrl = '' } = host.notices.find(({ notice }) => notice.notMeUrl)?.notice ?? {}
  const token = notMeUrl && new URL(notMeUrl).searchParams.get('token')
  return new URLSearchParams({
    ...{ code: host.standIn.newestCode(), factor: 'sms', trust: 'true', device: 'x', language: 'de' },
    ...{ token: token ?? '', back: '/mfa', choose: '', again: '', sent: '', _method: 'POST' },
  }).toString()
}

describe.each(Object.entries(PLACES))('R14 where %s', (_place, { setup, come, after, ends, asks = 0 }) => {
  it('a look at any route by GET, HEAD or OPTIONS changes nothing that is kept', async () => {
    const clock = stopClock()
    const host = watchedHost(setup)
    const agent = await come(host, clock)
    const cookie = (await agent.get('/cookies')).text
    const site = listening(host)
    const sessions = host.sessions()
    let before = await host.kept()

    for (const { path } of pathsOf(host)) {
      for (const [method, query] of [
        ['get', ''],
        ['get', wishes(host)],
        ['head', wishes(host)],
        ['options', wishes(host)],
      ] as const) {
        for (const accept of [PAGE, PROGRAM]) {
          const answer = await request(site)
            [method](`/mfa${path}?${query}`)
            .set({ Accept: accept, Cookie: cookie, 'X-HTTP-Method-Override': 'POST' })
          const look = `${method} ${path}?${query} as ${accept}`
          expect(answer.status, look).toBeLessThan(500)
          const counts = ends || (method !== 'options' && !path.startsWith('/assets/'))
          const kept = await host.kept()
          expect(kept, look).toEqual({ ...before, ...(counts && after?.(before, path)) })
          host.restore(sessions)
          before = { ...kept, sessions: before.sessions }
        }
      }
    }
    expect(host.asked()).toBe(asks)
  })

  it('every other method is told which ones there are, and changes nothing', async () => {
    const clock = stopClock()
    const host = watchedHost(setup)
    const agent = await come(host, clock)
    const cookie = (await agent.get('/cookies')).text
    const site = listening(host)
    const before = await host.kept()
    for (const { path, methods } of pathsOf(host)) {
      if (path.startsWith('/assets/')) continue
      const allow = methods.flatMap((name) => (name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()]))
      for (const method of [
        'get',
        'post',
        'put',
        'patch',
        'delete',
        'options',
        'propfind',
        'search',
      ] as const) {
        if (methods.includes(method)) continue
        const answer = await request(site)
          [method](`/mfa${path}?${wishes(host)}`)
          .set({ Accept: PROGRAM, Cookie: cookie })
          .send({ code: host.standIn.newestCode(), factor: 'sms' })
        expect(answer.status, `${method} ${path}`).toBe(405)
        expect(answer.headers.allow, `${method} ${path}`).toBe(allow.join(', '))
      }
    }
    const { sessions, events } = before
    expect({ ...(await host.kept()), ...(ends && { sessions, events }) }).toEqual(before)
  })
})
