import express from 'express'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { createMfa, type MfaOptions } from '../../src/index.js'
import type { WebhookEvent } from '../../src/protocol/webhook-events.js'
import { memoryStore } from '../../src/stores/memory.js'
import { totpCode } from '../../src/testing/service.js'
import { answer } from '../client/hostile-service.js'
import { approveChange } from '../kit/approved-change.js'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { poolOf } from '../limits/kit.js'
import {
  addApp,
  byText,
  enrollApp,
  type HostProcess,
  hostApp,
  intrude,
  showOwnApp,
  useGateway,
} from './gateway.js'

/*
 * A session that was let in without a factor keeps that decision. The intruder has the password of nina, signs in before she sets up
 * a factor, and tries to keep the session.
 */

const gatewayOf = useGateway()
const isFactors = (path: string) => path === '/v1/mfa/factors'
const asked = () => gatewayOf().paths.filter(isFactors).length

type Store = NonNullable<NonNullable<MfaOptions['limits']>['store']>

let redis: Awaited<ReturnType<typeof startRedis>> | undefined
let client: Awaited<ReturnType<NonNullable<typeof redis>['connect']>>
let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
let pool: pg.Pool | undefined

beforeAll(async () => {
  if (!redisMissing) {
    redis = await startRedis()
    client = await redis.connect()
  }
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = poolOf(postgres.url)
  }
})
afterAll(async () => {
  await redis?.stop()
  await pool?.end()
  await postgres?.stop()
})

/** The stores that two processes can share. */
const sharedStores = (): [string, Store][] => [
  ['an object of the host', ownStore()],
  ...(redis ? [['Redis', { redis: client, prefix: 'settled' }] as [string, Store]] : []),
  ...(pool ? [['PostgreSQL', { postgres: { pool }, prefix: 'settled' }] as [string, Store]] : []),
]

function twoProcesses(options: Partial<MfaOptions<TestUser>> = {}) {
  const gateway = gatewayOf()
  const start = hostApp(gateway)
  return { gateway, here: start(options), there: start(options) }
}

type Setting = ReturnType<typeof twoProcesses> & { readonly clock: ReturnType<typeof stopClock> }

/** An attack on two processes, on each store that they can share. */
const onEachStore = (attack: (setting: Setting) => Promise<void>) => () =>
  everyCase(sharedStores(), async ([, store]) => {
    const clock = stopClock()
    await attack({ ...twoProcesses({ limits: { store } }), clock })
    gatewayOf().interfere(undefined)
  })

/** Everything that the session store of both processes holds, to be put back. */
function copySessions({ store }: HostProcess): () => void {
  const kept: Record<string, string> = Reflect.get(store, 'sessions')
  const copy = { ...kept }
  return () => void Object.assign(kept, copy)
}

describe('a session that was let in without a factor (R133)', () => {
  it(
    'asks nobody for its pages until five minutes are over, and then once for sixteen pages at the same time',
    onEachStore(async ({ there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      const before = asked()
      for (let page = 0; page < 50; page++) await agent.get('/secret').expect(200)
      clock.move(5 * MINUTE - 1)
      await agent.get('/secret').expect(200)
      expect(asked()).toBe(before)
      clock.move(1)
      await Promise.all(Array.from({ length: 16 }, () => agent.get('/secret').expect(200)))
      expect(asked()).toBe(before + 1)
    }),
  )

  it('asks once for sixteen pages at the same time also in an app that is mounted at a path', async () => {
    const clock = stopClock()
    const { there } = twoProcesses()
    const agent = jsonAgent(express().use('/bank', there.app))
    await agent.post('/bank/login').send({ name: 'nina' }).expect(200)
    const before = asked()
    clock.move(5 * MINUTE)
    await Promise.all(Array.from({ length: 16 }, () => agent.get('/bank/secret').expect(200)))
    expect(asked()).toBe(before + 1)
  })

  it(
    'is asked for a factor within ten seconds after another process added one, however often it loads a page',
    onEachStore(async ({ here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      await enrollApp(here, 'nina')
      // The process that added it knows at once.
      const inHere = await intrude(here, 'nina')
      expect(inHere.page).toBe(401)
      for (let second = 0; second < 9; second++) {
        clock.move(SECOND)
        await agent.get('/secret')
      }
      clock.move(SECOND)
      await agent.get('/secret').expect(401)
    }),
  )

  it('is asked for it at once in the process that added it, also with memory stores', async () => {
    const { here } = twoProcesses({ limits: { store: 'memory' } })
    const { agent } = await intrude(here, 'nina')
    await enrollApp(here, 'nina')
    await agent.get('/secret').expect(401)
  })

  it('is asked for it after five minutes where another process of memory stores added it, however often it loads a page', async () => {
    const clock = stopClock()
    const { here, there } = twoProcesses({ limits: { store: 'memory' } })
    const { agent } = await intrude(there, 'nina')
    await enrollApp(here, 'nina')
    for (let minute = 0; minute < 4; minute++) {
      clock.move(MINUTE)
      await agent.get('/secret').expect(200)
    }
    clock.move(MINUTE)
    await agent.get('/secret').expect(401)
  })

  it(
    'is not let in when the service stops right after the enrollment',
    onEachStore(async ({ gateway, here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      await enrollApp(here, 'nina')
      gateway.interfere(() => answer(503))
      clock.move(10 * SECOND)
      await agent.get('/secret').expect(503)
      clock.move(MINUTE)
      await agent.get('/secret').expect(503)
      gateway.interfere(undefined)
      await agent.get('/secret').expect(401)
    }),
  )

  it(
    'is not kept by an answer that began before the factor was added',
    onEachStore(async ({ gateway, here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      clock.move(5 * MINUTE)
      const [begun, released] = [signal(), signal()]
      let isFirst = true
      gateway.interfere((path) => {
        if (!isFactors(path) || !isFirst) return undefined
        isFirst = false
        begun.give()
        return released.given
      })
      const late = agent.get('/secret').then(({ status }) => status)
      await begun.given
      await enrollApp(here, 'nina')
      released.give()
      await late
      clock.move(10 * SECOND)
      await agent.get('/secret').expect(401)
    }),
  )

  it(
    'is not kept by a copy of the sessions that was made before the factor was added',
    onEachStore(async ({ here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      const putBack = copySessions(there)
      await enrollApp(here, 'nina')
      clock.move(10 * SECOND)
      await agent.get('/secret').expect(401)
      putBack()
      await agent.get('/secret').expect(401)
      clock.move(HOUR)
      putBack()
      await agent.get('/secret').expect(401)
    }),
  )

  it('outlives the service for an hour after its last answer, however often it loads a page, and passes no guard', async () => {
    const clock = stopClock()
    const { gateway, there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    gateway.interfere(() => answer(503))
    for (let minute = 0; minute < 59; minute++) {
      clock.move(MINUTE)
      await agent.get('/secret').expect(200)
    }
    for (const path of ['/transfer', '/mfa/enroll-app', '/mfa/backup']) {
      await agent.post(path).send({}).expect(503)
    }
    expect((await intrude(there, 'nina')).signIn).toBe(503)
    clock.move(MINUTE)
    await agent.get('/secret').expect(503)
    gateway.interfere(undefined)
    await agent.get('/secret').expect(200)
  })

  it(
    'is decided again when the clock is set back, and asked for the factor that was added before',
    onEachStore(async ({ here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      const before = asked()
      clock.move(-HOUR)
      await agent.get('/secret').expect(200)
      expect(asked()).toBe(before + 1)
      await enrollApp(here, 'nina')
      clock.move(-HOUR)
      await agent.get('/secret').expect(401)
    }),
  )

  it('is decided again when the clock is set back by a minute, and not by less', async () => {
    const clock = stopClock()
    const { there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    const before = asked()
    clock.move(1 - MINUTE)
    await agent.get('/secret').expect(200)
    expect(asked()).toBe(before)
    clock.move(-1)
    await agent.get('/secret').expect(200)
    expect(asked()).toBe(before + 1)
  })

  it('is decided anew for an older copy of it, though the answer for that was known ten seconds ago', async () => {
    const clock = stopClock()
    const { here, there } = twoProcesses({ limits: { store: 'memory' } })
    const { agent } = await intrude(there, 'nina')
    const putBack = copySessions(there)
    clock.move(5 * MINUTE)
    await agent.get('/secret').expect(200)
    await enrollApp(here, 'nina')
    putBack()
    clock.move(10 * SECOND)
    await agent.get('/secret').expect(401)
  })

  it('asks the service again at the next page where it failed, and goes on from when it began', async () => {
    const clock = stopClock()
    const { gateway, there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    const stored = () => Object.values<string>(Reflect.get(there.store, 'sessions')).join()
    const [began] = /2e \S+ \S+/.exec(stored()) ?? expect.unreachable()
    clock.move(5 * MINUTE)
    const before = asked()
    gateway.interfere(() => answer(503))
    await agent.get('/secret').expect(200)
    gateway.interfere(undefined)
    for (let page = 0; page < 3; page++) await agent.get('/secret').expect(200)
    expect(asked()).toBe(before + 2)
    expect(stored()).toContain(began)
  })

  it('does not outlive a failure of the app itself', async () => {
    const clock = stopClock()
    let isDown = false
    const factors = () => {
      if (isDown) throw new Error('no database')
      return []
    }
    const { there } = twoProcesses({ factors })
    const { agent } = await intrude(there, 'nina')
    isDown = true
    await agent.get('/secret').expect(200)
    clock.move(5 * MINUTE)
    await agent.get('/secret').expect(500)
  })

  it('is decided again at each page while changes of factors cannot be counted', async () => {
    const own = ownStore()
    let isDown = true
    const read = (key: string) => (isDown ? Promise.reject(new Error('down')) : own.read(key))
    const { there } = twoProcesses({ limits: { store: { ...own, read } } })
    const { agent, page } = await intrude(there, 'nina')
    expect(page).toBe(200)
    const before = asked()
    await agent.get('/secret').expect(200)
    isDown = false
    for (let visit = 0; visit < 3; visit++) await agent.get('/secret').expect(200)
    expect(asked()).toBe(before + 2)
  })

  it(
    'is decided again when the app passes on an event of the service about a factor',
    onEachStore(async ({ here, there, clock }) => {
      const { agent } = await intrude(there, 'nina')
      const before = asked()
      const user = {
        account: there.mfa.userId?.({ id: 'u-nin' } as TestUser)?.toString() ?? '',
        reference: 'r',
      }
      const data = { application: 'default', user, factor: 'APP', by: 'operator' } as const
      await createMfa(here.mfa).account.changed({ id: 'e', type: 'factor.added', timestamp: '', data })
      clock.move(10 * SECOND)
      await agent.get('/secret').expect(200)
      expect(asked()).toBe(before + 1)
    }),
  )

  it('is not decided again for an event without a user, which is refused by name', async () => {
    const { here } = twoProcesses()
    const { account } = createMfa(here.mfa)
    for (const data of [undefined, null, {}, { user: null }, { user: 'u-nin' }]) {
      const event = { id: 'e', type: 'factor.added', timestamp: '', data } as object as WebhookEvent
      await expect(account.changed(event)).rejects.toThrow(/^account\.changed: .*names no user/)
    }
  })

  it(
    'continues for a user who loses the only factor, once an MFA page is asked',
    onEachStore(async ({ here, there }) => {
      const owner = await enrollApp(here, 'nina')
      const { agent } = await intrude(there, 'nina')
      await agent.get('/secret').expect(401)
      await showOwnApp(owner)
      await owner.post('/mfa/enroll-app/remove').send({}).expect(200)
      await agent.get('/secret').expect(401)
      await agent.get('/mfa').expect(200)
      await agent.get('/secret').expect(200)
    }),
  )
})

describe('a pending login (R133)', () => {
  it('asks nobody for the pages of the app, and is withheld while the service is down', async () => {
    const { gateway, here, there } = twoProcesses()
    await enrollApp(here, 'nina')
    const { agent } = await intrude(there, 'nina')
    const before = asked()
    for (let page = 0; page < 20; page++) {
      await agent.get('/secret').set('Accept', 'text/html').expect(303)
    }
    expect(asked()).toBe(before)
    gateway.interfere(() => answer(503))
    await agent.get('/secret').expect(401)
  })
})

describe('a browser that is trusted instead of a factor (R66, R133)', () => {
  const showText = async (agent: Awaited<ReturnType<typeof intrude>>['agent'], more = {}) => {
    await challenge(agent, 'sms').expect(200)
    await verify(agent, await gatewayOf().newestCode('+447700900102'), more).expect(200)
    return agent
  }

  async function trusted() {
    const made = twoProcesses({ trustedDevices: { store: 'memory' } })
    const owner = await showText((await intrude(made.here, 'bob')).agent, { trust: true })
    await owner.post('/login').send({ name: 'bob' }).expect(200)
    expect((await owner.get('/secret').expect(200)).body.mfa).toMatchObject({ trusted: true, status: 'none' })
    return { ...made, owner }
  }

  it('asks nobody for its pages, and goes on while the service is down', async () => {
    const { gateway, owner } = await trusted()
    const before = asked()
    for (let page = 0; page < 20; page++) await owner.get('/secret').expect(200)
    expect(asked()).toBe(before)
    gateway.interfere(() => answer(503))
    await owner.get('/secret').expect(200)
    await owner.post('/transfer').send({}).expect(503)
  })

  it('is asked for a factor at once after one was added', async () => {
    const { here, owner } = await trusted()
    const agent = await showText((await intrude(here, 'bob')).agent)
    await addApp(agent, byText(agent, gatewayOf()))
    await owner.get('/secret').expect(401)
  })

  it('is asked for a factor within ten seconds after another process removed the one that it was trusted by, on each store', () => {
    let hours = 0
    return everyCase(sharedStores(), async ([, store]) => {
      const clock = stopClock()
      // The service sends a few messages to a phone number in ten minutes.
      clock.move(++hours * HOUR)
      const { here, there } = twoProcesses({ limits: { store }, trustedDevices: { store: memoryStore() } })
      const owner = await showText((await intrude(here, 'bob')).agent)
      await approveChange(owner, '/mfa/enroll-app', byText(owner, gatewayOf()))
      const { body } = await owner.post('/mfa/enroll-app').expect(200)
      const code = () => totpCode(body.secret)
      await owner.post('/mfa/enroll-app/confirm').send({ code: code() }).expect(200)
      clock.move(MINUTE)
      const { agent: browser } = await intrude(there, 'bob')
      await verify(browser, code(), { factor: 'app', trust: true }).expect(200)
      await browser.post('/login').send({ name: 'bob' }).expect(200)
      expect((await browser.get('/secret').expect(200)).body.mfa.trusted).toBe(true)
      clock.move(MINUTE)
      await verify(owner, code(), { factor: 'app' }).expect(200)
      await owner.post('/mfa/enroll-app/remove').send({}).expect(200)
      clock.move(10 * SECOND)
      await browser.get('/secret').expect(401)
    })
  })
})
