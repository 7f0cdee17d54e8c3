import { type CountersignService, createService } from '@countersign/service'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { API_KEY, eventually, freshEmail, listen, SECRET } from './kit.js'
import { postgresMissing } from './postgres.js'
import { type OwnPostgres, ownPostgres } from './postgres-cluster.js'
import { stallingProxy } from './stalling-proxy.js'

const RECOVERY_MS = 5_000

/** A database that fails while the service runs. Times are short, so that the tests are. */
describe.skipIf(postgresMissing)('a service whose database fails', () => {
  let primary: OwnPostgres
  const ends: (() => unknown)[] = []
  beforeAll(async () => {
    primary = await ownPostgres()
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  afterAll(() => primary.remove())

  async function serviceOn(databaseUrl: string) {
    const service: CountersignService = await createService({
      databaseUrl,
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      databaseConnectTimeout: '1s',
      databaseStatementTimeout: '1s',
      logger: () => {},
    })
    const server = await listen(service.api)
    ends.push(() => service.close(), server.close)
    const timed = async (path: string, parameters?: Record<string, string>) => {
      const began = performance.now()
      const response = await fetch(server.url + path, {
        ...(parameters && { method: 'POST', body: new URLSearchParams(parameters) }),
        headers: { authorization: `Bearer ${API_KEY}` },
      })
      const { status, headers } = response
      const body = (await response.json()) as { code?: string; checks?: { store: string } }
      return { status, headers, body, ms: performance.now() - began }
    }
    const send = () => timed('/v1/mfa', { User: freshEmail().email, Type: 'EMAIL' })
    const verify = () => timed('/v1/mfa/verify', { User: freshEmail().email, Type: 'EMAIL', Code: '123456' })
    const works = () =>
      vi.waitFor(async () => expect((await verify()).status).toBe(401), {
        timeout: RECOVERY_MS,
        interval: 50,
      })
    return { send, verify, works, ready: () => timed('/readyz') }
  }

  const UNAVAILABLE = { status: 503, body: { code: 'unavailable' } }

  test('answers 503 while its connections are silent, and replaces them (R101)', async () => {
    const proxy = await stallingProxy(primary.port)
    ends.push(proxy.close)
    const { verify, send } = await serviceOn(`postgresql://postgres@127.0.0.1:${proxy.port}/postgres`)
    await Promise.all(Array.from({ length: 20 }, verify))
    proxy.stall()
    const answers = await Promise.all(Array.from({ length: 5 }, verify))
    for (const answer of answers) {
      expect(answer).toMatchObject(UNAVAILABLE)
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(answer.ms).toBeLessThan(4_000)
    }
    const after = await Promise.all([...Array.from({ length: 10 }, verify), send()])
    expect(after.map(({ status }) => status)).toEqual([...Array(10).fill(401), 200])
  })

  test('answers 503 in time while every process of the database hangs, and works when it continues (R101)', async () => {
    const { verify, works, ready } = await serviceOn(primary.url)
    await works()
    primary.freeze()
    ends.push(() => primary.thaw())
    const [answer, readiness] = await Promise.all([verify(), ready()])
    expect(answer).toMatchObject(UNAVAILABLE)
    expect(answer.ms).toBeLessThan(4_000)
    expect(readiness).toMatchObject({ status: 503, body: { checks: { store: 'does not answer' } } })
    expect(readiness.ms).toBeLessThan(2_000)
    primary.thaw()
    await works()
  })

  test('answers nothing but 503 while the database restarts under load, then works (R101)', async () => {
    const { verify, works } = await serviceOn(primary.url)
    const statuses: number[] = []
    let loaded = true
    const load = async () => {
      while (loaded) statuses.push((await verify()).status)
    }
    const clients = Promise.all(Array.from({ length: 8 }, load))
    try {
      await eventually(() => expect(statuses.length).toBeGreaterThan(20))
      await primary.crash()
      await eventually(() => expect(statuses).toContain(503))
      await primary.start()
      await works()
    } finally {
      loaded = false
      await clients
    }
    expect(new Set(statuses)).toEqual(new Set([401, 503]))
  })

  test('reports that only writes fail, and recovers (R101)', async () => {
    const { verify, works, ready } = await serviceOn(primary.url)
    await works()
    const readOnly = (value: 'on' | 'off') =>
      primary
        .sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
        .then(() => primary.sql('SELECT pg_reload_conf()'))
    await readOnly('on')
    try {
      await eventually(async () => expect(await verify()).toMatchObject(UNAVAILABLE))
      await eventually(async () =>
        expect(await ready()).toMatchObject({ status: 503, body: { checks: { store: 'is read-only' } } }),
      )
    } finally {
      await readOnly('off')
    }
    await works()
    await vi.waitFor(async () => expect((await ready()).status).toBe(200), { timeout: RECOVERY_MS })
  })

  test('reports a full disk, and recovers when there is space (R101)', async () => {
    const { send, ready } = await serviceOn(primary.url)
    expect((await send()).status).toBe(200)
    // The error of PostgreSQL when it cannot extend a table.
    await primary.sql(`
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON outbox EXECUTE FUNCTION full_disk()`)
    try {
      expect(await send()).toMatchObject(UNAVAILABLE)
      expect(await ready()).toMatchObject({
        status: 503,
        body: { checks: { store: 'has no disk space left' } },
      })
    } finally {
      await primary.sql('DROP FUNCTION full_disk CASCADE')
    }
    expect((await send()).status).toBe(200)
  })

  test('follows the primary to the standby that is promoted (R101)', async () => {
    const standby = await primary.standby()
    ends.push(() => standby.remove())
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    // The standby is listed first, and refused because it does not accept writes.
    const { send, verify, works, ready } = await serviceOn(
      `postgresql://postgres@${hosts}/postgres?target_session_attrs=read-write`,
    )
    expect((await send()).status).toBe(200)
    await primary.crash()
    try {
      expect(await verify()).toMatchObject(UNAVAILABLE)
      expect((await ready()).status).toBe(503)
      await standby.sql('SELECT pg_promote()')
      await works()
      expect((await send()).status).toBe(200)
    } finally {
      await primary.start()
    }
  })
})
