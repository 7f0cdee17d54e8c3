import { once } from 'node:events'
import { Cluster as IoRedisCluster, Redis } from 'ioredis'
import { createCluster, createSentinel } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { StoreConfig } from '../../src/index.js'
import { sessionCookie } from '../kit/cookies.js'
import { host } from '../kit/host.js'
import { startRedisCluster, startRedisSentinels, topologiesMissing } from '../kit/redis-topologies.js'
import { type Answer, listen, postJson } from '../kit/sockets.js'
import { limitsIn } from './kit.js'

type Client = Extract<StoreConfig, { redis: unknown }>['redis']

/** A client, and how it is closed. */
interface Opened {
  readonly client: Client
  close(): void
}

const WRONG = '000000'
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** An app whose users sign in all the time, while an attacker guesses codes of one of them. */
async function busyApp(client: Client) {
  const warnings: string[] = []
  const { app, standIn, users } = host({
    options: {
      limits: { store: { redis: client } },
      trustedDevices: { store: { redis: client } },
      onEvent: (event) => void (event.type === 'warning' && warnings.push(event.code)),
    },
  })
  const port = await listen(app)
  const answers: { readonly at: number; readonly answer: Answer }[] = []
  let signedIn = 0
  let accounts = 0
  let isOpen = true

  const post = async (path: string, body: object, cookie = '') => {
    const answer = await postJson(port, path, body, cookie)
    answers.push({ at: performance.now(), answer })
    return answer
  }
  const signIn = async () => {
    const nth = accounts++
    const phone = `+4477008${String(nth).padStart(5, '0')}`
    users[`n${nth}`] = { id: `n${nth}`, email: `n${nth}@example.com`, factors: [{ method: 'sms', phone }] }
    const cookie = sessionCookie(await postJson(port, '/login', { name: `n${nth}` }))
    if ((await post('/mfa/challenge', { factor: 'sms' }, cookie)).status !== 200) {
      await pause(20)
      return
    }
    await post('/mfa/verify', { code: WRONG }, cookie)
    const code = standIn.newestCode(phone)
    const { status } = await post('/mfa/verify', { code, trust: true }, cookie)
    if (status === 200) signedIn++
    else await pause(20)
  }
  const guess = async () => {
    const cookie = sessionCookie(await postJson(port, '/login', { name: 'bob' }))
    await postJson(port, '/mfa/challenge', { factor: 'sms' }, cookie)
    while (isOpen) {
      await Promise.all(Array.from({ length: 4 }, () => post('/mfa/verify', { code: WRONG }, cookie)))
      await pause(10)
    }
  }
  const loops = [
    guess(),
    ...Array.from({ length: 6 }, async () => {
      while (isOpen) await signIn()
    }),
  ]
  return {
    signedIn: () => signedIn,
    /** Waits for this many more sign-ins. */
    async more(count: number) {
      const goal = signedIn + count
      await expect.poll(() => signedIn, { timeout: 30_000 }).toBeGreaterThanOrEqual(goal)
    },
    /** Ends the work, and checks that no limit was exceeded, and how long responses were 503. */
    async check(mostSecondsOf503: number) {
      isOpen = false
      await Promise.all(loops)
      // Every kind of client can ask whether the servers keep all keys.
      expect(warnings.filter((code) => code.startsWith('MFA_WARN_REDIS'))).toEqual([])
      const guessed = standIn.calls.filter(
        ({ verb, request }) => verb === 'verify' && JSON.stringify(request).includes('+447700900102'),
      )
      expect(guessed.length).toBeLessThanOrEqual(5)
      const failed = answers.filter(({ answer }) => answer.status === 503)
      for (const { answer } of failed) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      const others = answers.filter(({ answer }) => ![200, 401, 429, 503].includes(answer.status))
      expect(others.map(({ answer }) => answer.text)).toEqual([])
      const [first, last] = [failed.at(0)?.at ?? 0, failed.at(-1)?.at ?? 0]
      expect((last - first) / 1_000).toBeLessThanOrEqual(mostSecondsOf503)
    },
  }
}

/** The key of the account of which codes are guessed. */
const KEY = 'mfa:{u-bob}'

describe.skipIf(topologiesMissing)('limits and trusted devices in Redis Cluster (R22, R28, R77)', () => {
  const openings: readonly (readonly [string, (ports: readonly number[]) => Promise<Opened>])[] = [
    [
      'createCluster of redis',
      async (ports) => {
        const rootNodes = ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }))
        const client = await createCluster({
          rootNodes,
          // As docs/options.md says.
          topologyRefreshOnReconnectionAttemptStrategy: 1_000,
          defaults: { disableOfflineQueue: true },
        })
          .on('error', () => {})
          .connect()
        return { client, close: () => client.destroy() }
      },
    ],
    [
      'Cluster of ioredis',
      async (ports) => {
        const client = new IoRedisCluster(ports.map((port) => ({ host: '127.0.0.1', port }))).on(
          'error',
          () => {},
        )
        await once(client, 'ready')
        return { client, close: () => client.disconnect() }
      },
    ],
  ]

  describe.each(openings)('with %s', (_name, open) => {
    let cluster: Awaited<ReturnType<typeof startRedisCluster>>
    let opened: Opened | undefined
    beforeAll(async () => {
      cluster = await startRedisCluster()
      opened = await open(cluster.ports)
    })
    const openedClient = () => {
      if (!opened) throw new Error('The cluster did not start.')
      return opened.client
    }
    afterAll(async () => {
      opened?.close()
      await cluster.stop()
    })

    it('exceed no limit while a slot moves, and users keep signing in', async () => {
      const app = await busyApp(openedClient())
      await app.more(20)
      const { moved } = await cluster.moveSlotOf(KEY, () => app.more(20))
      expect(moved).toBeGreaterThan(0)
      await app.more(20)
      await app.check(5)
    })

    it('exceed no limit when a primary dies, and respond with 503 for at most five seconds', async () => {
      const app = await busyApp(openedClient())
      await app.more(20)
      await cluster.killOwnerOf(KEY)
      await pause(8_000)
      await app.more(40)
      await app.check(5)
    })
  })

  it('refuse a client that knows one server, and say which one to use', async () => {
    const cluster = await startRedisCluster()
    onTestFinished(() => cluster.stop())
    const { port } = await cluster.ownerOf(KEY)
    const client = new Redis(cluster.ports.find((one) => one !== port) ?? port).on('error', () => {})
    onTestFinished(() => client.disconnect())
    await once(client, 'ready')
    await expect(limitsIn({ redis: client }).attempts.findLimits('u-bob', [])).rejects.toMatchObject({
      cause: {
        message: expect.stringContaining('Use createCluster of the package "redis", or Redis.Cluster'),
      },
    })
  })
})

describe.skipIf(topologiesMissing)('limits and trusted devices behind Redis Sentinel (R22, R28, R77)', () => {
  type Sentinels = Awaited<ReturnType<typeof startRedisSentinels>>
  const openings: readonly (readonly [string, (servers: Sentinels) => Promise<Opened>])[] = [
    [
      'createSentinel of redis',
      async ({ name, sentinels }) => {
        const sentinelRootNodes = sentinels.map((port) => ({ host: '127.0.0.1', port }))
        const client = await createSentinel({ name, sentinelRootNodes })
          .on('error', () => {})
          .connect()
        return { client, close: () => void client.destroy() }
      },
    ],
    [
      'Redis of ioredis',
      async ({ name, sentinels }) => {
        const hosts = sentinels.map((port) => ({ host: '127.0.0.1', port }))
        const client = new Redis({ name, sentinels: hosts }).on('error', () => {})
        await once(client, 'ready')
        return { client, close: () => client.disconnect() }
      },
    ],
  ]

  it.each(openings)('exceed no limit when the primary dies, with %s', async (_name, open) => {
    const servers = await startRedisSentinels()
    onTestFinished(() => servers.stop())
    const opened = await open(servers)
    onTestFinished(() => opened.close())
    const app = await busyApp(opened.client)
    await app.more(20)
    await servers.killPrimary()
    await pause(8_000)
    await app.more(40)
    await app.check(5)
  })
})
