import { join } from 'node:path'
import { SCOPES } from 'countersign/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { missing } from '../../test/kit/debian-packages.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { run } from '../src/cli/program.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import { parseDelivery } from '../src/messages/carriers/delivery-option.js'
import { showActivity } from '../src/operator/activity.js'
import { diagnoseDeliveries } from '../src/operator/diagnose-sending.js'
import { diagnoseStore } from '../src/operator/diagnose-store.js'
import { operator } from '../src/operator/operator.js'
import { openStore } from '../src/store/open.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { Store } from '../src/store/store.js'
import { describeOnBothDatabases } from './both-databases.js'
import { CLIENT, startProvider, URL_OF_CONSOLE } from './console/identity-provider.js'
import { ACCOUNT, gateway, TOKEN } from './delivery/gateway.js'
import { mailServer } from './delivery/mail-server.js'
import { advance, DeliveryError, freshEmail, freshTenant, SECRET, stopClock, wrong } from './kit.js'

const OTHER = 'another secret for tests, long enough to be taken'
const PRODUCTION = { production: true, optionKey: SCOPES, applicationName: 'Vault' }

describeOnBothDatabases((bench, database) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { store, context } = bench()
    await context.activity.flush()
    const tables = await store.query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
       WHERE schemaname = '${store.schema}' AND tablename <> 'migration'`,
    )
    await store.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} CASCADE`)
  })
  afterEach(() => vi.useRealTimers())

  const diagnose = async (
    keys = deriveKeys(SECRET),
    service: Parameters<typeof diagnoseStore>[2] = PRODUCTION,
    store: Store = bench().store,
  ) => {
    await bench().context.activity.flush()
    return (await diagnoseStore(store, keys, service)).map(
      (one) => `${one.severity} ${one.subject}: ${one.message}`,
    )
  }
  const diagnosticsOf = async (subject: string, ...rest: Parameters<typeof diagnose>) =>
    (await diagnose(...rest)).filter((one) => one.includes(` ${subject}: `))

  /** The store, with another version or clock. */
  const pretending = (as: { readonly version?: string; readonly clockMs?: number }): Store => ({
    ...bench().store,
    name: 'postgresql',
    async query(text, params) {
      const rows = await bench().store.query(text, params)
      if (!/server_version|AS time$/.test(text)) return rows as never
      return [{ version: as.version ?? '17.2', time: Date.now() + (as.clockMs ?? 0) }] as never
    },
  })

  test('reports a store without anything wrong as ok where something happened, and as without data elsewhere', async () => {
    const { store } = bench()
    const ann = operator(store, 'ann')
    await ann.createApplication('vault', { name: 'Vault', countries: ['GB'] })
    await ann.createApplication('world', { name: 'World', countries: [] })
    for (const name of ['vault', 'world']) await ann.createKey(name, { mode: 'live' })
    const [first, ...others] = await diagnose(deriveKeys(SECRET), { ...PRODUCTION, production: false })
    expect(first).toMatch(database === 'PGlite' ? /^ok database: pglite \d/ : /^ok database: postgresql 15/)
    expect(others).toEqual([
      'no data secrets: Nothing was encrypted yet.',
      'no data deliveries: In the last 24 hours 0 messages were sent and 0 were not delivered.',
      'ok API keys: Every application has a live key. Applications: 2, keys: 2 and SERVICE_API_KEY.',
      'ok countries: Every application says which countries it serves; 1 of 2 serve all of them.',
      'no data traffic: In the last 24 hours 0 codes were sent to phones and 0 were typed: too few to judge by.',
    ])
  })

  test('reports nothing as ok while there are no applications', async () => {
    const found = await diagnose(deriveKeys(SECRET), { ...PRODUCTION, production: false })
    expect(found.filter((one) => one.startsWith('ok')).map((one) => one.split(':')[0])).toEqual([
      'ok database',
    ])
  })

  test('judges the codes to phones by those that were sent and typed in the last 24 hours (R103)', async () => {
    const { mfa, lastCode } = freshTenant(bench(), { limits: { minConversionPercent: 0 } })
    let phones = 0
    const send = async (count: number, typed: number) => {
      for (let i = 0; i < count; i++) {
        const phone = `+4474001${String(++phones).padStart(5, '0')}`
        const to = { method: 'sms', contact: { kind: 'phone', phone } } as const
        await mfa.send(to)
        if (i < typed) await mfa.verify({ ...to, kind: 'code', code: lastCode() })
      }
    }
    await send(3, 0)
    expect(await diagnosticsOf('traffic')).toEqual([
      'no data traffic: In the last 24 hours 3 codes were sent to phones and 0 were typed: too few to judge by.',
    ])
    await send(11, 0)
    expect(await diagnosticsOf('traffic')).toEqual([
      'warning traffic: In the last 24 hours 14 codes were sent to phones and 0 were typed, few of them in GB (0 of 14). ' +
        'It may be SMS pumping: see the traffic of the applications that send there.',
    ])
    await send(20, 20)
    expect(await diagnosticsOf('traffic')).toEqual([
      'ok traffic: In the last 24 hours 34 codes were sent to phones and 20 were typed.',
    ])
  })

  test('warns about applications whose users are shown a technical name', async () => {
    const ann = operator(bench().store, 'ann')
    await ann.createApplication('default')
    await ann.createApplication('shop')
    await ann.createApplication('named', { name: 'Named' })
    expect(await diagnosticsOf('names')).toEqual([
      'warning names: No name is set, so messages and authenticator apps show users the technical name of "shop": ' +
        'set one with app settings shop name=….',
    ])
    const { applicationName: _none, ...unnamed } = PRODUCTION
    expect((await diagnosticsOf('names', undefined, unnamed))[0]).toContain(
      'the technical name of "default" (as "Countersign"), "shop": set one with app settings default name=…, or SERVICE_APPLICATION_NAME',
    )
    await ann.changeSettings('shop', { set: { name: 'Shop' } })
    expect(await diagnosticsOf('names')).toEqual([])
  })

  test('reports relying parties that do not fit, and nothing while no application has one', async () => {
    const { store } = bench()
    const found = async () => (await diagnose()).filter((one) => one.includes(' security keys: '))
    expect(await found()).toEqual([])
    const ann = operator(store, 'ann')
    await ann.createApplication('keys', { relyingPartyId: 'keys.example', origin: 'www.keys.example' })
    expect(await found()).toEqual([
      'ok security keys: The relying parties fit their origins: keys.example for "keys".',
    ])
    const relyingPartyOrigins = ['https://keys.example.com', 'http://localhost:3000']
    await ann.changeSettings('keys', { set: { relyingPartyOrigins, origin: 'bank.example' }, unset: [] })
    expect(await found()).toEqual([
      expect.stringMatching(
        /^error security keys: "keys": browsers refuse keys of keys.example at https:\/\/keys.example.com:/,
      ),
      expect.stringMatching(
        /^error security keys: "keys": browsers refuse keys of keys.example at http:\/\/localhost:3000:/,
      ),
      expect.stringMatching(/^warning security keys: "keys": the pages at bank.example cannot use keys/),
      expect.stringMatching(
        /^warning security keys: "keys": http:\/\/localhost:3000 is an origin for development/,
      ),
    ])
    await ann.changeSettings('keys', { set: {}, unset: ['relyingPartyId', 'relyingPartyOrigins', 'origin'] })
  })

  test('warns about senders of applications that no carrier can use', async () => {
    const { store } = bench()
    await operator(store, 'ann').createApplication('bank', {
      smsFrom: 'Bank',
      emailFrom: 'codes@bank.example',
    })
    const { routes } = parseDelivery('email=smtp://mail.example?from=a@b.example,sms=inbox')
    expect(await diagnosticsOf('carriers', deriveKeys(SECRET), { ...PRODUCTION, routes })).toEqual([
      'warning carriers: The setting smsFrom of "bank" has no effect: sms is delivered by inbox. Add a carrier that can use it ' +
        'to SERVICE_DELIVERY, or unset it: app settings bank --unset smsFrom.',
    ])
    const ops = operator(store, 'ann', { keys: () => deriveKeys(SECRET) })
    await ops.setWebhook('bank', { url: 'https://bank.example/hook', channels: ['sms'] })
    expect(await diagnosticsOf('carriers', deriveKeys(SECRET), { ...PRODUCTION, routes })).toEqual([])
  })

  describe('the database', () => {
    test('warns about an embedded database in production', async () => {
      const [found] = await diagnose()
      if (database === 'PGlite') expect(found).toMatch(/^warning database: pglite .* Set DATABASE_URL/)
      else expect(found).toMatch(/^ok database: postgresql/)
    })

    test('reports a PostgreSQL older than 15 as an error', async () => {
      for (const [version, severity] of [
        ['14.20 (Debian 14.20-1)', 'error'],
        ['9.6', 'error'],
        ['15.0', 'ok'],
        ['18beta1', 'ok'],
      ]) {
        const [found] = await diagnose(undefined, undefined, pretending({ version: version ?? '' }))
        expect(found).toContain(`${severity} database: postgresql ${version}`)
      }
    })

    test('warns when its clock differs from ours by two seconds or more', async () => {
      stopClock()
      for (const [clockMs, expected] of [
        [2_000, 'warning database: The clocks of the database and of this machine differ by 2 s'],
        [-90_400, 'warning database: The clocks of the database and of this machine differ by 90 s'],
        [1_999, 'ok database: postgresql'],
      ] as const) {
        expect((await diagnose(undefined, undefined, pretending({ clockMs })))[0]).toContain(expected)
      }
      if (database === 'PGlite') return
      expect((await diagnose())[0]).toMatch(/^warning database: The clocks .* Set up NTP/)
    })

    test('warns about pending migrations, without applying them or checking anything else', async () => {
      const { store } = bench()
      const rows = await store.query<{ name: string; digest: string; version: string }>(
        'SELECT name, digest, version FROM migration ORDER BY name',
      )
      const pending = rows.map(({ name }) => name)
      await store.query('DELETE FROM migration WHERE name = ANY ($1::text[])', [pending])
      const found = await diagnose()
      const applied = await store.query('SELECT name FROM migration ORDER BY name')
      for (const { name, digest, version } of rows) {
        await store.query(
          'INSERT INTO migration (name, applied_at, digest, version) VALUES ($1, 1, $2, $3)',
          [name, digest, version],
        )
      }
      expect(found.slice(1)).toEqual([
        `warning migrations: ${pending.join(', ')} must be applied: start the service, which applies them, or run migrate.`,
      ])
      expect(applied).toEqual([])
    })
  })

  describe('the secrets', () => {
    const sendTo = async (email = freshEmail()) => {
      await freshTenant(bench()).mfa.send({ method: 'email', contact: email })
    }

    test('warn about a former secret that is no longer needed', async () => {
      expect(await diagnosticsOf('secrets', deriveKeys(SECRET, [OTHER]))).toEqual([
        expect.stringMatching(/^warning secrets: SERVICE_PREVIOUS_SECRETS is no longer needed/),
      ])
    })

    test('report an error when the store depends on an unknown secret', async () => {
      await sendTo()
      expect(await diagnosticsOf('secrets', deriveKeys(OTHER))).toEqual([
        `error secrets: 1 delivered codes depend on key ${deriveKeys(SECRET).id}, which is unknown: add its secret to ` +
          'SERVICE_PREVIOUS_SECRETS.',
        `error secrets: 1 hashes of accounts depend on key ${deriveKeys(SECRET).id}, which is unknown: add its secret to ` +
          'SERVICE_PREVIOUS_SECRETS.',
      ])
    })

    test('recommend rotate-secrets where it helps, and keeping the former secret for codes', async () => {
      const { mfa } = freshTenant(bench())
      await mfa.enrollApp({ contact: freshEmail() })
      await mfa.sendBackupCodes({ method: 'email', contact: freshEmail() })
      const { id } = deriveKeys(SECRET)
      expect(await diagnosticsOf('secrets', deriveKeys(OTHER, [SECRET]))).toEqual([
        `warning secrets: 1 authenticator secrets depend on key ${id}: run rotate-secrets.`,
        `warning secrets: 10 backup codes depend on key ${id}: keep its secret in SERVICE_PREVIOUS_SECRETS until they ` +
          'are used or renewed.',
        `warning secrets: 2 hashes of accounts depend on key ${id}: run rotate-secrets.`,
      ])
    })
  })

  describe('the deliveries', () => {
    const sent = async (...failures: DeliveryError[]) => {
      bench().failNext(...failures)
      await freshTenant(bench()).mfa.send({ method: 'email', contact: freshEmail() })
    }

    test('warn when a message is overdue by more than a minute', async () => {
      const { context } = bench()
      const outbox = { ...context.outbox, dispatch: async () => ({ outcome: 'queued' }) as const }
      const { application } = freshTenant(bench())
      const mfa = inProcessService({ ...context, outbox }, async () => application)
      await mfa.send({ method: 'email', contact: freshEmail() })
      const report = await showActivity(bench(), { period: 'day' })
      const [row] = await bench().store.query<{ created_at: number }>('SELECT created_at FROM outbox')
      // The clock stays, since the running outbox sends what is due, at a moment of its own.
      const messageAt = async (ms: number) =>
        (await diagnoseDeliveries(bench().store, report, (row?.created_at ?? 0) + ms)).message
      expect(await messageAt(60_000)).not.toContain('overdue')
      expect(await messageAt(60_001)).toBe('1 messages are overdue: check that a service is running.')
    })

    test('warn when messages wait because a carrier is down', async () => {
      await sent()
      await sent(new DeliveryError('down', 'outage'))
      expect(await diagnosticsOf('deliveries')).toEqual([
        'warning deliveries: In the last 24 hours 1 messages were sent and 0 were not delivered. 1 await another ' +
          'attempt: 1 by recording (outage). A process pauses a carrier after five outages in a row ' +
          '(countersign_carrier_paused).',
      ])
    })

    test('warn when more than one message in ten was not delivered within a day', async () => {
      for (let i = 0; i < 10; i++) await sent()
      // Handed over is not delivered.
      expect(await diagnosticsOf('deliveries')).toEqual([
        'no data deliveries: In the last 24 hours 10 messages were sent and 0 were not delivered. No carrier reports that ' +
          'one was delivered.',
      ])
      await sent(new DeliveryError('no such mailbox', 'contact'))
      expect(await diagnosticsOf('deliveries')).toEqual([
        'ok deliveries: In the last 24 hours 10 messages were sent and 1 were not delivered.',
      ])
      await sent(new DeliveryError('Not for you.', 'carrier'))
      expect(await diagnosticsOf('deliveries')).toEqual([
        'warning deliveries: In the last 24 hours 10 messages were sent and 2 were not delivered. recording refused ' +
          '1: Not for you. The command deliveries shows why.',
      ])
      advance(86_400)
      expect(await diagnosticsOf('deliveries')).toEqual([
        'no data deliveries: In the last 24 hours 0 messages were sent and 0 were not delivered.',
      ])
    })
  })

  test('warns about applications that serve the phone numbers of every country (R103)', async () => {
    const ops = operator(bench().store, 'ann')
    for (const name of ['default', 'old']) await ops.createApplication(name)
    await ops.createApplication('named', { countries: ['GB'] })
    await ops.createApplication('everywhere', { countries: [] })
    const [found] = await diagnosticsOf('countries')
    expect(found).toMatch(
      /^warning countries: No countries are set for "default", "old": .*SERVICE_HOME_COUNTRY/,
    )
    const home = { ...PRODUCTION, homeCountry: 'GB' }
    expect((await diagnosticsOf('countries', undefined, home))[0]).toMatch(
      /^warning countries: No countries are set for "old": .*app settings old countries=GB,DE, or accept/,
    )
    await ops.changeSettings('old', { set: { countries: [] } })
    expect(await diagnosticsOf('countries', undefined, home)).toEqual([
      'ok countries: Every application says which countries it serves; 2 of 4 serve all of them.',
    ])
  })

  test('warns about each application without a live key; a key in the environment counts for the application default', async () => {
    const ops = operator(bench().store, 'ann')
    for (const name of ['default', 'tests-only', 'revoked', 'ok']) await ops.createApplication(name)
    await ops.createKey('tests-only', { mode: 'test' })
    const { id } = await ops.createKey('revoked', { mode: 'live' })
    await ops.revokeKey('revoked', id)
    await ops.createKey('ok', { mode: 'live' })
    const keyless = (name: string) =>
      `warning API keys: The application "${name}" has no live key: create one with key create ${name}.`
    expect((await diagnose()).filter((one) => one.includes('API keys'))).toEqual(
      ['revoked', 'tests-only'].map(keyless),
    )
    const withoutKey = await diagnose(deriveKeys(SECRET), { production: true })
    expect(withoutKey.filter((one) => one.includes('API keys'))).toEqual(
      ['default', 'revoked', 'tests-only'].map(keyless),
    )
    const reading = await diagnosticsOf('API keys', undefined, { ...PRODUCTION, optionKey: ['read'] })
    expect(reading[0]).toMatch(/^warning API keys: No live key of "default" has the scope verify or enroll/)
  })

  test('changes nothing', async () => {
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
    await diagnose(deriveKeys(OTHER))
    expect(await all()).toEqual(before)
  })
})

describe('the command doctor', () => {
  const { path: folder, remove } = temporaryFolder()
  afterEach(remove)

  const doctor = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const printed: Record<'out' | 'err', string[]> = { out: [], err: [] }
    const code = await run(['doctor', ...args], {
      env,
      out: (text) => void printed.out.push(text),
      err: (text) => void printed.err.push(text),
    })
    return { code, out: printed.out.join('\n'), err: printed.err.join('\n') }
  }
  const unreachable = {
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    SERVICE_SECRET: SECRET,
    SERVICE_DELIVERY: 'inbox',
  }

  test('checks the rest when the database is unreachable, and reports that', async () => {
    const { code, out, err } = await doctor(unreachable)
    expect([code, err]).toEqual([1, 'error: The doctor found errors, which are listed above.'])
    expect(out).toMatch(/^ok +settings +The service can start with them/m)
    expect(out).toMatch(/^error +database +The database \(DATABASE_URL\) cannot be used: .*ECONNREFUSED/m)
  })

  test('calls pocketsphinx a demonstration, and says when the selected engine is not installed', async () => {
    const about = async (SERVICE_TRANSCRIBER: string) => {
      const { out } = await doctor({ ...unreachable, SERVICE_TRANSCRIBER }, '--json')
      const found: { subject: string; severity: string; message: string }[] = JSON.parse(out)
      const { severity, message } = found.find(({ subject }) => subject === 'transcription') ?? {}
      return `${severity} ${message}`
    }
    expect(await about('off')).toBe('ok There is no engine: transcription is off.')
    if (missing('ffmpeg', 'pocketsphinx', 'pocketsphinx-en-us') !== undefined) return
    expect(await about('auto')).toMatch(/^warning pocketsphinx is a demonstration: .*SERVICE_TRANSCRIBER/)
    expect(await about('https://speech.example')).toBe('ok The engine is speech.example.')
  })

  test('prints the bound for guessing a code that follows from the limits (R26, R96)', async () => {
    const { out } = await doctor(unreachable)
    expect(out).toContain('100 × 2 ÷ 10⁶ = 2·10⁻⁴')
  })

  test('lists every fault of the settings at once, also as JSON', async () => {
    const env = {
      ...unreachable,
      SERVICE_PORT: 'x',
      SERVICE_ATTEMPTS_PER_CHALLENGE: '99',
      NODE_ENV: 'production',
    }
    const { code, out } = await doctor(env, '--json')
    const found: { severity: string; subject: string; message: string }[] = JSON.parse(out)
    expect([code, found.map(({ severity, subject }) => [severity, subject])]).toEqual([
      1,
      [
        ['error', 'settings'],
        ['error', 'settings'],
        ['error', 'database'],
      ],
    ])
    expect(found.map(({ message }) => message).join()).toMatch(/SERVICE_PORT.*SERVICE_ATTEMPTS_PER_CHALLENGE/)
  })

  test('checks whether mail servers and gateways are reachable and accept the credentials, and sends nothing', async () => {
    const [mails, texts] = [await mailServer(), await gateway()]
    const carriers = async (login: string, token: string) => {
      const email = `smtp://${login}@127.0.0.1:${mails.port}?from=a@b.example&tls=optional#post`
      const sms = `twilio://${ACCOUNT}:${encodeURIComponent(token)}@${texts.host}?from=Vault`
      const hook = 'http://127.0.0.1:1/never-asked'
      const SERVICE_DELIVERY = `email=${email}|inbox,sms=${sms},whatsapp=${hook},call=${hook}`
      const { out } = await doctor({ ...unreachable, SERVICE_DELIVERY }, '--json')
      const found: { subject: string; severity: string; message: string }[] = JSON.parse(out)
      return found
        .filter(({ subject }) => subject === 'carriers')
        .map(({ severity, message }) => `${severity} ${message}`)
    }
    const unreported = expect.stringMatching(/^no data No carrier reports what became of a message/)
    expect(await carriers('vault:p%25w%40rd', TOKEN)).toEqual([
      'ok post is reachable and accepts the credentials.',
      'ok twilio is reachable and accepts the credentials.',
      unreported,
    ])
    expect(await carriers('vault:wrong', 'wrong')).toEqual([
      expect.stringMatching(
        /^error post: .*refuses the user.*535.* Check user and password in SERVICE_DELIVERY/,
      ),
      expect.stringMatching(/^error twilio: The gateway answered 401.* Check its address/),
      unreported,
    ])
    await Promise.all([mails.close(), texts.close()])
    expect(await carriers('vault:p%25w%40rd', TOKEN)).toEqual([
      expect.stringMatching(/^error post: .*It is down/),
      expect.stringMatching(/^error twilio: .*It is down/),
      unreported,
    ])
    expect([...mails.arrived, ...texts.requests]).toEqual([])
  })

  test('checks whether the identity provider is reachable, and takes client id and secret', async () => {
    const provider = await startProvider('client_secret_basic')
    const about = async (more: Readonly<Record<string, string>> = {}) => {
      const env = {
        ...{
          SERVICE_CONSOLE: 'true',
          SERVICE_CONSOLE_URL: URL_OF_CONSOLE,
          SERVICE_CONSOLE_OIDC_ADMINS: 'board',
        },
        ...{ SERVICE_CONSOLE_OIDC_ISSUER: provider.issuer, SERVICE_CONSOLE_OIDC_AMR: 'mfa' },
        ...{ SERVICE_CONSOLE_OIDC_CLIENT_ID: CLIENT.id, SERVICE_CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret },
      }
      const { out } = await doctor({ ...unreachable, ...env, ...more }, '--json')
      const found: { subject: string; severity: string; message: string }[] = JSON.parse(out)
      const { severity, message } = found.find(({ subject }) => subject === 'identity provider') ?? {}
      return `${severity} ${message}`
    }
    expect(await about()).toBe(`ok ${provider.issuer} takes the client of the console.`)
    for (const wrong of [
      { SERVICE_CONSOLE_OIDC_CLIENT_SECRET: 'the secret of last year' },
      { SERVICE_CONSOLE_OIDC_CLIENT_ID: 'unknown' },
    ])
      expect(await about(wrong)).toMatch(
        /^error http:.* refuses the console with invalid_client: .*may have expired/,
      )
    provider.close()
    expect(await about()).toMatch(/^error http:.* cannot be reached.*fetch failed.*OIDC_ISSUER/)
    const { out } = await doctor(unreachable)
    expect(out).not.toContain('identity provider')
  })

  test('warns about a store without tables, and creates none', async () => {
    const dataDir = join(folder, 'data')
    const store = await openStore({ dataDir, migrations: 'skip' })
    await store.close()
    const env = { DATA_DIR: dataDir, SERVICE_SECRET: SECRET }
    for (let i = 0; i < 2; i++) {
      const { code, out, err } = await doctor(env)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^warning +migrations +The database has no tables yet: .*run migrate/m)
    }
  })

  test('names the missing data folder, and explains a missing secret', async () => {
    const nowhere = await doctor({ DATA_DIR: join(folder, 'nowhere') })
    expect([nowhere.code, nowhere.out]).toEqual([1, ''])
    expect(nowhere.err).toContain('/nowhere does not exist')
    expect(nowhere.err).toContain(
      'Before the first start of the service, create the folder with: countersign-service migrate',
    )
    const { DATABASE_URL } = unreachable
    const without = await doctor({ DATABASE_URL, DATA_DIR: folder })
    expect([without.code, without.err]).toEqual([
      1,
      'error: SERVICE_SECRET is missing: run this command with the environment variables of the service.',
    ])
  })
})
