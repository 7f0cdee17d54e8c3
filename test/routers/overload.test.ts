import { MemoryStore } from 'express-session'
import { expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { answer, hostileService } from '../client/hostile-service.js'
import { type HostSetup, host, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

const ADMITTED = 16
const CONNECTIONS = 4

class CountingStore extends MemoryStore {
  loads = 0

  override get(...parameters: Parameters<MemoryStore['get']>): void {
    this.loads++
    super.get(...parameters)
  }
}

/** An app whose service accepts calls and does not answer them, until `answers` is called. */
async function hostWithHangingService(setup: Pick<HostSetup, 'first' | 'store'> = {}) {
  const log: string[] = []
  let isHanging = true
  const service = await hostileService((response, call) => {
    if (!isHanging) answer(200, { valid: true })(response, call)
  })
  const made = host({
    ...setup,
    options: {
      service: {
        baseUrl: service.url,
        apiKey: 'key_of_this_test_1',
        dialect: 'published',
        timeout: '2s',
        maxConnections: CONNECTIONS,
        breaker: false,
      },
      maxConcurrentRequests: ADMITTED,
      logger: { warn: () => {}, error: (message) => void log.push(message) },
    },
  })
  const signedIn = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => {
        const email = `p${index}@example.com`
        made.users[email] = { id: `u-${index}`, email, factors: [{ method: 'app', user: email }] }
        return signIn(made.app, email)
      }),
    )
  const answers = () => {
    isHanging = false
  }
  return { ...made, service, log, signedIn, answers }
}

it('refuses requests beyond maxConcurrentRequests at once with 503 and Retry-After, while the service hangs (R77)', async () => {
  const { signedIn, log, service } = await hostWithHangingService()
  const agents = await signedIn(ADMITTED + 8)
  const finished: string[] = []
  await Promise.all(
    agents.map(async (agent) => {
      const { status, body, headers } = await verify(agent, '123456', { factor: 'app' })
      expect(status).toBe(503)
      expect(body.code).toBe('service_unavailable')
      finished.push(String(headers['retry-after']))
      // Calls that time out make room for new connections.
      if (finished.length === 8) expect(service.sockets.size).toBeLessThanOrEqual(CONNECTIONS)
    }),
  )
  // Those that were admitted wait for the timeout of the service, and have another Retry-After.
  expect(finished).toEqual([...Array(8).fill('2'), ...Array(ADMITTED).fill('5')])
  expect(log.filter((line) => line.includes('maxConcurrentRequests'))).toHaveLength(1)
})

it('responds to pages and other routes while as many requests as allowed wait', async () => {
  const { app, signedIn, answers } = await hostWithHangingService()
  const agents = await signedIn(ADMITTED)
  const waiting = agents.map((agent) =>
    verify(agent, '123456', { factor: 'app' }).then(({ status }) => status),
  )
  const visitor = await signIn(app, 'bob')
  await visitor.get('/mfa').set('Accept', 'text/html').expect(200)
  await visitor.get('/secret').expect(401)
  await challenge(visitor, 'sms').expect(503).expect('Retry-After', '2')
  answers()
  await Promise.all(waiting)
})

it('consumes no attempt of a refused request, and admits it once others are done (R77)', async () => {
  const { app, signedIn, answers, users } = await hostWithHangingService()
  users.erin = {
    id: 'u-erin',
    email: 'erin@example.com',
    factors: [{ method: 'app', user: 'erin@example.com' }],
  }
  const erin = await signIn(app, 'erin')
  const waiting = (await signedIn(ADMITTED)).map((agent) => verify(agent, '123456', { factor: 'app' }))
  const done = Promise.all(waiting.map((response) => response.expect(503)))
  await expect
    .poll(() => verify(erin, '123456', { factor: 'app' }).then(({ headers }) => headers['retry-after']))
    .toBe('2')
  const refused = Array.from({ length: 12 }, () => verify(erin, '123456', { factor: 'app' }))
  await Promise.all(refused.map((response) => response.expect('Retry-After', '2')))
  await done
  answers()
  await verify(erin, '123456', { factor: 'app' }).expect(200)
})

it('refuses them before their session is loaded, where the admission handler is mounted first (R77)', async () => {
  const store = new CountingStore()
  const { app, signedIn, answers, log } = await hostWithHangingService({
    store,
    first: (mounted, mfa) => mounted.use(createMfa(mfa).admission),
  })
  const agents = await signedIn(ADMITTED)
  const bob = await signIn(app, 'bob')
  const waiting = agents.map((agent) =>
    verify(agent, '123456', { factor: 'app' }).then(({ headers }) => headers['retry-after']),
  )
  await expect.poll(() => challenge(bob, 'sms').then(({ status }) => status)).toBe(503)

  store.loads = 0
  await challenge(bob, 'sms')
    .expect(503)
    .expect('Retry-After', '2')
    .expect('Cache-Control', 'no-store')
    .expect(({ body }) => expect(body.code).toBe('service_unavailable'))
  const page = await bob.post('/mfa/verify').set('Accept', 'text/html').type('form').send({ code: '123456' })
  expect(page.status).toBe(503)
  expect(page.text).toContain('<h1')
  expect(store.loads).toBe(0)

  await bob.get('/mfa').expect(200)
  await bob.post('/transfer').expect(401)
  expect(log.filter((line) => line.includes('maxConcurrentRequests'))).toHaveLength(1)
  // Each admitted request counts once, so all of them were passed on to the service.
  expect(await Promise.all(waiting)).toEqual(Array(ADMITTED).fill('5'))
  answers()
  await challenge(bob, 'sms').expect(200)
})
