import { describe, expect, it, onTestFinished } from 'vitest'
import { TrustStoreError } from '../../src/errors.js'
import { openStore } from '../../src/stores/config.js'
import { createNamespace, type ItemStore } from '../../src/stores/store.js'
import { SECOND, stopTimers } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { signInAndTrust, stateAfterLogin, trustingHost } from './kit.js'

describe.skipIf(redisMissing)('a Redis of trusted devices that does not respond (R77)', () => {
  it('fails after three seconds: users sign in with a second factor, and sessions of trusted browsers get a 503', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const host = trustingHost({ options: { trustedDevices: { store: { redis: await redis.connect() } } } })
    const asked = await signInAndTrust(host, 'bob')
    const trusted = await signInAndTrust(host, 'dora')
    expect((await stateAfterLogin(trusted, 'dora')).mfa).toMatchObject({ trusted: true })
    const pending = jsonAgent(host.app)
    await login(pending, 'alice').expect(200)
    await challenge(pending, 'email').expect(200)
    const code = host.standIn.newestCode()

    redis.freeze()
    const [signedIn, unavailable, verified] = await Promise.all([
      login(asked, 'bob').timeout(8 * SECOND),
      trusted.get('/secret').timeout(8 * SECOND),
      verify(pending, code, { trust: true }).timeout(8 * SECOND),
    ]).finally(() => redis.thaw())
    expect(signedIn.body.mfa).toMatchObject({ status: 'pending', trusted: false })
    expect([unavailable.status, unavailable.body.failed]).toEqual([503, 'ERR_MFA_TRUST_STORE'])
    expect(verified.body).toEqual({ status: 'verified', next: '/', trusted: false })

    await trusted.get('/secret').expect(200)
    expect((await stateAfterLogin(asked, 'bob')).mfa).toMatchObject({ trusted: true })
  })
})

describe('a store of the host that does not respond (R77)', () => {
  const silent = () => new Promise<never>(() => {})
  const item = { id: 'a', value: 'mine', expiresAt: Number.MAX_SAFE_INTEGER }

  it('fails after three seconds, like a store that throws', () =>
    everyCase<[keyof ItemStore, (store: ReturnType<typeof createNamespace>) => Promise<unknown>]>(
      [
        ['read', (namespace) => namespace.read('u')],
        ['add', (namespace) => namespace.add('u', item)],
        ['put', (namespace) => namespace.put('u', item)],
        ['swap', (namespace) => namespace.swap('u', 'a', 'mine', 'yours')],
        ['remove', (namespace) => namespace.remove('u', 'a')],
      ],
      async ([verb, step]) => {
        const timers = stopTimers()
        const namespace = createNamespace({ ...openStore('memory'), [verb]: silent }, 'devices')
        const failed = expect(step(namespace)).rejects.toBeInstanceOf(TrustStoreError)
        await timers.pass(3 * SECOND)
        await failed
      },
    ))

  it('can fail later without an unhandled rejection', async () => {
    const timers = stopTimers()
    let fail = (_: Error) => {}
    const read = () =>
      new Promise<never>((_, reject) => {
        fail = reject
      })
    const namespace = createNamespace({ ...openStore('memory'), read }, 'devices')
    const failed = expect(namespace.read('u')).rejects.toBeInstanceOf(TrustStoreError)
    await timers.pass(3 * SECOND)
    await failed
    timers.run()
    fail(new Error('gone'))
    await new Promise((resolve) => setImmediate(resolve))
  })
})
