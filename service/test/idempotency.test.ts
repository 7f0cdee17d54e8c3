import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { applicationDirectory } from '../src/accounts/applications/directory.js'
import { idempotentRequests } from '../src/flows/idempotency/idempotent-requests.js'
import { operator } from '../src/operator/operator.js'
import { deleteExpired } from '../src/operator/retention.js'
import { StoreUnavailableError } from '../src/store/outages.js'
import { deriveKeys, mac } from '../src/store/secrets/keys.js'
import type { Store, Value } from '../src/store/store.js'
import { apiOver, postForm } from './api-kit.js'
import { describeOnBothDatabases } from './both-databases.js'
import {
  advance,
  type Bench,
  DeliveryError,
  freshEmail,
  freshTenant,
  listen,
  openBench,
  SECRET,
  stopClock,
  type Tenant,
} from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

let tenant: Tenant
let server: Awaited<ReturnType<typeof listen>>
beforeEach(async () => {
  tenant = freshTenant(bench)
  server = await listen(apiOver(bench.context, tenant.application))
})
afterEach(() => server.close())

const send = (User: string, key?: string, path = '/v1/mfa') =>
  postForm(server.url + path, { User, Type: 'EMAIL' }, key ? { 'idempotency-key': key } : {})

describe('a request with an Idempotency-Key', () => {
  test('gets the same response when it is repeated, and sends one message', async () => {
    const { email } = freshEmail()
    const first = await send(email, 'one')
    advance(20)
    const again = await send(email, 'one')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(tenant.sent()).toHaveLength(1)
    await send(email, 'two')
    expect(tenant.sent()).toHaveLength(2)
  })

  test('is the same request as JSON and as a form', async () => {
    const { email } = freshEmail()
    const first = await send(email, 'one')
    const again = await fetch(`${server.url}/v1/mfa`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer key_for_tests_0123456789',
        'content-type': 'application/json',
        'idempotency-key': 'one',
      },
      body: JSON.stringify({ Type: 'EMAIL', User: email }),
    })
    expect(await again.json()).toEqual(first.body)
  })

  test('creates one set of backup codes', async () => {
    const { email } = freshEmail()
    const answers = [await send(email, 'b', '/v1/mfa/backup'), await send(email, 'b', '/v1/mfa/backup')]
    expect(answers.map(({ body }) => body)).toEqual(Array(2).fill({ status: 'sent', count: 10 }))
    expect(tenant.sent()).toHaveLength(1)
  })

  test('is refused if the key was used for another request, also at another path', async () => {
    const { email } = freshEmail()
    await send(email, 'one')
    for (const other of [await send(freshEmail().email, 'one'), await send(email, 'one', '/v1/mfa/backup')]) {
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(tenant.sent()).toHaveLength(1)
  })

  test('does not affect another application (R86)', async () => {
    const { email } = freshEmail()
    await send(email, 'one')
    const other = freshTenant(bench)
    const elsewhere = await listen(apiOver(bench.context, other.application))
    const answer = await postForm(
      `${elsewhere.url}/v1/mfa`,
      { User: freshEmail().email, Type: 'EMAIL' },
      { 'idempotency-key': 'one' },
    )
    await elsewhere.close()
    expect(answer.status).toBe(200)
    expect(other.sent()).toHaveLength(1)
  })

  test('sends once for twenty concurrent requests, and says when to ask again', async () => {
    const { email } = freshEmail()
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(email, 'one')))
    for (const { status, body, headers } of answers) {
      if (status === 200) expect(body).toMatchObject({ status: 'sent' })
      else {
        expect([status, body.code]).toEqual([409, 'idempotency_key_in_flight'])
        expect(headers.get('retry-after')).toBe('1')
      }
    }
    expect(answers.map(({ status }) => status)).toContain(200)
    expect(tenant.sent()).toHaveLength(1)
  })

  test('can be repeated after a refusal, since nothing was sent', async () => {
    const { email } = freshEmail()
    bench.failNext(new DeliveryError('no such mailbox', 'contact'))
    expect((await send(email, 'one')).status).toBe(422)
    expect((await send(email, 'one')).status).toBe(200)
    for (let i = 0; i < 4; i++) await send(email)
    expect((await send(email, 'late')).status).toBe(429)
    advance(3_600)
    expect((await send(email, 'late')).status).toBe(200)
  })

  test('is refused if the key is invalid, and sends nothing', async () => {
    for (const key of ['a b', 'x'.repeat(129), 'ä']) {
      const { status, body } = await send(freshEmail().email, key)
      expect([key, status, body.errors]).toEqual([
        key,
        400,
        [{ field: 'Idempotency-Key', detail: expect.any(String) }],
      ])
    }
    expect(tenant.sent()).toHaveLength(0)
  })

  test('is forgotten after 24 h, in the store too', async () => {
    const { email } = freshEmail()
    await send(email, 'one')
    const count = async () =>
      (
        await bench.store.query('SELECT 1 AS one FROM idempotent_request WHERE application = $1', [
          tenant.application.id,
        ])
      ).length
    advance(24 * 3_600 - 1)
    await deleteExpired(bench.store)
    expect(await count()).toBe(1)
    expect((await send(email, 'one')).headers.get('idempotency-replayed')).toBe('true')
    advance(1)
    expect((await send(email, 'one')).headers.has('idempotency-replayed')).toBe(false)
    expect(tenant.sent()).toHaveLength(2)
    advance(24 * 3_600)
    await deleteExpired(bench.store)
    expect(await count()).toBe(0)
  })

  test('runs again ten seconds after its process died, two more than a request may take, not before', async () => {
    const requests = idempotentRequests(bench.store, bench.context.keys, 8_000)
    const request = { application: tenant.application.id, key: 'one', content: ['/v1/mfa', '{}'] }
    const dead = await requests.acquire(request)
    expect(dead.outcome).toBe('first')
    advance(9.999)
    expect((await requests.acquire(request)).outcome).toBe('in_flight')
    advance(0.001)
    const heir = await requests.acquire(request)
    if (heir.outcome !== 'first' || dead.outcome !== 'first') throw new Error('neither request was first')
    expect([dead.operation.isTakenOver, heir.operation.isTakenOver]).toEqual([false, true])
    expect(heir.operation.id).toBe(dead.operation.id)
    await heir.keep({ by: 'heir' })
    // The process was only slow: it must not overwrite the stored response.
    await dead.keep({ by: 'dead' })
    await dead.release()
    expect(await requests.acquire(request)).toEqual({ outcome: 'answered', answer: { by: 'heir' } })
  })

  /** A process that did all of its work, but neither recorded nor sent its answer. */
  async function dieWhileAnswering(email: string, key: string, path = '/v1/mfa') {
    const requests = idempotentRequests(bench.store, bench.context.keys, 8_000)
    const dying = await listen(
      apiOver(bench.context, tenant.application, {
        idempotent: {
          async acquire(request) {
            const acquired = await requests.acquire(request)
            return acquired.outcome === 'first' ? { ...acquired, keep: async () => {} } : acquired
          },
        },
      }),
    )
    const answer = await postForm(
      dying.url + path,
      { User: email, Type: 'EMAIL' },
      { 'idempotency-key': key },
    )
    await dying.close()
    return answer.body
  }

  test('gets the challenge of its first try when it is taken over, and sends no second message', async () => {
    const { email } = freshEmail()
    const lost = await dieWhileAnswering(email, 'one')
    expect(await send(email, 'one')).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_in_flight' },
    })
    advance(10)
    const { status, body, headers } = await send(email, 'one')
    expect([status, body]).toEqual([
      200,
      { ...lost, expires_in: lost.expires_in - 10, resend_in: lost.resend_in - 10 },
    ])
    expect(headers.has('idempotency-replayed')).toBe(false)
    expect((await send(email, 'one')).headers.get('idempotency-replayed')).toBe('true')
    expect(tenant.sent()).toHaveLength(1)
  })

  test('keeps the backup codes of its first try when it is taken over', async () => {
    const { email } = freshEmail()
    const lost = await dieWhileAnswering(email, 'b', '/v1/mfa/backup')
    advance(10)
    expect(await send(email, 'b', '/v1/mfa/backup')).toMatchObject({ status: 200, body: lost })
    expect(tenant.sent()).toHaveLength(1)
  })

  test('fails when it is taken over and its first message was refused, and can then be repeated', async () => {
    const { email } = freshEmail()
    await dieWhileAnswering(email, 'one')
    await bench.store.query("UPDATE outbox SET state = 'refused' WHERE application = $1", [
      tenant.application.id,
    ])
    advance(10)
    expect(await send(email, 'one')).toMatchObject({ status: 502, body: { code: 'delivery_failed' } })
    expect((await send(email, 'one')).status).toBe(200)
    expect(tenant.sent()).toHaveLength(2)
  })

  test('sends one message when its first try was only slow, and finishes after it was taken over', async () => {
    const { email } = freshEmail()
    const { context } = bench
    const { store } = context
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    let resume = () => {}
    const resumed = new Promise<void>((resolve) => (resume = resolve))
    const slowStore = {
      ...store,
      async query(text: string, params?: readonly Value[]) {
        if (text.includes('INSERT INTO outbox')) {
          begin()
          await resumed
        }
        return store.query(text, params)
      },
    } as Store
    const slow = await listen(apiOver({ ...context, store: slowStore }, tenant.application))
    const parameters = { User: email, Type: 'EMAIL' }
    const first = postForm(`${slow.url}/v1/mfa`, parameters, { 'idempotency-key': 'one' })
    await begun
    advance(10)
    const second = await send(email, 'one')
    resume()
    expect((await first).body).toEqual(second.body)
    await slow.close()
    expect(tenant.sent()).toHaveLength(1)
  })

  test('sends one message when the answer of the database to its first try was lost', async () => {
    const { email } = freshEmail()
    const { context } = bench
    const { store } = context
    let isLost = false
    const losingStore = {
      ...store,
      async query(text: string, params?: readonly Value[]) {
        const rows = await store.query(text, params)
        if (isLost || !text.includes('INSERT INTO outbox')) return rows
        isLost = true
        throw new StoreUnavailableError('unreachable', { cause: undefined })
      },
    } as Store
    const losing = await listen(apiOver({ ...context, store: losingStore }, tenant.application))
    const ask = () =>
      postForm(`${losing.url}/v1/mfa`, { User: email, Type: 'EMAIL' }, { 'idempotency-key': 'one' })
    expect(await ask()).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(await ask()).toMatchObject({ status: 200, body: { status: 'queued' } })
    await losing.close()
    const written = await bench.store.query('SELECT id FROM outbox WHERE application = $1', [
      tenant.application.id,
    ])
    expect(written).toHaveLength(1)
  })

  test('is stored in a form that the next release knows: by its wire names, not by internal ones', async () => {
    await postForm(
      `${server.url}/v1/mfa`,
      { User: 'ann@example.com', Type: 'EMAIL', Purpose: 'step-up' },
      { 'idempotency-key': 'one' },
    )
    const [row] = await bench.store.query('SELECT request FROM idempotent_request WHERE application = $1', [
      tenant.application.id,
    ])
    const content = [1, '/v1/mfa', 'Purpose', 'step-up', 'Type', 'EMAIL', 'User', 'ann@example.com']
    expect(row?.request).toBe(
      mac(bench.context.keys.references, [
        'idempotency',
        tenant.application.id,
        'request',
        ...content,
      ]).toString('base64url'),
    )
  })

  test('leaves neither contact, code nor key in the store', async () => {
    const { email } = freshEmail()
    await send(email, 'key-of-a-user')
    const rows = await bench.store.query('SELECT * FROM idempotent_request WHERE application = $1', [
      tenant.application.id,
    ])
    expect(rows).toHaveLength(1)
    const text = JSON.stringify(rows)
    for (const secret of [email, tenant.lastCode(), 'key-of-a-user']) expect(text).not.toContain(secret)
  })
})

describe('a rotation', () => {
  test('of API keys keeps the stored responses: the new key gets them too', async () => {
    const ops = operator(bench.store, 'ann')
    await ops.createApplication('exchange')
    const [former, next] = [
      await ops.createKey('exchange', { mode: 'live' }),
      await ops.createKey('exchange', { mode: 'live' }),
    ]
    const { byKey } = applicationDirectory({
      store: bench.store,
      defaults: tenant.application,
      apiKey: undefined,
      apiKeyScopes: [],
      acceptTestKeys: false,
      log: () => {},
    })
    const over = await listen(apiOver(bench.context, tenant.application, { findCaller: byKey }))
    const { email: User } = freshEmail()
    const ask = (key: string) =>
      postForm(
        `${over.url}/v1/mfa`,
        { User, Type: 'EMAIL' },
        { 'idempotency-key': 'one', authorization: `Bearer ${key}` },
      )
    const first = await ask(former.key)
    await ops.revokeKey('exchange', former.id)
    const again = await ask(next.key)
    await over.close()
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(bench.messages.filter(({ to }) => to === User)).toHaveLength(1)
  })

  const NEXT = 'the secret that comes after it, as long as it has to be'

  describeOnBothDatabases((shared) => {
    const knowing = (...secrets: [string, ...string[]]) => {
      const [secret, ...others] = secrets
      return idempotentRequests(shared().store, deriveKeys(secret, others), 8_000)
    }
    /** A request with a new key. */
    const fresh = (content = ['/v1/mfa', '{}']) => ({ application: 'a', key: randomUUID(), content })

    test('of secrets keeps them in both directions, as long as both secrets are known', async () => {
      const [before, after] = [knowing(SECRET, NEXT), knowing(NEXT, SECRET)]
      for (const [one, other] of [
        [knowing(SECRET), before],
        [before, after],
        [after, before],
      ] as const) {
        const request = fresh()
        const acquired = await one.acquire(request)
        expect(await other.acquire(request)).toEqual({ outcome: 'in_flight' })
        if (acquired.outcome === 'first') await acquired.keep({ by: 'one' })
        expect(await other.acquire(request)).toEqual({ outcome: 'answered', answer: { by: 'one' } })
        expect(await other.acquire({ ...request, content: ['/v1/mfa', '{"x":1}'] })).toEqual({
          outcome: 'other_request',
        })
      }
    })

    test('of secrets lets a refused request be repeated, by any process', async () => {
      const request = fresh()
      const acquired = await knowing(SECRET, NEXT).acquire(request)
      if (acquired.outcome === 'first') await acquired.release()
      expect((await knowing(NEXT, SECRET).acquire(request)).outcome).toBe('first')
    })

    test('of secrets runs a request once that reaches old and new processes at the same time', async () => {
      for (let round = 0; round < 10; round++) {
        const request = fresh()
        const processes = [knowing(SECRET, NEXT), knowing(NEXT, SECRET)]
        const claims = await Promise.all(
          Array.from({ length: 20 }, (_, i) => processes[i % 2]?.acquire(request)),
        )
        const outcomes = claims.map((result) => result?.outcome)
        const firsts = outcomes.filter((outcome) => outcome === 'first').length
        expect(outcomes.filter((outcome) => outcome !== 'first' && outcome !== 'in_flight')).toEqual([])
        expect(firsts).toBeLessThanOrEqual(1)
        // Two requests that saw each other both released the key: a repetition, as 409 asks for, is then the first.
        if (firsts === 0) expect((await processes[0]?.acquire(request))?.outcome).toBe('first')
      }
    })
  })
})

describe.skipIf(postgresMissing)('two processes over one PostgreSQL', () => {
  test('run a request with an Idempotency-Key only once', async () => {
    const postgres = await startPostgres()
    const benches = await Promise.all([1, 2].map(() => openBench({ databaseUrl: postgres.url })))
    const { application } = freshTenant(bench)
    const servers = await Promise.all(benches.map((one) => listen(apiOver(one.context, application))))
    const { email } = freshEmail()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        postForm(
          `${servers[i % 2]?.url}/v1/mfa`,
          { User: email, Type: 'EMAIL' },
          { 'idempotency-key': 'one' },
        ),
      ),
    )
    const sent = benches.flatMap((one) => one.messages)
    await Promise.all(servers.map((one) => one.close()))
    await Promise.all(benches.map((one) => one.close()))
    await postgres.stop()
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect(sent).toHaveLength(1)
  })
})
