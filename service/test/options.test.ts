import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ConfigurationError,
  createService,
  developmentSecret,
  readEnvironment,
} from '@countersign/service'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { NOTICES } from '../src/accounts/application.js'
import { clientNetwork } from '../src/messages/contacts/client-network.js'
import { refusePhone } from '../src/messages/contacts/phone.js'
import { readOptions, type ServiceOptions } from '../src/run/options.js'
import { openStore } from '../src/store/open.js'
import { rejection, SECRET } from './kit.js'

afterEach(() => vi.unstubAllEnvs())

function faultsOf(options: unknown): readonly string[] {
  try {
    readOptions(options as ServiceOptions)
  } catch (error) {
    return (error as ConfigurationError).faults
  }
  return []
}

describe('options', () => {
  test('are completed with the default of every limit', () => {
    const { limits, applicationName, locale } = readOptions({ secret: SECRET, delivery: 'inbox' })
    expect({ applicationName, locale }).toEqual({ applicationName: 'Countersign', locale: 'en' })
    expect(limits).toMatchObject({
      codeDigits: 6,
      codeLifetimeMs: 300_000,
      attemptsPerChallenge: 5,
      failuresBeforeLock: 10,
      lockDurationMs: 1_800_000,
      failuresBeforeDisable: 100,
    })
  })

  test('take durations as text with a unit or in milliseconds', () => {
    const limitsOf = (limits: ServiceOptions['limits']) =>
      readOptions({ secret: SECRET, delivery: 'inbox', limits }).limits
    for (const lockDuration of ['1h', '60m', '3600s', 3_600_000] as const) {
      expect(limitsOf({ lockDuration }).lockDurationMs).toBe(3_600_000)
    }
    expect(limitsOf({ lockDuration: '1d' }).lockDurationMs).toBe(86_400_000)
    expect(limitsOf({ codeLifetime: 60_000 }).codeLifetimeMs).toBe(60_000)
  })

  test('refuse a limit outside of its range', () =>
    everyCase(
      [
        ['lockDuration', 'an hour'],
        ['lockDuration', '1.5h'],
        ['lockDuration', '25h'],
        ['codeLifetime', 59_999],
        ['codeLifetime', '1 m'],
        ['codeLifetime', Number.NaN],
        ['codeLifetime', Number.POSITIVE_INFINITY],
        ['codeLifetime', null],
        ['codeDigits', '6'],
      ],
      ([name, value]) => {
        expect(faultsOf({ secret: SECRET, delivery: 'inbox', limits: { [name]: value } })).toEqual([
          expect.stringMatching(
            new RegExp(`^${name} must be a (duration|whole number of digits) from \\d+m? to \\d+[mh]?[ ,]`),
          ),
        ])
      },
    ))

  test('report all faults together, each with what is expected (R18)', async () => {
    const error = await rejection(
      createService({
        secret: 'short',
        delivery: 'email=pigeon://x,fax=inbox',
        databaseUrl: 'mysql://x',
        apiKey: 'with space in it long',
        applicationName: '',
        origin: 'https://vault.example',
        limits: { attemptsPerChallenge: 50, lockDuration: '1s', codeDigits: 4.5 },
        colour: 'red',
      } as ServiceOptions),
    )
    expect(error).toMatchObject({ code: 'ERR_SERVICE_OPTIONS', name: 'ConfigurationError' })
    for (const word of [
      'secret',
      'pigeon:',
      'fax',
      'databaseUrl',
      'apiKey',
      'applicationName',
      'origin',
      'attemptsPerChallenge',
      'lockDuration',
      'codeDigits',
      'colour',
    ]) {
      expect(error.message).toContain(word)
    }
    expect(error.message).not.toContain('short')
  })

  test('refuse what is no object', () =>
    everyCase([[undefined], [null], [5], [{}], [[]]], ([options]) => {
      expect(faultsOf(options).length).toBeGreaterThan(0)
    }))

  test('allow an undefined secret in their type, but not when the service starts', () => {
    const options: ServiceOptions = {
      databaseUrl: process.env.NONE,
      secret: process.env.NONE,
      delivery: 'inbox',
    }
    expect(faultsOf(options)).toEqual([
      expect.stringMatching(/^secret must be text: .*is SERVICE_SECRET set/),
    ])
  })

  test('without a store lead to a warning that data is lost, unless memory is requested', async () => {
    const warningsOf = async (place: { dataDir?: string }) => {
      const events: string[] = []
      const logger = ({ event }: { readonly event: string }) => void events.push(event)
      await (await createService({ ...place, secret: SECRET, delivery: 'inbox', logger })).close()
      return events
    }
    expect(await warningsOf({})).toContain('store.memory')
    expect(await warningsOf({ dataDir: 'memory://' })).not.toContain('store.memory')
  })

  test('lead to a warning in production when every country is served, and to none with a home country (R103)', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const warningsOf = async (delivery: string, homeCountry?: string) => {
      const found: string[] = []
      const logger = ({ event, detail = '' }: { readonly event: string; readonly detail?: string }) => {
        if (event === 'countries.unrestricted') found.push(detail)
      }
      await (await createService({ secret: SECRET, delivery, homeCountry, logger })).close()
      return found
    }
    const [unrestricted] = await warningsOf('https://hook.example')
    expect(unrestricted).toMatch(/^No countries are set for "default": .*SERVICE_HOME_COUNTRY/)
    expect(await warningsOf('https://hook.example', 'GB')).toEqual([])
    expect(await warningsOf('smtp://mail.example?from=a@vault.example')).toEqual([])
    expect(faultsOf({ secret: SECRET, delivery: 'https://hook.example', homeCountry: 'Britain' })).toEqual([
      'homeCountry must be an ISO code of two capital letters, such as GB.',
    ])
  })

  test('refuse a secret in production that repeats a few characters', async () => {
    const isWeak = (secret: string) => faultsOf({ secret, delivery: 'https://hook.example' }).join()
    const weak = ['a'.repeat(44), 'password'.repeat(4), '1234567890'.repeat(4), 'ab'.repeat(40)]
    const random = [
      Array.from({ length: 32 }, () => randomInt(10)).join(''),
      randomBytes(16).toString('hex'),
      randomBytes(32).toString('base64'),
    ]
    for (const secret of weak) expect(isWeak(secret)).toBe('')
    vi.stubEnv('NODE_ENV', 'production')
    await everyCase(weak, (secret) => {
      expect(isWeak(secret)).toContain('secret repeats a few characters, so it can be guessed: use 32 random')
      expect(isWeak(secret)).not.toContain(secret)
    })
    await everyCase(random, (secret) => expect(isWeak(secret)).toBe(''))
  })

  test('refuse the inbox in production', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(faultsOf({ secret: SECRET, delivery: 'inbox' }).join()).toContain('in production')
    expect(
      faultsOf({ secret: SECRET, delivery: { email: 'smtp://x?from=a@b.example', sms: 'inbox' } }).join(),
    ).toContain('in production')
    expect(faultsOf({ secret: SECRET, delivery: 'https://hook.example' })).toEqual([])
  })
})

describe('the environment', () => {
  const { path: folder, remove } = temporaryFolder()
  afterEach(remove)

  test('explains in one sentence that a data folder cannot be used', async () => {
    const parent = temporaryFolder()
    const file = join(parent.path, 'file')
    writeFileSync(file, 'no folder')
    const refused = {
      code: 'ERR_SERVICE_OPTIONS',
      faults: [expect.stringMatching(/^The data folder \(DATA_DIR\) cannot/)],
    }
    expect(() => developmentSecret(file)).toThrow(expect.objectContaining(refused))
    expect(await rejection(openStore({ dataDir: file }))).toMatchObject(refused)
    parent.remove()
  })

  test('needs no variables outside production: a secret is created once, readable only by its owner', () => {
    const first = readEnvironment({ DATA_DIR: folder }, { dataDir: '.data' })
    expect(first.port).toBe(4000)
    expect(first.options).toMatchObject({ dataDir: folder, delivery: 'inbox' })
    expect(first.warnings.join()).toContain('SERVICE_SECRET')
    expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'secret'), 'utf8').trim()).toBe(first.options.secret)
    expect(developmentSecret(folder)).toBe(first.options.secret)
  })

  test('must contain secret and delivery in production', () => {
    const read = () => readEnvironment({ NODE_ENV: 'production', SERVICE_PORT: 'http' }, { dataDir: folder })
    expect(read).toThrow(/SERVICE_PORT[\s\S]*SERVICE_SECRET[\s\S]*SERVICE_DELIVERY/)
  })

  test('reports everything that is wrong at once, by the names of the variables', () => {
    const wrong = {
      NODE_ENV: 'production',
      SERVICE_PORT: 'http',
      SERVICE_DATABASE_POOL_SIZE: '0',
      SERVICE_REQUEST_TIMEOUT: '1s',
      SERVICE_ATTEMPTS_PER_CHALLENGE: '99',
      DATABASE_URL: 'mysql://x',
      SERVICE_SECRET: 'short',
      SERVICE_PREVIOUS_SECRETS: 'short',
      SERVICE_API_KEY: 'short',
      SERVICE_APPLICATION_NAME: 'x'.repeat(41),
      SERVICE_ORIGIN: 'https://vault.example',
      SERVICE_DELIVERY: 'sms=smtp://mail.example',
      SERVICE_WEBHOOK_SECRET: 'short',
      SERVICE_PUBLIC_URL: 'vault.example',
      SERVICE_METRICS_KEY: 'short',
      SERVICE_TRANSCRIBER: 'magic',
      SERVICE_TRANSCRIBE_HOSTS: 'http://a/b',
    }
    let faults: readonly string[] = []
    try {
      readEnvironment(wrong, { dataDir: folder })
    } catch (error) {
      faults = (error as ConfigurationError).faults
    }
    const { NODE_ENV: _mode, ...named } = wrong
    expect(faults.map((fault) => fault.split(/[ .]/)[0]).sort()).toEqual(Object.keys(named).sort())
  })

  test('names variables that it does not know, and those that they resemble', () => {
    const env = {
      SERVICE_SECRET: SECRET,
      SERVICE_LOCALES: 'de',
      SERVICE_FLUX: '1',
      SERVICE_ATTEMPT_PER_CHALLENGE: '3',
    }
    expect(() => readEnvironment(env, { dataDir: folder })).toThrow(
      /SERVICE_ATTEMPT_PER_CHALLENGE is .*: did you mean SERVICE_ATTEMPTS_PER_CHALLENGE\?\n.*SERVICE_FLUX is not a variable of the service\.\n.*SERVICE_LOCALES is .*: did you mean SERVICE_LOCALE\?/,
    )
  })

  test('accepts tags of supported languages only', () => {
    const read = (SERVICE_LOCALE: string) =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_LOCALE }, { dataDir: folder }).options.locale
    expect(read('pt-BR')).toBe('pt-BR')
    expect(() => read('zz')).toThrow('SERVICE_LOCALE must be a tag of one of the languages ar, de, en')
    expect(() => read('de_DE')).toThrow('SERVICE_LOCALE must be')
  })

  test('listens on this machine only outside production, where SERVICE_HOST or PORT do not say otherwise (R100)', () => {
    const read = (env: Record<string, string>) =>
      readEnvironment({ SERVICE_SECRET: SECRET, ...env }, { dataDir: folder })
    const production = { NODE_ENV: 'production', SERVICE_DELIVERY: 'https://hook.example' }
    expect(read({})).toMatchObject({ host: '127.0.0.1', port: 4000, logLevel: 'info' })
    expect(read(production).host).toBeUndefined()
    expect(read({ ...production, SERVICE_HOST: '10.0.0.7' }).host).toBe('10.0.0.7')
    expect(read({ PORT: '8080' }).port).toBe(8080)
    expect(read({ PORT: '8080', SERVICE_PORT: '4001' }).port).toBe(4001)
    expect(() => read({ PORT: 'http', SERVICE_HOST: 'a b', SERVICE_LOG_LEVEL: 'debug' })).toThrow(
      /SERVICE_HOST must be[\s\S]*PORT must be[\s\S]*SERVICE_LOG_LEVEL must be info, warn, error/,
    )
  })

  test('has a console where SERVICE_CONSOLE says so, in production behind a proxy with TLS only (R73)', () => {
    const read = (env: Record<string, string>) =>
      readEnvironment(
        { SERVICE_SECRET: SECRET, SERVICE_DELIVERY: 'https://hook.example', ...env },
        { dataDir: folder },
      )
    const on = { SERVICE_CONSOLE: 'true' }
    expect(read({}).options.console).toBeUndefined()
    expect(read(on).options.console).toEqual({ trustedProxies: [] })
    expect(read(on).consoleAddress).toBeUndefined()
    expect(read({ ...on, SERVICE_CONSOLE_PORT: '4002' }).consoleAddress).toEqual({
      host: '127.0.0.1',
      port: 4002,
    })
    const proxies = { SERVICE_CONSOLE_TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,::1' }
    expect(read({ ...on, ...proxies }).options.console).toEqual({
      trustedProxies: ['loopback', '10.0.0.0/8', '::1'],
    })
    expect(read({ ...on, SERVICE_CONSOLE_FOUR_EYES: 'true' }).options.console).toEqual({
      trustedProxies: [],
      fourEyes: true,
    })
    expect(() => read({ ...on, SERVICE_CONSOLE_FOUR_EYES: 'yes' })).toThrow(
      'SERVICE_CONSOLE_FOUR_EYES must be',
    )
    expect(() =>
      read({
        SERVICE_CONSOLE: 'yes',
        SERVICE_CONSOLE_PORT: 'http',
        SERVICE_CONSOLE_HOST: 'a b',
      }),
    ).toThrow(
      /SERVICE_CONSOLE_PORT must be[\s\S]*SERVICE_CONSOLE_HOST must be[\s\S]*SERVICE_CONSOLE must be true/,
    )
    expect(() => read({ SERVICE_CONSOLE_HOST: '::1' })).toThrow(
      'SERVICE_CONSOLE_HOST needs SERVICE_CONSOLE_PORT',
    )
    for (const proxy of ['10.0.0.0/33', 'proxy.internal', '10.0.0.1/8/8', '*']) {
      expect(() => read({ ...on, SERVICE_CONSOLE_TRUSTED_PROXIES: proxy })).toThrow(
        'SERVICE_CONSOLE_TRUSTED_PROXIES must be addresses',
      )
    }
    expect(() => read({ ...on, SERVICE_CONSOLE_URL: 'mfa.example' })).toThrow('SERVICE_CONSOLE_URL must be')
    vi.stubEnv('NODE_ENV', 'production')
    const production = { ...on, NODE_ENV: 'production', SERVICE_CONSOLE_URL: 'http://mfa.example' }
    expect(() => read(production)).toThrow(
      /SERVICE_CONSOLE_TRUSTED_PROXIES is missing[\s\S]*SERVICE_CONSOLE_URL must begin with https:/,
    )
    expect(
      read({ ...production, ...proxies, SERVICE_CONSOLE_URL: 'https://mfa.example/' }).options.console,
    ).toBeDefined()
  })

  test('refuses a NODE_ENV that means production but would be taken for development (R100)', () =>
    everyCase(['Production', 'PRODUCTION', 'prod', 'production '], async (NODE_ENV) => {
      const fault = /NODE_ENV must be production in lower case/
      expect(() => readEnvironment({ NODE_ENV, SERVICE_SECRET: SECRET }, { dataDir: folder })).toThrow(fault)
      vi.stubEnv('NODE_ENV', NODE_ENV)
      await expect(createService({ secret: SECRET, delivery: 'inbox' })).rejects.toThrow(fault)
    }))

  test('serves metrics without a key only where nobody else can reach them (R100)', () => {
    const withoutKey = (env: Record<string, string>) =>
      readOptions(readEnvironment({ SERVICE_SECRET: SECRET, ...env }, { dataDir: folder }).options)
        .metricsWithoutKey
    expect(withoutKey({})).toBe(true)
    expect(withoutKey({ SERVICE_HOST: '127.0.0.1' })).toBe(true)
    expect(withoutKey({ SERVICE_HOST: '0.0.0.0' })).toBe(false)
    vi.stubEnv('NODE_ENV', 'production')
    expect(readOptions({ secret: SECRET, delivery: 'https://hook.example' }).metricsWithoutKey).toBe(false)
  })

  test('selects the account notices that are sent', () => {
    const read = (SERVICE_NOTICES: string) =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_NOTICES }, { dataDir: folder }).options
    expect(read('locked, backup-used').notices).toEqual(['locked', 'backup-used'])
    expect(read('none').notices).toEqual([])
    expect(readOptions(read('')).notices).toEqual([...NOTICES])
    expect(() => read('locked,none')).toThrow('SERVICE_NOTICES must be "none" or a list of locked, app-bound')
  })

  test('has a variable for each option, whose name follows from that of the option', () => {
    const read = (env: Record<string, string>) =>
      readEnvironment({ SERVICE_SECRET: SECRET, ...env }, { dataDir: folder }).options
    expect(read({ SERVICE_REQUEST_TIMEOUT: '10s' })).toMatchObject({ requestTimeout: '10s' })
    expect(read({ SERVICE_REQUESTS_PER_ACCOUNT: '4' })).toMatchObject({ requestsPerAccount: 4 })
    expect(read({ SERVICE_SENDS_PER_TEN_MINUTES: '2' }).limits).toEqual({ sendsPerTenMinutes: 2 })
    expect(
      read({
        SERVICE_RELYING_PARTY_ID: 'example.com',
        SERVICE_RELYING_PARTY_TOP_ORIGINS: 'https://a.example,https://b.example',
        SERVICE_KEY_POLICY_DEVICE_BOUND_ONLY: 'true',
      }),
    ).toMatchObject({
      relyingParty: { id: 'example.com', topOrigins: ['https://a.example', 'https://b.example'] },
      keyPolicy: { deviceBoundOnly: true },
    })
    expect(readEnvironment({ SERVICE_DRAIN_DURATION: '7s' }, { dataDir: folder }).drainMs).toBe(7_000)
    for (const old of ['SERVICE_MAX_TRIES', 'SERVICE_LOCK_SECONDS', 'SERVICE_TOP_ORIGINS']) {
      expect(() => read({ [old]: '3' })).toThrow(`${old} is not a variable of the service`)
    }
  })

  test('sets every limit', () => {
    const { options } = readEnvironment(
      {
        SERVICE_SECRET: SECRET,
        SERVICE_ATTEMPTS_PER_CHALLENGE: '3',
        SERVICE_FAILURES_BEFORE_LOCK: '5',
        SERVICE_SENDS_PER_TEN_MINUTES: '2',
        SERVICE_CODE_LIFETIME: '1m',
        SERVICE_LOCK_DURATION: '3600000',
      },
      { dataDir: folder },
    )
    expect(options.limits).toEqual({
      attemptsPerChallenge: 3,
      failuresBeforeLock: 5,
      sendsPerTenMinutes: 2,
      codeLifetime: '1m',
      lockDuration: 3_600_000,
    })
    expect(() =>
      readEnvironment(
        { SERVICE_SECRET: SECRET, SERVICE_ATTEMPTS_PER_CHALLENGE: 'many' },
        { dataDir: folder },
      ),
    ).toThrow('SERVICE_ATTEMPTS_PER_CHALLENGE')
    expect(() =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_LOCK_DURATION: '60s' }, { dataDir: folder }),
    ).toThrow(
      'SERVICE_LOCK_DURATION must be a duration from 15m to 24h, such as 30m, or a number of milliseconds (default 30m)',
    )
  })
})

test('messages are sent to numbers that can receive them, and refused for others with a reason (R103)', () =>
  everyCase(
    [
      ['+447911123456', 'sms', undefined],
      ['+447700900123', 'sms', undefined],
      ['+12025550123', 'sms', undefined],
      ['+4915112345678', 'sms', undefined],
      ['+442071234567', 'call', undefined],
      ['+442071234567', 'whatsapp', undefined],
      ['+442071234567', 'sms', 'No messages are sent to landlines.'],
      ['+448081570000', 'sms', 'No messages are sent to toll-free numbers.'],
      ['+491801234567', 'call', 'No messages are sent to shared-cost numbers.'],
      ['+19005550123', 'sms', 'No messages are sent to premium-rate numbers.'],
      ['+447012345678', 'call', 'No messages are sent to personal numbers, which forward to others.'],
      ['+447640123456', 'sms', 'No messages are sent to pagers.'],
      ['+8816123456789', 'sms', 'No messages are sent to satellite and global numbers.'],
      ['+870301234567', 'call', 'No messages are sent to satellite and global numbers.'],
      ['+88213100000', 'whatsapp', 'No messages are sent to satellite and global numbers.'],
      ['+10000000000', 'sms', 'The phone number is not assigned in any country.'],
      ['+5511876543', 'sms', 'The phone number is not assigned in any country.'],
    ] as const,
    ([phone, channel, refusal]) => {
      expect(refusePhone(phone, channel)?.detail).toBe(refusal)
    },
  ))

test('phone numbers outside the given countries are refused, also fictional and satellite ones (R103)', () => {
  const because = (phone: string, countries: string[]) => refusePhone(phone, 'sms', countries)?.because
  expect(because('+447400123456', ['GB'])).toBeUndefined()
  expect(because('+447400123456', ['DE', 'FR'])).toBe('country')
  expect(because('+447700900123', ['DE'])).toBe('country')
  // Jersey shares the prefix of the United Kingdom.
  expect(because('+447797712345', ['GB'])).toBe('country')
  expect(because('+8816123456789', ['GB'])).toBe('type')
})

test('an address counts as its network (R31)', () =>
  everyCase(
    [
      ['192.0.2.7', '192.0.2.7'],
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['::ffff:c000:207', '192.0.2.7'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ],
    ([address, network]) => {
      expect(clientNetwork(address)).toBe(network)
    },
  ))
