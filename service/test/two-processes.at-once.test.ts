import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PATIENCE_MS } from '../../test/kit/patience.js'
import { operator } from '../src/operator/operator.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { API_KEY, eventually, freshPhone, listen, SECRET, wrong } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { MAIN, type Running, start, startListening } from './processes.js'

interface Delivered {
  readonly id: string
  readonly to: string
  readonly code: string
}

/** Two operating system processes, started as an operator starts them, on one PostgreSQL. */
describe('two processes over one PostgreSQL', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let receiver: Awaited<ReturnType<typeof listen>>
  let pool: pg.Pool
  let env: Record<string, string>
  const delivered: Delivered[] = []
  const running: Running[] = []
  let isSilent = false
  const run = async () => {
    const one = await startListening(env)
    running.push(one)
    return one
  }
  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error('The service is not built: run npm run build first.')
    postgres = await startPostgres()
    pool = new pg.Pool({ connectionString: postgres.url, max: 2, options: '-c search_path=mfa' })
    // The server may be stopped before the last connection is closed.
    pool.on('error', () => {})
    receiver = await listen(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      delivered.push(JSON.parse(body))
      if (!isSilent) response.end()
    })
    env = {
      DATABASE_URL: postgres.url,
      SERVICE_SECRET: SECRET,
      SERVICE_API_KEY: API_KEY,
      // So that all requests of a burst reach the database.
      SERVICE_REQUESTS_PER_ACCOUNT: '1000',
      SERVICE_DELIVERY: `${receiver.url}/hook?secret=shared-with-the-receiver`,
    }
  })
  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL')
      await ended
    }
    await pool.end()
    await receiver.close()
    await postgres.stop()
  })

  /** The status of the response; 0 if there was none. */
  const post = async (
    { url }: Pick<Running, 'url'>,
    path: string,
    parameters: Record<string, string>,
    key = API_KEY,
  ) => {
    const headers = { authorization: `Bearer ${key}` }
    const body = new URLSearchParams(parameters)
    return fetch(url + path, { method: 'POST', headers, body }).then(
      async (response) => {
        await response.text()
        return response.status
      },
      () => 0,
    )
  }
  const codeFor = (phone: string) => delivered.findLast(({ to }) => to === phone)?.code ?? ''
  const send = (process: Running, User: string) => post(process, '/v1/mfa', { User, Type: 'SMS' })
  const verify = (process: Running, User: string, Code: string) =>
    post(process, '/v1/mfa/verify', { User, Type: 'PHONE', Code })
  const attempts = async (phone: string) =>
    (await pool.query('SELECT attempts FROM challenge WHERE contact = $1', [phone])).rows[0]?.attempts

  test('of 100 wrong codes at each process five are evaluated, then both reject the correct one (R22, R28)', async () => {
    const [one, other] = await Promise.all([run(), run()])
    const { phone } = freshPhone()
    await send(one, phone)
    const code = codeFor(phone)
    const burst = (process: Running) => Array.from({ length: 100 }, () => verify(process, phone, wrong(code)))
    const statuses = await Promise.all([...burst(one), ...burst(other)])
    expect(statuses.filter((status) => status === 401)).toHaveLength(200)
    expect(await attempts(phone)).toBe(5)
    expect([await verify(one, phone, code), await verify(other, phone, code)]).toEqual([401, 401])
    // Without the burst the code would have been accepted: only the count rejected it.
    await send(other, phone)
    expect(await verify(one, phone, codeFor(phone))).toBe(200)
  })

  test('kill -9 during verifications: no accepted code is accepted again, and no counted attempt is lost', async () => {
    const survivor = await run()
    for (let round = 0; round < 4; round++) {
      const victim = await run()
      const phones = Array.from({ length: 24 }, () => freshPhone().phone)
      await Promise.all(phones.map((phone) => send(survivor, phone)))
      let answered = 0
      const asked = phones.map(async (phone, i) => {
        // Every third code is wrong.
        const right = i % 3 !== 0
        const status = await verify(victim, phone, right ? codeFor(phone) : wrong(codeFor(phone)))
        if (++answered === 4 + round * 4) victim.child.kill('SIGKILL')
        return { phone, right, status }
      })
      const answers = await Promise.all(asked)
      victim.child.kill('SIGKILL')
      await victim.ended
      for (const { phone, right, status } of answers) {
        expect([0, right ? 200 : 401]).toContain(status)
        if (status === 401) expect(await attempts(phone)).toBe(1)
        const again = [
          await verify(survivor, phone, codeFor(phone)),
          await verify(survivor, phone, codeFor(phone)),
        ]
        const accepted = [status, ...again].filter((one) => one === 200).length
        expect(accepted).toBeLessThanOrEqual(1)
        if (status !== 0) expect(accepted).toBe(1)
      }
    }
  }, 120_000)

  test('kill -9 during deliveries: every promised message arrives, under one id', async () => {
    const survivor = await run()
    for (let round = 0; round < 3; round++) {
      const victim = await run()
      const phones = Array.from({ length: 24 }, () => freshPhone().phone)
      let answered = 0
      const asked = phones.map(async (phone) => {
        const status = await send(victim, phone)
        if (++answered === 1 + round * 6) victim.child.kill('SIGKILL')
        return { phone, status }
      })
      const answers = await Promise.all(asked)
      victim.child.kill('SIGKILL')
      await victim.ended
      // As if the leases of the dead process had run out.
      await pool.query('UPDATE outbox SET due_at = 0 WHERE settled_at IS NULL')
      const waiting = async () => (await pool.query('SELECT 1 FROM outbox WHERE settled_at IS NULL')).rowCount
      await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: PATIENCE_MS, interval: 100 })
      for (const { phone, status } of answers) {
        const mine = delivered.filter(({ to }) => to === phone)
        if (status === 200) await eventually(() => expect(mine.length).toBeGreaterThan(0))
        expect(new Set(mine.map(({ id }) => id)).size).toBeLessThanOrEqual(1)
        if (mine.length > 0) expect(await verify(survivor, phone, codeFor(phone))).toBe(200)
      }
    }
  }, 120_000)

  test('a request that is repeated after kill -9 gets the challenge of the dead process, ten seconds later', async () => {
    const [victim, survivor] = await Promise.all([run(), run()])
    const { phone } = freshPhone()
    const ask = async (process: Running) => {
      const response = await fetch(`${process.url}/v1/mfa`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'idempotency-key': 'one' },
        body: new URLSearchParams({ User: phone, Type: 'SMS' }),
      })
      return { status: response.status, body: (await response.json()) as { challenge?: string } }
    }
    isSilent = true
    const lost = ask(victim).catch(() => 'lost')
    await eventually(() => expect(codeFor(phone)).not.toBe(''))
    victim.child.kill('SIGKILL')
    const died = performance.now()
    expect(await lost).toBe('lost')
    isSilent = false
    const refusals: number[] = []
    let answer = await ask(survivor)
    while (answer.status === 409) {
      refusals.push(answer.status)
      await wait(250)
      answer = await ask(survivor)
    }
    expect(performance.now() - died).toBeLessThan(13_000)
    expect(refusals.length).toBeGreaterThan(10)
    const { rows } = await pool.query('SELECT id FROM challenge WHERE contact = $1', [phone])
    expect(answer).toMatchObject({ status: 200, body: { challenge: rows[0].id } })
    // The carrier had the message when the process died, so it is sent again: under the same id, with the same code.
    await eventually(() => expect(delivered.filter(({ to }) => to === phone)).toHaveLength(2))
    const [first, second] = delivered.filter(({ to }) => to === phone)
    expect(second).toEqual({ ...first, expires_at: expect.anything() })
    expect(await verify(survivor, phone, codeFor(phone))).toBe(200)
  }, 120_000)

  test('a process in production creates no API key, accepts those of the command line, and prints only its log', async () => {
    const { SERVICE_API_KEY: _key, ...others } = env
    const one = await startListening({ ...others, NODE_ENV: 'production', SERVICE_DRAIN_DURATION: '0s' })
    running.push(one)
    expect(one.output()).toContain(
      'SERVICE_API_KEY is not set: only keys created by `key create` are accepted.',
    )
    const store = postgresStore(postgres.url)
    const { key } = await operator(store, 'ann').createKey('default', { mode: 'live' })
    await store.close()
    const form = { User: freshPhone().phone, Type: 'SMS' }
    expect(await post(one, '/v1/mfa', form)).toBe(401)
    expect(await post(one, '/v1/mfa', form, key)).toBe(200)
    one.child.kill('SIGTERM')
    await one.ended
    expect(one.output()).not.toMatch(/mfa_/)
    const events = one
      .log()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event)
    expect(events).toEqual(expect.arrayContaining(['http.request', 'delivery.sent', 'send.sent']))
  })

  test('a process whose port is in use explains that and exits', async () => {
    const { port } = new URL((await run()).url)
    const late = start({ ...env, SERVICE_PORT: port })
    expect(await late.ended).toBe(1)
    expect(late.output()).toContain(`SERVICE_PORT ${port} is in use by another process: choose another port.`)
    expect(late.output()).not.toContain('    at ')
  })
})
