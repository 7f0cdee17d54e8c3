import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { sessionCookie } from '../kit/cookies.js'
import { type RunningProcess, startProcess } from '../kit/process.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { begin, postJson } from '../kit/sockets.js'

const folder = import.meta.dirname

describe.skipIf(postgresMissing)('one app as four processes', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined

  beforeAll(async () => {
    postgres = await startPostgres()
    redis = redisMissing ? undefined : await startRedis()
  })
  afterAll(async () => {
    await redis?.stop()
    await postgres.stop()
  })

  async function fourPorts(name: 'postgres' | 'redis') {
    const started: RunningProcess[] = []
    // Their connections would add up to more than PostgreSQL takes.
    onTestFinished(async () => {
      await Promise.all(started.map((one) => one.stop()))
    })
    const env = { DATABASE_URL: postgres.url, LIMITS: name, ...(redis && { REDIS_URL: redis.url }) }
    const start = async () => {
      const one = await startProcess(['counting-app.mjs'], { folder, env, listens: /Listens on (http:\S+)/ })
      started.push(one)
      return Number(new URL(one.url).port)
    }
    // The first one creates the tables.
    return [await start(), ...(await Promise.all([start(), start(), start()]))]
  }

  it.each(['postgres', ...(redisMissing ? [] : ['redis' as const])] as const)(
    'evaluates five of a hundred wrong codes that arrive at once, with the limits in %s (R22, R28)',
    async (name) => {
      const ports = await fourPorts(name)
      const [first = 0] = ports
      const login = await postJson(first, '/login', { name })
      const cookie = sessionCookie(login)
      expect((await postJson(first, '/mfa/challenge', { factor: 'sms' }, cookie)).status).toBe(200)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, nth) =>
          postJson(ports[nth % 4] ?? first, '/mfa/verify', { code: '000000' }, cookie),
        ),
      )
      const codes = answers.map(({ body }) => body.code)
      expect(codes.filter((code) => code === 'invalid_code')).toHaveLength(5)
      expect(codes.filter((code) => code === 'challenge_exhausted')).toHaveLength(95)
      const evaluated = await Promise.all(
        ports.map(async (port) => {
          const { answer, finish } = begin(port, { method: 'GET', path: '/evaluated' })
          finish()
          return Number((await answer).body.count)
        }),
      )
      expect(evaluated.reduce((sum, count) => sum + count)).toBe(5)
    },
  )

  it.each(['postgres', ...(redisMissing ? [] : ['redis' as const])] as const)(
    'uses one of 200 approvals that arrive at once, with the limits in %s (R122)',
    async (name) => {
      const ports = await fourPorts(name)
      const [first = 0] = ports
      const bill = { amount: '250.00' }
      const login = await postJson(first, '/login', { name: `payer ${name}` })
      const pending = sessionCookie(login)
      await postJson(first, '/mfa/challenge', { factor: 'sms' }, pending)
      const cookie = sessionCookie(await postJson(first, '/mfa/verify', { code: '123456' }, pending))
      const asked = await postJson(first, '/pay', bill, cookie)
      const { id: approval } = asked.body.approval as { id: string }
      await postJson(first, '/mfa/challenge', { factor: 'sms', approval }, cookie)
      const given = await postJson(first, '/mfa/verify', { code: '123456', approval }, cookie)
      expect(given.body.status).toBe('approved')
      const approved = sessionCookie(given)
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, nth) => postJson(ports[nth % 4] ?? first, '/pay', bill, approved)),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      // The others found the approval used, or the request no longer open, and were asked again.
      const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => String(body.code))
      const expected = ['approval_ended', 'session_ended', 'step_up_required', 'too_many_approvals']
      expect(refused.filter((code) => !expected.includes(code))).toEqual([])
      expect(refused).toHaveLength(199)
    },
  )
})
