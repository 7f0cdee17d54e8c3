import { RedisStore } from 'connect-redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, host, jsonAgent, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen, postJson } from '../kit/sockets.js'
import { standInService } from '../kit/stand-in-service.js'
import { tripCountingProxy } from '../kit/trip-counting-proxy.js'
import { describeHost } from './describe-host.js'

describe.skipIf(redisMissing)('with Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  let shared: Awaited<ReturnType<typeof redis.connect>>

  beforeAll(async () => {
    redis = await startRedis()
    shared = await redis.connect()
  })

  afterAll(() => redis.stop())

  describeHost('Express 5, Passport 0.7 and connect-redis', () => new RedisStore({ client: shared }))

  /** One app as two processes run it: they share sessions and counters through Redis, and nothing else. */
  async function twoApps(redisPort = redis.port) {
    await shared.flushAll()
    const standIn = standInService()
    const make = async () => {
      const client = await redis.connect(redisPort)
      return host({
        standIn,
        store: new RedisStore({ client, prefix: 'app:' }),
        options: { limits: { store: { redis: client } } },
      })
    }
    const apps = [await make(), await make()] as const
    const ports = [await listen(apps[0].app), await listen(apps[1].app)] as const
    return { standIn, apps, ports, make }
  }

  it('two apps together evaluate five of two hundred wrong codes, and a third one refuses the right one (R22, R28)', async () => {
    const { standIn, apps, ports, make } = await twoApps()
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob').expect(200))
    await postJson(ports[1], '/mfa/challenge', { factor: 'sms' }, cookie)
    const answers = await Promise.all(
      ports.flatMap((port) =>
        Array.from({ length: 100 }, () => postJson(port, '/mfa/verify', { code: '000000' }, cookie)),
      ),
    )
    expect(standIn.count('verify')).toBe(5)
    expect(answers.filter(({ body }) => body.code === 'invalid_code')).toHaveLength(5)
    expect(answers.filter(({ body }) => body.code === 'challenge_exhausted')).toHaveLength(195)
    // A process that has just started refuses the right code, too.
    const port = await listen((await make()).app)
    const right = await postJson(port, '/mfa/verify', { code: standIn.newestCode() }, cookie)
    expect(right.body.code).toBe('challenge_exhausted')
    expect(standIn.count('verify')).toBe(5)
  })

  it('two apps together evaluate at most ten of two hundred wrong codes in forty sessions, and both lock the account (R23, R32)', async () => {
    const { standIn, apps, ports } = await twoApps()
    const cookies = await Promise.all(
      Array.from({ length: 40 }, async () => sessionCookie(await login(jsonAgent(apps[0].app), 'otto'))),
    )
    await Promise.all(
      cookies.flatMap((cookie) =>
        Array.from({ length: 5 }, (_, number) =>
          postJson(ports[number % 2 === 0 ? 0 : 1], '/mfa/verify', { code: '000000', factor: 'app' }, cookie),
        ),
      ),
    )
    // Codes in evaluation count for the lock, too, so it may come a little early, but never late.
    expect(standIn.count('verify')).toBeLessThanOrEqual(10)
    expect(standIn.count('verify')).toBeGreaterThan(5)
    for (const port of ports) {
      const answer = await postJson(port, '/mfa/verify', { code: '123456', factor: 'app' }, cookies[39])
      expect(answer.status).toBe(429)
      expect(answer.body.code).toBe('locked')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(29 * 60)
    }
  })

  it('two apps start one session for a hundred right codes sent to each (R21)', async () => {
    const { standIn, apps, ports } = await twoApps()
    const { verify: check } = standIn.service
    standIn.service.verify = async (request) => {
      await check(request)
      return { outcome: 'valid' }
    }
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob'))
    await postJson(ports[0], '/mfa/challenge', { factor: 'sms' }, cookie)
    const answers = await Promise.all(
      ports.flatMap((port) =>
        Array.from({ length: 100 }, () =>
          postJson(port, '/mfa/verify', { code: standIn.newestCode() }, cookie),
        ),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1)
  })

  it('two apps together send five messages for sixty logins (R43)', async () => {
    const { standIn, apps, ports } = await twoApps()
    await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob'))
        await postJson(ports[number % 2 === 0 ? 0 : 1], '/mfa/challenge', { factor: 'sms' }, cookie)
      }),
    )
    expect(standIn.count('send')).toBe(5)
  })

  /** Two apps behind a proxy, and a function that counts the commands and round trips of some work. */
  async function observedApps() {
    const proxy = await tripCountingProxy(redis.port)
    const made = await twoApps(proxy.port)
    // The first sign-in loads the scripts.
    const first = browserAgent(made.apps[0].app)
    await login(first, 'dora').type('form')
    await first.get('/mfa?choose').expect(200)
    await challenge(first, 'dual').type('form').expect(303)
    await verify(first, '000000').type('form').expect(303)
    await verify(first, made.standIn.newestCode()).type('form').expect(303)
    const lines: string[] = []
    await (await redis.connect()).monitor((line) => lines.push(line.toString()))
    const observed = async <Result>(work: () => PromiseLike<Result>) => {
      lines.length = 0
      proxy.take()
      const result = await work()
      const trips = proxy.take()
      await shared.echo('the end')
      await expect.poll(() => lines.at(-1)).toContain('the end')
      const sent = lines.slice(0, -1).filter((line) => !line.includes(' lua]'))
      return { result, trips, commands: sent.map((line) => /\] "(\w+)"/.exec(line)?.[1]?.toLowerCase()) }
    }
    return { ...made, observed }
  }

  it('a challenge takes four commands and a verify six, both in four round trips', async () => {
    const { standIn, apps, ports, observed } = await observedApps()
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob'))
    const challenged = await observed(() => postJson(ports[0], '/mfa/challenge', { factor: 'sms' }, cookie))
    expect(challenged.result.status).toBe(200)
    // The session is loaded, the message is counted; after the service, the session is compared with the store and saved.
    expect(challenged.commands).toEqual(['get', 'evalsha', 'get', 'set'])
    expect(challenged.trips).toBe(4)
    const code = standIn.newestCode()
    const verified = await observed(() => postJson(ports[0], '/mfa/verify', { code }, cookie))
    expect(verified.result.status).toBe(200)
    // The approval is acquired while the session is compared, and the old session is deleted while the new one is saved.
    expect(verified.commands).toEqual(['get', 'evalsha', 'evalsha', 'get', 'del', 'set'])
    expect(verified.trips).toBe(4)
  })

  it('a page takes three commands, one after the other, and a wrong code five, in four round trips', async () => {
    const { apps, observed, standIn } = await observedApps()
    const browser = browserAgent(apps[0].app)
    await login(browser, 'alice').type('form')
    const factors = await observed(() => browser.get('/mfa?choose'))
    // The session, the limits, and the session store's own renewal of the session.
    const page = { trips: 3, commands: ['get', 'evalsha', 'expire'] }
    expect(factors.result.text).toContain('value="sms"')
    expect(factors).toMatchObject(page)
    await challenge(browser, 'sms').type('form')
    const entry = await observed(() => browser.get('/mfa/verify'))
    expect(entry.result.text).toContain('name="code"')
    expect(entry).toMatchObject(page)
    const wrong = await observed(() => verify(browser, '000000').type('form'))
    expect(wrong.result.status).toBe(303)
    // The session is compared with the store while the wrong code is recorded; the refusal is shown after a redirect.
    expect(wrong.commands).toEqual(['get', 'evalsha', 'evalsha', 'get', 'set'])
    expect(wrong.trips).toBe(4)
    const refused = await observed(() => browser.get('/mfa/verify'))
    expect(refused).toMatchObject(page)
    await verify(browser, standIn.newestCode()).type('form').expect(303)
  })

  it('a user can start to sign in at one app and finish at the other', async () => {
    const { standIn, apps, ports } = await twoApps()
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob'))
    await postJson(ports[0], '/mfa/challenge', { factor: 'sms' }, cookie)
    const done = await postJson(ports[1], '/mfa/verify', { code: standIn.newestCode() }, cookie)
    expect(done.status).toBe(200)
    const verified = sessionCookie(done)
    await jsonAgent(apps[0].app).get('/secret').set('Cookie', verified).expect(200)
    await jsonAgent(apps[1].app).get('/secret').set('Cookie', cookie).expect(401)
  })
})

describe.skipIf(redisMissing)('with a Redis that stops', () => {
  it('every route that counts responds with a 503 at once, and evaluates nothing (R09, R77)', async () => {
    const redis = await startRedis()
    try {
      const client = await redis.connect()
      const { app, standIn } = host({ options: { limits: { store: { redis: client } } } })
      const agent = await signIn(app, 'alice')
      await challenge(agent, 'sms').expect(200)
      await redis.kill()
      const calls = standIn.calls.length
      for (const [path, body] of [
        ['/mfa/verify', { code: standIn.newestCode() }],
        ['/mfa/verify', { code: '123456', factor: 'app' }],
        ['/mfa/challenge', { factor: 'email' }],
      ] as const) {
        const answer = await agent.post(path).send(body).timeout(3_000)
        expect(answer.status).toBe(503)
        expect(answer.body.code).toBe('service_unavailable')
        expect(answer.text).not.toMatch(/redis/i)
      }
      expect(standIn.calls).toHaveLength(calls)
      await agent.get('/secret').expect(401)
    } finally {
      await redis.stop()
    }
  })
})
