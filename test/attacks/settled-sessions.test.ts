import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { createMfa, type MfaOptions } from '../../src/index.js'
import { answer } from '../client/hostile-service.js'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { everyCase } from '../kit/every-case.js'
import type { TestUser } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { poolOf } from '../limits/kit.js'
import { addApp, enrollApp, hostApp, intrude, useGateway } from './gateway.js'

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

describe('a session that was let in without a factor (R133)', () => {
  it('asks nobody for its pages until five minutes are over, and then once for sixteen pages at the same time', async () => {
    const clock = stopClock()
    const { there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    const before = asked()
    for (let page = 0; page < 100; page++) await agent.get('/secret').expect(200)
    clock.move(5 * MINUTE - 1)
    await agent.get('/secret').expect(200)
    expect(asked()).toBe(before)
    clock.move(1)
    await Promise.all(Array.from({ length: 16 }, () => agent.get('/secret').expect(200)))
    expect(asked()).toBe(before + 1)
  })

  it('is asked for a factor within ten seconds after another process added one, on each store', () =>
    everyCase(sharedStores(), async ([, store]) => {
      const clock = stopClock()
      const { here, there } = twoProcesses({ limits: { store } })
      const { agent } = await intrude(there, 'nina')
      await enrollApp(here, 'nina')
      // The process that added it knows at once.
      const inHere = await intrude(here, 'nina')
      expect(inHere.page).toBe(401)
      clock.move(10 * SECOND)
      await agent.get('/secret').expect(401)
    }))

  it('is asked for it at once in the process that added it', async () => {
    const { here } = twoProcesses()
    const { agent } = await intrude(here, 'nina')
    await enrollApp(here, 'nina')
    await agent.get('/secret').expect(401)
  })

  it('is not let in when the service stops right after the enrollment', async () => {
    const clock = stopClock()
    const { gateway, here, there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    await enrollApp(here, 'nina')
    gateway.interfere(() => answer(503))
    clock.move(10 * SECOND)
    await agent.get('/secret').expect(503)
    gateway.interfere(undefined)
    await agent.get('/secret').expect(401)
  })

  it('is not kept by an answer that began before the factor was added', async () => {
    const clock = stopClock()
    const { gateway, here, there } = twoProcesses()
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
  })

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

  it('is decided again when the clock is set back', async () => {
    const clock = stopClock()
    const { there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    const before = asked()
    clock.move(-HOUR)
    await agent.get('/secret').expect(200)
    expect(asked()).toBe(before + 1)
  })

  it('is decided again when the app passes on an event of the service about a factor', async () => {
    const clock = stopClock()
    const { there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    const before = asked()
    const user = {
      account: there.mfa.userId?.({ id: 'u-nina' } as TestUser)?.toString() ?? '',
      reference: 'r',
    }
    const data = { application: 'default', user, factor: 'APP', by: 'operator' } as const
    await createMfa(there.mfa).account.changed({ id: 'e', type: 'factor.added', timestamp: '', data })
    await agent.get('/secret').expect(200)
    expect(asked()).toBe(before + 1)
    clock.move(0)
  })

  it('continues for a user who loses the only factor, once the factor page is asked', async () => {
    const { here, there } = twoProcesses()
    const owner = await enrollApp(here, 'nina')
    const { agent } = await intrude(there, 'nina')
    await agent.get('/secret').expect(401)
    await owner.post('/mfa/enroll-app/remove').send({}).expect(200)
    await agent.get('/secret').expect(200)
  })
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
  async function trusted() {
    const made = twoProcesses({ trustedDevices: { store: 'memory' } })
    const { gateway, here } = made
    const owner = (await intrude(here, 'bob')).agent
    await challenge(owner, 'sms').expect(200)
    await verify(owner, await gateway.newestCode('+447700900102'), { trust: true }).expect(200)
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
    const { gateway, here, owner } = await trusted()
    const other = (await intrude(here, 'bob')).agent
    await challenge(other, 'sms').expect(200)
    await verify(other, await gateway.newestCode('+447700900102')).expect(200)
    await addApp(other)
    await owner.get('/secret').expect(401)
  })
})
