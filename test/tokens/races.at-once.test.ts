import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import type { StoreConfig } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { standInService } from '../kit/stand-in-service.js'
import { begin, payloadOf, tokenClient, tokenHost } from './kit.js'

/** A kind of store; `open` connects as another process would. */
interface Kind {
  readonly name: string
  readonly missing?: string | undefined
  start(): Promise<{ open(): Promise<StoreConfig>; stop(): Promise<void> }>
}

const kinds: readonly Kind[] = [
  {
    name: 'memory',
    async start() {
      const store = memoryStore()
      return { open: async () => store, stop: async () => {} }
    },
  },
  {
    name: 'Redis',
    missing: redisMissing,
    async start() {
      const redis = await startRedis()
      return { open: async () => ({ redis: await redis.connect() }), stop: () => redis.stop() }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    async start() {
      const server = await startPostgres()
      const pools: pg.Pool[] = []
      return {
        async open() {
          const pool = new pg.Pool({ connectionString: server.url, max: 8 }).on('error', () => {})
          pools.push(pool)
          return { postgres: { pool } }
        },
        async stop() {
          await Promise.all(pools.map((pool) => pool.end()))
          await server.stop()
        },
      }
    },
  },
]

describe.each(kinds)('logins of clients without cookies in $name', ({ missing, start }) => {
  let started: Awaited<ReturnType<Kind['start']>> | undefined
  beforeAll(async () => {
    if (!missing) started = await start()
  })
  afterAll(async () => {
    await started?.stop()
  })

  /** Two apps with one user, one service and one store, each with its own connection. */
  async function twoApps() {
    const standIn = standInService()
    const open = async () => tokenHost({ standIn, tokens: { store: (await started?.open()) ?? 'memory' } })
    return [await open(), await open()] as const
  }

  it.skipIf(missing)('R151: answers one of 200 right codes that arrive at once with tokens', async () => {
    const [one, other] = await twoApps()
    // A code that stays right, with limits that the two apps do not share: the reference alone decides.
    one.standIn.setApp('otto@example.com', '424242')
    const login = await begin(one, 'otto')
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) =>
        tokenClient((nth % 2 ? one : other).app, { login })
          .post('/mfa/verify')
          .send({ factor: 'app', code: '424242' }),
      ),
    )
    const signedIn = answers.filter(({ status }) => status === 200)
    expect(signedIn).toHaveLength(1)
    expect(Object.keys(signedIn[0]?.body)).toEqual(['access', 'refresh'])
    expect([...one.issued, ...other.issued]).toHaveLength(1)
    expect(answers.filter(({ body, status }) => status !== 200 && 'access' in body)).toEqual([])
  })

  it.skipIf(missing)('knows in one app what another has begun, ended or marked', async () => {
    const [one, other] = await twoApps()
    const login = await begin(one, 'bob')
    await tokenClient(other.app, { login }).post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = one.standIn.newestCode()
    const { body } = await tokenClient(one.app, { login }).post('/mfa/verify').send({ code }).expect(200)
    const { access } = body
    // The apps sign with one key, as processes of one app do.
    await tokenClient(other.app, { access }).post('/api/transfer').expect(200)
    await one.parts.account.secure(one.users.bob as never)
    expect(await one.parts.account.isEnded(payloadOf(access) ?? {})).toBe(true)
    await tokenClient(other.app, { access: body.refresh }).post('/auth/refresh').expect(401)
    expect((await tokenClient(other.app, { login }).get('/mfa')).status).toBe(401)
  })

  it.skipIf(missing)('keeps the largest login that can be under way', async () => {
    const [one] = await twoApps()
    const login = await begin(one, 'bob')
    await tokenClient(one.app, { login }).post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = one.standIn.newestCode()
    const { access } = (await tokenClient(one.app, { login }).post('/mfa/verify').send({ code }).expect(200))
      .body
    const long = 'ä'.repeat(200)
    const { body } = await tokenClient(one.app, { access })
      .post('/api/pay')
      .send({ to: long, amount: long })
      .expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', login: expect.any(String) })
  })
})
