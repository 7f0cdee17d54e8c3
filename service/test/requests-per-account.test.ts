import { afterAll, beforeAll, expect, test } from 'vitest'
import { limitRequestsUnderWay } from '../src/flows/context.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import { apiOver, postForm } from './api-kit.js'
import { type Bench, freshTenant, listen, openBench } from './kit.js'

/*
 * One request of an account may be under way here, and its first query does not return before the test says so.
 */

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

const ANN = { kind: 'email', email: 'ann@example.com' } as const

async function heldService() {
  const { application } = freshTenant(bench)
  const { store } = bench
  let queries = 0
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const holding = {
    ...store,
    query: (async (...args: Parameters<typeof store.query>) => {
      queries++
      await held
      return store.query(...args)
    }) as typeof store.query,
    transaction: (async (work: Parameters<typeof store.transaction>[0]) => {
      queries++
      await held
      return store.transaction(work)
    }) as typeof store.transaction,
  }
  const context = { ...bench.context, store: holding, underWay: limitRequestsUnderWay(1) }
  const server = await listen(apiOver(context, application))
  return {
    mfa: inProcessService(context, async () => application),
    post: (path: string, parameters: Record<string, string>) => postForm(server.url + path, parameters),
    close: server.close,
    release,
    queries: () => queries,
  }
}

test.each([
  ['the same mailbox in capitals', { User: 'ANN@EXAMPLE.COM' }],
  ['the same mailbox in title case', { User: 'Ann@Example.com' }],
])('a second request of an account is refused before its first query: %s (R139)', async (_what, spelled) => {
  const { post, release, queries, close } = await heldService()
  const first = post('/v1/mfa/factors', { User: ANN.email })
  await expect.poll(queries).toBeGreaterThan(0)
  const before = queries()
  for (const [path, more] of [
    ['/v1/mfa/verify', { Type: 'APP', Code: '123456' }],
    ['/v1/mfa', { Type: 'EMAIL' }],
    ['/v1/mfa/app', {}],
    ['/v1/users/erase', {}],
  ] as const) {
    const refused = await post(path, { ...spelled, ...more })
    expect(refused).toMatchObject({ status: 429, body: { code: 'account_busy', retry_after: 1 } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
  }
  expect(queries()).toBe(before)
  release()
  expect((await first).status).toBe(200)
  expect((await post('/v1/mfa/factors', spelled)).status).toBe(200)
  await close()
})

test('requests of another account are not refused, nor those of the same contact with another Account (R139)', async () => {
  const { post, release, close } = await heldService()
  const answers = [
    { User: ANN.email },
    { User: 'bob@example.com' },
    { User: ANN.email, Account: 'ann' },
    { User: ANN.email, Account: 'ann2' },
  ].map((user) => post('/v1/mfa/factors', user))
  release()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await close()
})

test('a second request without HTTP fails as one that can be repeated and did nothing (R139)', async () => {
  const { mfa, release, close } = await heldService()
  const first = mfa.enrollApp({ contact: ANN })
  await expect(
    mfa.verify({ method: 'email', contact: ANN, kind: 'code', code: '123456' }),
  ).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_BUSY', retryAfterSeconds: 1, effect: 'none' })
  release()
  await first
  await mfa.enrollApp({ contact: ANN })
  await close()
})

test('an authentication that takes too long is answered within the time of the request (R139)', async () => {
  const { application } = freshTenant(bench)
  const server = await listen(
    apiOver(bench.context, application, {
      findCaller: () => new Promise(() => {}),
      requestTimeoutMs: 50,
    }),
  )
  const answer = await postForm(`${server.url}/v1/mfa/factors`, { User: ANN.email })
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  await server.close()
})
