import { describe, expect, it, onTestFinished } from 'vitest'
import { TrustStoreError } from '../../src/errors.js'
import { namespaced } from '../../src/stores/namespaced.js'
import { openStore } from '../../src/stores/open.js'
import type { ItemStore } from '../../src/stores/store.js'
import { SECOND, stopTimers } from '../kit/clock.js'
import { jsonAgent } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { login, signInAndTrust, trustingHost } from './kit.js'

describe.skipIf(redisMissing)('R77 a Redis of trusted devices that says nothing', () => {
  it('has failed after three seconds: people are asked and sign in, and who lives by a trust waits', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const host = trustingHost({ options: { trustedDevices: { store: { redis: await redis.connect() } } } })
    const asked = await signInAndTrust(host, 'bob')
    const trusted = await signInAndTrust(host, 'dora')
    expect((await login(trusted, 'dora')).mfa).toMatchObject({ trusted: true })
    const halfway = jsonAgent(host.app)
    await login(halfway, 'alice')
    await halfway.post('/mfa/challenge').send({ factor: 'email' }).expect(200)
    const code = host.standIn.newestCode()

    redis.freeze()
    const [signedIn, waiting, verified] = await Promise.all([
      asked
        .post('/login')
        .send({ name: 'bob' })
        .timeout(8 * SECOND),
      trusted.get('/secret').timeout(8 * SECOND),
      halfway
        .post('/mfa/verify')
        .send({ code, trust: true })
        .timeout(8 * SECOND),
    ]).finally(() => redis.thaw())
    expect(signedIn.body.mfa).toMatchObject({ status: 'pending', trusted: false })
    expect([waiting.status, waiting.body.failed]).toEqual([503, 'ERR_MFA_TRUST_STORE'])
    expect(verified.body).toEqual({ status: 'verified', next: '/', trusted: false })

    await trusted.get('/secret').expect(200)
    expect((await login(asked, 'bob')).mfa).toMatchObject({ trusted: true })
  })
})

describe("R77 a host's own store that says nothing", () => {
  const silent = () => new Promise<never>(() => {})
  const item = { id: 'a', value: 'mine', expiresAt: Number.MAX_SAFE_INTEGER }

  it.each<[keyof ItemStore, (store: ReturnType<typeof namespaced>) => Promise<unknown>]>([
    ['read', (shelf) => shelf.read('u')],
    ['put', (shelf) => shelf.put('u', item)],
    ['swap', (shelf) => shelf.swap('u', 'a', 'mine', 'yours')],
    ['remove', (shelf) => shelf.remove('u', 'a')],
  ])('in %s has failed after three seconds, as one that throws', async (verb, step) => {
    const timers = stopTimers()
    const shelf = namespaced({ ...openStore('memory'), [verb]: silent }, 'devices')
    const failed = expect(step(shelf)).rejects.toBeInstanceOf(TrustStoreError)
    await timers.pass(3 * SECOND)
    await failed
  })

  it('may fail later on, which nobody hears of', async () => {
    const timers = stopTimers()
    let fail = (_: Error) => {}
    const read = () =>
      new Promise<never>((_, reject) => {
        fail = reject
      })
    const shelf = namespaced({ ...openStore('memory'), read }, 'devices')
    const failed = expect(shelf.read('u')).rejects.toBeInstanceOf(TrustStoreError)
    await timers.pass(3 * SECOND)
    await failed
    timers.run()
    fail(new Error('gone'))
    await new Promise((resolve) => setImmediate(resolve))
  })
})
