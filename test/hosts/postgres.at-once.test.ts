import connectPgSimple from 'connect-pg-simple'
import session from 'express-session'
import pg from 'pg'
import type { Test } from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen, postJson } from '../kit/sockets.js'
import { standInService } from '../kit/stand-in-service.js'
import { describeHost } from './describe-host.js'

const PgStore = connectPgSimple(session)

describe.skipIf(postgresMissing)('with PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  const pools: pg.Pool[] = []
  const stores: InstanceType<typeof PgStore>[] = []

  // A connection that is closing may still report that the server stopped.
  const open = () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 10 }).on('error', () => {})
    pools.push(pool)
    return pool
  }
  const storeIn = (pool: pg.Pool) => {
    const store = new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false })
    stores.push(store)
    return store
  }

  beforeAll(async () => {
    server = await startPostgres()
  })

  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await Promise.all(pools.map((pool) => pool.end()))
    await server.stop()
  })

  describeHost('Express 5, Passport 0.7 and connect-pg-simple', () => storeIn(open()))

  /** An app as another process runs it: it shares sessions and counters through the database, and nothing else. */
  const appOf = (standIn: ReturnType<typeof standInService>, prefix: string) => {
    const pool = open()
    return host({
      standIn,
      store: storeIn(pool),
      options: { limits: { store: { postgres: { pool }, prefix } } },
    })
  }

  async function twoApps(prefix: string) {
    const standIn = standInService()
    const apps = [appOf(standIn, prefix), appOf(standIn, prefix)] as const
    return { standIn, apps, ports: [await listen(apps[0].app), await listen(apps[1].app)] as const }
  }

  it('two apps together evaluate five of a hundred wrong codes, and then refuse the right one (R22, R28)', async () => {
    const { standIn, apps, ports } = await twoApps('guesses')
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob').expect(200))
    await postJson(ports[1], '/mfa/challenge', { factor: 'sms' }, cookie)
    await Promise.all(
      ports.flatMap((port) =>
        Array.from({ length: 50 }, () => postJson(port, '/mfa/verify', { code: '000000' }, cookie)),
      ),
    )
    expect(standIn.count('verify')).toBe(5)
    const port = await listen(appOf(standIn, 'guesses').app)
    const right = await postJson(port, '/mfa/verify', { code: standIn.newestCode() }, cookie)
    expect(right.body.code).toBe('challenge_exhausted')
  })

  it('two apps start one session for fifty right codes sent to each (R21)', async () => {
    const { standIn, apps, ports } = await twoApps('winners')
    const { verify: check } = standIn.service
    standIn.service.verify = async (request) => {
      await check(request)
      return { outcome: 'valid' }
    }
    const cookie = sessionCookie(await login(jsonAgent(apps[0].app), 'bob'))
    await postJson(ports[0], '/mfa/challenge', { factor: 'sms' }, cookie)
    const answers = await Promise.all(
      ports.flatMap((port) =>
        Array.from({ length: 50 }, () =>
          postJson(port, '/mfa/verify', { code: standIn.newestCode() }, cookie),
        ),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('a challenge and each page take one statement, a correct and a wrong code two (R28)', async () => {
    const pool = open()
    let statements = 0
    const counting = {
      query(statement: { readonly text: string; readonly values?: unknown[] }) {
        statements++
        return pool.query(statement)
      },
    }
    const store = { postgres: { pool: counting }, prefix: 'statements' }
    const { app, standIn } = host({ options: { limits: { store } } })
    const taken = async (request: Test) => {
      statements = 0
      const { status } = await request
      return [status, statements]
    }
    // The first statement looks for the table.
    await challenge(await signIn(app, 'alice'), 'sms')
    const browser = browserAgent(app)
    await login(browser, 'alice').type('form')
    expect(await taken(browser.get('/mfa?choose'))).toEqual([200, 1])
    expect(await taken(challenge(browser, 'email').type('form'))).toEqual([303, 1])
    expect(await taken(browser.get('/mfa/verify'))).toEqual([200, 1])
    expect(await taken(verify(browser, '000000').type('form'))).toEqual([303, 2])
    expect(await taken(browser.get('/mfa/verify'))).toEqual([200, 1])
    expect(await taken(verify(browser, standIn.newestCode()).type('form'))).toEqual([303, 2])
    await browser.get('/secret').expect(200)
  })

  it('two apps with different prefixes share one table, and no count', async () => {
    const standIn = standInService()
    const [shop, forum] = [appOf(standIn, 'shop'), appOf(standIn, 'forum')]
    for (let message = 0; message < 5; message++) {
      const agent = jsonAgent(shop.app)
      await login(agent, 'bob').expect(200)
      await challenge(agent, 'sms').expect(200)
    }
    await signInFully(forum, 'bob')
  })
})
