import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { MemoryStore } from 'express-session'
import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { answer, hostileService } from '../client/hostile-service.js'
import { SECOND, stopTimers } from '../kit/clock.js'
import { type HostSetup, host, pendingCookie, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

const MOST_WAITING = 256
const BEYOND = 10
const BUSY = '503 2'

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
  const hung: (() => void)[] = []
  const service = await hostileService((response, call) => {
    const respond = () => answer(200, { valid: true, secret: 'JBSWY3DPEHPK3PXP' })(response, call)
    if (isHanging) hung.push(respond)
    else respond()
  })
  const made = host({
    ...setup,
    options: {
      service: {
        baseUrl: service.url,
        apiKey: 'key_of_this_test_1',
        dialect: 'published',
        timeout: '10s',
        breaker: false,
      },
      logger: { warn: () => {}, error: (message) => void log.push(message) },
    },
  })
  const email = 'newcomer@example.com'
  made.users[email] = { id: 'u-newcomer', email, factors: [] }
  const newcomer = await signIn(made.app, email)
  /** Sends more requests than may wait, and returns the responses to those that wait, once the others are refused while time may `pass`. */
  const fill = async (pass = async () => {}) => {
    const refused: string[] = []
    const waiting = new Set<Promise<string>>()
    for (let nth = 0; nth < MOST_WAITING + BEYOND; nth++) {
      const response = newcomer
        .post('/mfa/enroll-app')
        .then(({ status, headers }) => `${status} ${headers['retry-after']}`)
      waiting.add(response)
      void response.then((status) => {
        if (status !== BUSY) return
        refused.push(status)
        waiting.delete(response)
      })
    }
    await expect
      .poll(async () => {
        await pass()
        return refused.length
      })
      .toBe(BEYOND)
    return [...waiting]
  }
  const answers = () => {
    isHanging = false
    for (const respond of hung) respond()
  }
  return { ...made, log, newcomer, fill, answers }
}

/** Mounts the admission before everything else, and counts the requests that come to it. */
function admissionFirst() {
  const arrivals = { count: 0 }
  const first: HostSetup['first'] = (mounted, mfa) =>
    mounted.use((_req, _res, next) => {
      arrivals.count++
      next()
    }, createMfa(mfa).admission)
  return { arrivals, first }
}

describe('the admission of MFA requests (R77)', () => {
  it('refuses requests beyond 256 at once with 503 and Retry-After, consumes no attempt of them, and admits them afterwards', async () => {
    const { app, log, fill, answers } = await hostWithHangingService()
    const bob = await signIn(app, 'bob')
    const statuses = await fill()
    for (let nth = 0; nth < 12; nth++) {
      const refused = await verify(bob, '123456', { factor: 'app' })
      expect(refused.headers['retry-after']).toBe('2')
      expect(refused.body.code).toBe('service_unavailable')
    }
    await bob.get('/mfa').set('Accept', 'text/html').expect(200)
    await bob.get('/secret').expect(401)

    answers()
    expect(await Promise.all(statuses)).not.toContain(BUSY)
    await challenge(bob, 'sms').expect(200)
    await verify(bob, '123456').expect(200)
    expect(log.filter((line) => line.includes('MFA requests are waiting'))).toHaveLength(1)
  })

  it('refuses them before their session is loaded, and after a while, where the handler is mounted first', async () => {
    const store = new CountingStore()
    const { arrivals, first } = admissionFirst()
    const { app, fill, answers } = await hostWithHangingService({ store, first })
    const bob = await signIn(app, 'bob')
    arrivals.count = 0
    const timers = stopTimers()
    const statuses = await fill(async () => {
      if (arrivals.count === MOST_WAITING + BEYOND) await timers.pass(SECOND)
    })

    store.loads = 0
    arrivals.count = 0
    let answered = 0
    const count = <Response>(response: Response) => {
      answered++
      return response
    }
    const sent = challenge(bob, 'sms')
      .expect(503)
      .expect('Retry-After', '2')
      .expect('Cache-Control', 'no-store')
    const page = bob.post('/mfa/verify').set('Accept', 'text/html').type('form').send({ code: '123456' })
    const both = Promise.all([sent.then(count), page.then(count)])
    await expect.poll(() => arrivals.count).toBe(2)
    await timers.pass(0.9 * SECOND)
    expect(answered).toBe(0)
    await timers.pass(2.1 * SECOND)
    const [, { status, text }] = await both
    timers.run()
    expect(status).toBe(503)
    expect(text).toContain('<h1')
    expect(store.loads).toBe(0)

    await bob.get('/mfa').expect(200)
    await bob.post('/transfer').expect(401)
    answers()
    await Promise.all(statuses)
    await challenge(bob, 'sms').expect(200)
  })

  it('gives back the place of a request that fails', async () => {
    const { app, fill, answers } = await hostWithHangingService()
    const statuses = await fill()
    answers()
    // The service answers without a QR code, so each of them fails.
    expect(new Set(await Promise.all(statuses))).not.toContain('200 undefined')
    await challenge(await signIn(app, 'bob'), 'sms').expect(200)
  })

  it('takes no place for a request whose body does not come with its headers', async () => {
    const { arrivals, first } = admissionFirst()
    const { app, answers } = await hostWithHangingService({ first })
    answers()
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const bob = await signIn(app, 'bob')
    const cookie = await pendingCookie({ app }, 'bob')
    const timers = stopTimers()
    arrivals.count = 0
    // A poll would let time pass.
    const arrived = async (count: number) => {
      while (arrivals.count < count) await setImmediate()
    }
    const slow = Array.from({ length: MOST_WAITING + BEYOND }, (_, nth) => {
      const sent = request({ port, host: '127.0.0.1', path: '/mfa/challenge', method: 'POST' })
      sent.setHeader('Content-Type', 'application/json')
      sent.setHeader('Content-Length', '20')
      sent.setHeader('Cookie', cookie)
      sent.on('error', () => {})
      if (nth % 2 === 0) sent.write('{')
      else sent.flushHeaders()
      return sent
    })
    await arrived(MOST_WAITING + BEYOND)
    const signingIn = challenge(bob, 'sms').then(({ status }) => status)
    await arrived(MOST_WAITING + BEYOND + 1)
    // A refusal would be held back until now.
    await timers.pass(4 * SECOND)
    timers.run()
    expect(await signingIn).toBe(200)
    for (const sent of slow) sent.destroy()
    server.close()
  })
})
