import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from '../src/cli/program.js'
import { examine } from '../src/operator/diagnose-store.js'
import { operator } from '../src/operator/operator.js'
import { keysFrom } from '../src/secrets/keys.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { describeOnBothDatabases } from './both-databases.js'
import { ACCOUNT, gateway, TOKEN } from './delivery/gateway.js'
import { mailServer } from './delivery/mail-server.js'
import { advance, DeliveryError, freshEmail, freshTenant, SECRET, stopClock, wrong } from './kit.js'

const OTHER = 'another secret for tests, long enough to be taken'
const OUTSIDE = { production: true, environmentKey: true }

describeOnBothDatabases((bench, database) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { store } = bench()
    const tables = await store.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration'",
    )
    await store.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} CASCADE`)
  })
  afterEach(() => vi.useRealTimers())

  const findings = async (keys = keysFrom(SECRET), about = OUTSIDE, store: Store = bench().store) =>
    (await examine(store, keys, about)).map((one) => `${one.state} ${one.about}: ${one.finding}`)
  const foundOf = async (about: string, ...rest: Parameters<typeof findings>) =>
    (await findings(...rest)).filter((one) => one.split(' ')[1] === `${about}:`)

  /** A store that says it is another one. */
  const posing = (as: { readonly version?: string; readonly clockMs?: number }): Store => ({
    ...bench().store,
    name: 'postgresql',
    async query(text, params) {
      const rows = await bench().store.query(text, params)
      if (!text.includes('server_version')) return rows as never
      return [{ version: as.version ?? '17.2', time: Date.now() + (as.clockMs ?? 0) }] as never
    },
  })

  test('a store without a fault is well in every point', async () => {
    const { store } = bench()
    await operator(store, 'ann').createApplication('vault')
    await operator(store, 'ann').createKey('vault', { mode: 'live' })
    const [first, ...others] = await findings(keysFrom(SECRET), { ...OUTSIDE, production: false })
    expect(first).toMatch(
      database === 'PGlite' ? /^well database: pglite \d/ : /^well database: postgresql 15/,
    )
    expect(others).toEqual([
      `well secrets: Everything is written with key ${keysFrom(SECRET).id}.`,
      'well deliveries: In 24 h 0 were sent and 0 reached nobody.',
      'well API keys: Every application has one.',
    ])
  })

  describe('the database', () => {
    test('is to be looked at when it is embedded, in production', async () => {
      const [found] = await findings()
      if (database === 'PGlite') expect(found).toMatch(/^look database: pglite .* Set DATABASE_URL/)
      else expect(found).toMatch(/^well database: postgresql/)
    })

    test('is wrong when it is older than PostgreSQL 15', async () => {
      for (const [version, state] of [
        ['14.20 (Debian 14.20-1)', 'wrong'],
        ['9.6', 'wrong'],
        ['15.0', 'well'],
        ['18beta1', 'well'],
      ]) {
        const [found] = await findings(undefined, undefined, posing({ version: version ?? '' }))
        expect(found).toContain(`${state} database: postgresql ${version}`)
      }
    })

    test('is to be looked at when its clock is two seconds or more from ours', async () => {
      for (const [clockMs, told] of [
        [2_000, 'look database: Its clock and ours differ by 2 s'],
        [-90_400, 'look database: Its clock and ours differ by 90 s'],
        [1_999, 'well database: postgresql'],
      ] as const) {
        expect((await findings(undefined, undefined, posing({ clockMs })))[0]).toContain(told)
      }
      if (database === 'PGlite') return
      stopClock()
      expect((await findings())[0]).toMatch(/^look database: Its clock .* Set up NTP/)
    })

    test('is left as it is when migrations wait, and nothing more is asked of it', async () => {
      const { store } = bench()
      const rows = await store.query<{ name: string }>('SELECT name FROM migration ORDER BY name')
      const waiting = rows.slice(-2).map(({ name }) => name)
      await store.query('DELETE FROM migration WHERE name = ANY ($1::text[])', [waiting])
      const found = await findings()
      const applied = await store.query('SELECT name FROM migration ORDER BY name')
      await store.query(
        'INSERT INTO migration (name, applied_at) SELECT name, 1 FROM unnest($1::text[]) AS name',
        [waiting],
      )
      expect(found.slice(1)).toEqual([
        `look migrations: ${waiting.join(', ')} must be applied: the service does it when it starts, or run migrate.`,
      ])
      expect(applied).toEqual(rows.slice(0, -2))
    })
  })

  describe('a secret', () => {
    const sendTo = async (email = freshEmail()) => {
      await freshTenant(bench()).mfa.send({ method: 'email', contact: email })
    }

    test('that nothing depends on any more may go', async () => {
      expect(await foundOf('secrets', keysFrom(SECRET, [OTHER]))).toEqual([
        expect.stringMatching(/^look secrets: SERVICE_SECRET_PREVIOUS is not needed any more/),
      ])
    })

    test('that is not known here, though the store depends on it, is wrong', async () => {
      await sendTo()
      expect(await foundOf('secrets', keysFrom(OTHER))).toEqual([
        `wrong secrets: 1 codes on their way depend on key ${keysFrom(SECRET).id}, which is unknown here: name its ` +
          'secret in SERVICE_SECRET_PREVIOUS.',
      ])
    })

    test('is moved by rotate-secrets where that can be done, and kept for codes', async () => {
      const { mfa } = freshTenant(bench())
      await mfa.enrollApp({ contact: freshEmail() })
      await mfa.sendBackupCodes({ method: 'email', contact: freshEmail() })
      const { id } = keysFrom(SECRET)
      expect(await foundOf('secrets', keysFrom(OTHER, [SECRET]))).toEqual([
        `look secrets: 1 authenticator secrets depend on key ${id}: run rotate-secrets.`,
        `look secrets: 10 backup codes depend on key ${id}: keep its secret in SERVICE_SECRET_PREVIOUS until they are ` +
          'used or renewed.',
      ])
    })
  })

  describe('deliveries', () => {
    const sent = async (...failures: DeliveryError[]) => {
      bench().failNext(...failures)
      await freshTenant(bench()).mfa.send({ method: 'email', contact: freshEmail() })
    }

    test('are to be looked at when a message is overdue by more than a minute', async () => {
      await sent(new DeliveryError('down', 'outage'))
      const [row] = await bench().store.query<{ due_at: number }>('SELECT due_at FROM outbox')
      vi.setSystemTime((row?.due_at ?? 0) + 60_000)
      expect((await foundOf('deliveries'))[0]).not.toContain('overdue')
      advance(0.001)
      expect(await foundOf('deliveries')).toEqual([
        'look deliveries: 1 messages are overdue: is a service running?',
      ])
    })

    test('are to be looked at when some wait because a carrier is down', async () => {
      await sent()
      await sent(new DeliveryError('down', 'outage'))
      expect(await foundOf('deliveries')).toEqual([
        'look deliveries: In 24 h 1 were sent and 0 reached nobody. Just now 1 wait for another try: a carrier is down. ' +
          'The command deliveries says which.',
      ])
    })

    test('are to be looked at when more than one in ten sent reached nobody, in a day', async () => {
      for (let i = 0; i < 10; i++) await sent()
      await sent(new DeliveryError('no such mailbox', 'contact'))
      expect(await foundOf('deliveries')).toEqual([
        'well deliveries: In 24 h 10 were sent and 1 reached nobody.',
      ])
      await sent(new DeliveryError('not for you', 'carrier'))
      expect(await foundOf('deliveries')).toEqual([
        'look deliveries: In 24 h 10 were sent and 2 reached nobody. The command deliveries says why.',
      ])
      advance(86_400)
      expect(await foundOf('deliveries')).toEqual([
        'well deliveries: In 24 h 0 were sent and 0 reached nobody.',
      ])
    })
  })

  test('an application without a live key is to be looked at, with one by the environment only when it is not default', async () => {
    const ops = operator(bench().store, 'ann')
    for (const name of ['default', 'tests-only', 'revoked', 'well']) await ops.createApplication(name)
    await ops.createKey('tests-only', { mode: 'test' })
    const { id } = await ops.createKey('revoked', { mode: 'live' })
    await ops.revokeKey('revoked', id)
    await ops.createKey('well', { mode: 'live' })
    const keyless = (name: string) =>
      `look API keys: "${name}" has no live key: make one with key create ${name}.`
    expect((await findings()).filter((one) => one.includes('API keys'))).toEqual(
      ['revoked', 'tests-only'].map(keyless),
    )
    const inside = await findings(keysFrom(SECRET), { production: true, environmentKey: false })
    expect(inside.filter((one) => one.includes('API keys'))).toEqual(
      ['default', 'revoked', 'tests-only'].map(keyless),
    )
  })

  test('it changes nothing', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.send({ method: 'email', contact })
    await tenant.mfa.verify({ method: 'email', contact, kind: 'code', code: wrong(tenant.lastCode()) })
    const all = async () => {
      const tables = [
        'account',
        'challenge',
        'outbox',
        'factor',
        'application',
        'sealing_key',
        'audit',
        'migration',
      ]
      return Promise.all(tables.map((table) => bench().store.query(`SELECT * FROM ${table}`)))
    }
    const before = await all()
    await findings(keysFrom(OTHER))
    expect(await all()).toEqual(before)
  })
})

describe('the command doctor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-doctor-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const doctor = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const said: Record<'out' | 'err', string[]> = { out: [], err: [] }
    const code = await run(['doctor', ...args], {
      env,
      out: (text) => void said.out.push(text),
      err: (text) => void said.err.push(text),
    })
    return { code, out: said.out.join('\n'), err: said.err.join('\n') }
  }
  const unreachable = {
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    SERVICE_SECRET: SECRET,
    SERVICE_DELIVERY: 'inbox',
  }

  test('tells what it can tell when the database cannot be reached, and that it cannot', async () => {
    const { code, out, err } = await doctor(unreachable)
    expect([code, err]).toEqual([1, 'error: Something is wrong: see above.'])
    expect(out).toMatch(/^well +settings +The service can start with them/m)
    expect(out).toMatch(/^wrong +database +The database \(DATABASE_URL\) cannot be used: .*ECONNREFUSED/m)
  })

  test('tells every fault of the settings, in one go and as JSON too', async () => {
    const env = { ...unreachable, SERVICE_PORT: 'x', SERVICE_MAX_TRIES: '99', NODE_ENV: 'production' }
    const { code, out } = await doctor(env, '--json')
    const found: { state: string; about: string; finding: string }[] = JSON.parse(out)
    expect([code, found.map(({ state, about }) => [state, about])]).toEqual([
      1,
      [
        ['wrong', 'settings'],
        ['wrong', 'settings'],
        ['wrong', 'database'],
      ],
    ])
    expect(found.map(({ finding }) => finding).join()).toMatch(/SERVICE_PORT.*SERVICE_MAX_TRIES/)
  })

  test('asks mail servers and gateways whether they can be reached and know us, and sends nothing', async () => {
    const [mails, texts] = [await mailServer(), await gateway()]
    const carriers = async (login: string, token: string) => {
      const email = `smtp://${login}@127.0.0.1:${mails.port}?from=a@b.example&tls=optional#post`
      const sms = `twilio://${ACCOUNT}:${encodeURIComponent(token)}@${texts.host}?from=Vault`
      const hook = 'http://127.0.0.1:1/never-asked'
      const SERVICE_DELIVERY = `email=${email}|inbox,sms=${sms},whatsapp=${hook},call=${hook}`
      const { out } = await doctor({ ...unreachable, SERVICE_DELIVERY }, '--json')
      const found: { about: string; state: string; finding: string }[] = JSON.parse(out)
      return found
        .filter(({ about }) => about === 'carriers')
        .map(({ state, finding }) => `${state} ${finding}`)
    }
    expect(await carriers('vault:p%25w%40rd', TOKEN)).toEqual([
      'well post can be reached and knows us.',
      'well twilio can be reached and knows us.',
    ])
    expect(await carriers('vault:wrong', 'wrong')).toEqual([
      expect.stringMatching(/^wrong post: .*535.* See its address, user and password/),
      expect.stringMatching(/^wrong twilio: The gateway answered 401.* See its address/),
    ])
    await Promise.all([mails.close(), texts.close()])
    expect(await carriers('vault:p%25w%40rd', TOKEN)).toEqual([
      expect.stringMatching(/^wrong post: .*It is down/),
      expect.stringMatching(/^wrong twilio: .*It is down/),
    ])
    expect([...mails.arrived, ...texts.requests]).toEqual([])
  })

  test('finds no tables in an empty store, and makes none', async () => {
    const dataDir = join(folder, 'data')
    const store = await openStore({ dataDir, asItIs: true })
    await store.close()
    const env = { DATA_DIR: dataDir, SERVICE_SECRET: SECRET }
    for (let i = 0; i < 2; i++) {
      const { code, out, err } = await doctor(env)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^look +migrations +The database has no tables yet: .*run migrate/m)
    }
  })

  test('says where there is no data folder, and what to give it when there is no secret', async () => {
    const nowhere = await doctor({ DATA_DIR: join(folder, 'nowhere') })
    expect([nowhere.code, nowhere.out]).toEqual([1, ''])
    expect(nowhere.err).toContain('There is no data folder')
    const { DATABASE_URL } = unreachable
    const without = await doctor({ DATABASE_URL, DATA_DIR: folder })
    expect([without.code, without.err]).toEqual([
      1,
      'error: SERVICE_SECRET is missing: give this command the variables that the service has.',
    ])
  })
})
