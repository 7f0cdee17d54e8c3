import { describe, expect, it } from 'vitest'
import { mfaRouter, mfaSession, OptionsError } from '../../src/index.js'
import type { MfaOptions } from '../../src/options/options.js'
import { readOptions } from '../../src/options/settings.js'
import { type Duration, durationMs } from '../../src/time.js'
import { everyCase } from '../kit/every-case.js'
import { addressFaults, faultsOf, faultsOfAll, oldRedisClient, redisClient, WORKING } from './read.js'

const MINUTE = 60_000

/** The option groups, with the names of their options. */
const GROUPS = {
  urls: ['path', 'pathPrefix', 'publicUrl'],
  login: ['signInPath', 'signOutPath', 'homePath', 'pendingPaths', 'pendingLifetime', 'evidence', 'issuers'],
  limits: [
    'store',
    'attemptsPerChallenge',
    'failuresBeforeLock',
    'failuresBeforeDisable',
    'lockDuration',
    'sendsPerTenMinutes',
    'sendsPerDay',
    'resendWaits',
    'codeLifetime',
  ],
  notices: ['onNotice', 'onCompromise', 'store'],
  pages: ['stylesheet', 'logo', 'addFactorPath', 'help', 'preferred', 'render'],
  languages: ['offer', 'remember', 'locale', 'texts'],
}

it('all faults are reported at once, each with the name of the option and its remedy (R18)', () => {
  const faults = faultsOfAll({
    service: {
      baseUrl: 'http://10.0.0.7/?x=1',
      apiKey: '',
      timeout: '60s',
      retries: 3,
      dialect: { paths: { send: 'mfa' }, sendTypes: { sms: 'Sms' }, validWhen: 'always' },
    },
    factors: [],
    appName: '',
    urls: { path: 'mfa' },
    login: { pendingLifetime: '10min' },
    limits: { attemptsPerChallenge: 50, lockDuration: 1 },
    loggers: console,
  })
  const named = [
    'service.apiKey must be one line',
    'service.baseUrl must be https (got http://10.0.0.7)',
    'service.baseUrl must end with its path',
    'service.dialect.paths.send must be a path like /v1/mfa',
    'service.dialect.sendTypes.sms must be a Type value',
    'service.dialect.validWhen must be "status" or "body"',
    'service.retries is not an option',
    'service.timeout must be a time like "5s", from 100 ms to 10s',
    'appName must not be empty',
    'factors must be a function',
    'login.pendingLifetime must be a time like "10m", from 2m to 15m',
    'limits.lockDuration must be a time like "30m", from 15m to 24h',
    'limits.attemptsPerChallenge must be a whole number of attempts from 3 to 10',
    'loggers is not an option',
    'urls.path must be a path on this site',
  ]
  for (const start of named) expect(faults.filter((fault) => fault.startsWith(start))).toHaveLength(1)
  expect(faults).toHaveLength(named.length)
})

it('the error lists the faults line by line, and has a code for programs', () => {
  const read = () => mfaSession({ service: {} } as unknown as MfaOptions)
  expect(read).toThrow(OptionsError)
  expect(read).toThrow(
    /cannot be used:\n {2}- service\.baseUrl .*MFA_BASE_URL.*\n {2}- service\.apiKey .*MFA_API_KEY/,
  )
  expect(read).toThrow(expect.objectContaining({ code: 'ERR_MFA_OPTIONS', status: 500 }))
})

describe('a value that is not an options object', () => {
  it('is reported as a fault', () =>
    everyCase([undefined, null, 'options', 7, [], () => {}], (options) => {
      const faults = faultsOfAll(options)
      expect(faults).toEqual(['the options must be an object, such as { appName: "My shop" }'])
      expect(() => mfaRouter(options as unknown as MfaOptions)).toThrow(OptionsError)
    }))
})

describe('an option with the value undefined', () => {
  it('means the default for every optional option', () => {
    const names = Object.keys(readOptions(WORKING)).filter((name) => !(name in WORKING))
    const none = Object.fromEntries([...names, 'keys', 'onEvent'].map((name) => [name, undefined]))
    expect(readOptions({ ...WORKING, ...none })).toMatchObject({
      urls: { path: '/mfa' },
      login: { pendingLifetimeMs: 10 * MINUTE },
    })
    for (const [group, members] of Object.entries(GROUPS)) {
      const given = Object.fromEntries(members.map((member) => [member, undefined]))
      expect(faultsOf({ [group]: given }), group).toEqual([])
    }
    expect(faultsOf({ limits: { store: { redis: redisClient, prefix: undefined } } })).toEqual([])
    expect(
      addressFaults({ timeout: undefined, dialect: undefined, breaker: { failures: undefined } }),
    ).toEqual([])
    expect(addressFaults({ dialect: { paths: { send: undefined }, extras: true } })).toEqual([])
  })

  it('leads to a fault that names the environment variable, if it is required', () => {
    expect(addressFaults({ baseUrl: process.env.NO_SUCH, apiKey: process.env.NO_SUCH })).toEqual([
      'service.baseUrl must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)',
      'service.apiKey must be the API key of the MFA service (is MFA_API_KEY set?)',
    ])
  })
})

describe('an unknown option', () => {
  it('is a fault', () =>
    everyCase<[object, string]>(
      [
        [{ Factors: 1 }, 'Factors is not an option'],
        [{ limits: { attempts: 5 } }, 'limits.attempts is not an option'],
        [{ service: { ...WORKING.service, url: 'x' } }, 'service.url is not an option'],
        [{ service: { ...WORKING.service, dialect: { path: {} } } }, 'service.dialect.path is not an option'],
        [
          { service: { ...WORKING.service, dialect: { paths: { sned: '/' } } } },
          'service.dialect.paths.sned is not',
        ],
      ],
      ([replaced, expected]) => {
        expect(faultsOf(replaced).join('\n')).toContain(expected)
      },
    ))

  it.each<[object, string]>([
    [{ Factors: 1 }, 'Factors is not an option; do you mean factors?'],
    [{ login: { signinPath: '/in' } }, 'login.signinPath is not an option; do you mean signInPath?'],
    [
      { limits: { atemptsPerChalenge: 5 } },
      'limits.atemptsPerChalenge is not an option; do you mean attemptsPerChallenge?',
    ],
    [{ keys: { offerPasskeys: '1d' } }, 'keys.offerPasskeys is not an option; do you mean offerPasskey?'],
    [
      { service: { ...WORKING.service, timeOut: '1s' } },
      'service.timeOut is not an option; do you mean timeout?',
    ],
    [
      { service: { ...WORKING.service, breaker: { failure: 3 } } },
      'service.breaker.failure is not an option; do you mean failures?',
    ],
    [{ notices: { stores: 'memory' } }, 'notices.stores is not an option; do you mean store?'],
  ])('leads to the option that is nearest: %j', (replaced, expected) => {
    expect(faultsOf(replaced)).toEqual([expected])
  })

  it.each<[object, string]>([
    [{ onAppAdded: () => {} }, 'onAppAdded is not an option; check its spelling'],
    [{ urls: { pa: '/mfa' } }, 'urls.pa is not an option; check its spelling'],
    [{ keys: { k: 1 } }, 'keys.k is not an option; check its spelling'],
  ])('leads to no option that is far from it: %j', (replaced, expected) => {
    expect(faultsOf(replaced)).toEqual([expected])
  })

  it('is one fault for each name', () => {
    expect(faultsOf({ one: 1, two: 2 })).toHaveLength(2)
  })

  it('is a fault even if its name is __proto__', () => {
    const options: unknown = { ...WORKING, ...JSON.parse('{"__proto__":{"path":"/evil"}}') }
    expect(faultsOfAll(options)).toEqual(['__proto__ is not an option; check its spelling'])
  })
})

describe('a number or time (R18)', () => {
  const ranges: readonly (readonly [string, number, number, (value: unknown) => readonly string[]])[] = [
    ['limits.attemptsPerChallenge', 3, 10, (value) => faultsOf({ limits: { attemptsPerChallenge: value } })],
    ['limits.failuresBeforeLock', 5, 10, (value) => faultsOf({ limits: { failuresBeforeLock: value } })],
    ['limits.sendsPerTenMinutes', 1, 5, (value) => faultsOf({ limits: { sendsPerTenMinutes: value } })],
    ['limits.sendsPerDay', 1, 10, (value) => faultsOf({ limits: { sendsPerDay: value } })],
  ]
  it('has a range for each number', () =>
    everyCase(ranges, ([name, least, most, read]) => {
      expect([...read(least), ...read(most)]).toEqual([])
      const wrong = [least - 1, most + 1, least + 0.5, -least, 0, NaN, Infinity, String(least), null, [least]]
      for (const value of wrong) {
        expect(read(value).join('\n'), `${name} = ${value}`).toContain(`${name} must be a whole number of `)
        expect(read(value).join('\n')).toContain(`from ${least} to ${most}`)
      }
    }))

  const times: readonly (readonly [string, Duration, Duration, (value: unknown) => readonly string[]])[] = [
    ['service.timeout', 100, '10s', (timeout) => addressFaults({ timeout })],
    ['login.pendingLifetime', '2m', '15m', (value) => faultsOf({ login: { pendingLifetime: value } })],
    ['limits.codeLifetime', '1m', '10m', (value) => faultsOf({ limits: { codeLifetime: value } })],
    ['limits.lockDuration', '15m', '24h', (value) => faultsOf({ limits: { lockDuration: value } })],
    ['limits.resendWaits.0', '20s', '1h', (value) => faultsOf({ limits: { resendWaits: [value] } })],
    [
      'trustedDevices.maxAge',
      '1h',
      '30d',
      (maxAge) => faultsOf({ trustedDevices: { store: 'memory', maxAge } }),
    ],
  ]
  it('has a range for each duration', () =>
    everyCase(times, ([name, least, most, read]) => {
      const [leastMs = 0, mostMs = 0] = [durationMs(least), durationMs(most)]
      expect([least, most, leastMs, mostMs].flatMap(read)).toEqual([])
      const outside = [leastMs - 1, mostMs + 1, leastMs + 0.5, -leastMs, 0, NaN, Infinity, '0s', '31d']
      for (const value of [...outside, String(leastMs), `${leastMs}`, 'soon', null, [least]]) {
        const faults = read(value).join('\n')
        expect(faults, `${name} = ${value}`).toContain(`${name} must be a time like "`)
        expect(faults).toContain(`from ${typeof least === 'number' ? `${least} ms` : least} to ${most}`)
      }
    }))

  it('has the documented default', () => {
    expect(readOptions(WORKING)).toMatchObject({
      urls: { path: '/mfa' },
      login: {
        issuers: {},
        signInPath: '/login',
        signOutPath: '/logout',
        homePath: '/',
        pendingPaths: [],
        pendingLifetimeMs: 10 * MINUTE,
      },
      limits: {
        store: 'memory',
        attemptsPerChallenge: 5,
        failuresBeforeLock: 10,
        lockDurationMs: 30 * MINUTE,
        codeLifetimeMs: 5 * MINUTE,
        sendsPerTenMinutes: 5,
        sendsPerDay: 10,
        resendWaitsMs: [30_000, 60_000, 120_000],
      },
      service: {
        timeoutMs: 5_000,
        breaker: { failures: 5 },
        allowInsecureServiceUrl: false,
      },
    })
  })
})

describe('an option of the wrong type or form', () => {
  it('is a fault that says what is expected', () =>
    everyCase<[object, string]>(
      [
        [{ limits: 7 }, 'limits must be an object'],
        [{ urls: '/mfa' }, 'urls must be an object'],
        [{ login: null }, 'login must be an object'],
        [{ notices: () => {} }, 'notices must be an object'],
        [{ pages: 7 }, 'pages must be an object'],
        [{ languages: 'de' }, 'languages must be an object'],
        [{ limits: { store: 'redis' } }, 'limits.store must be "memory"'],
        [{ limits: { store: { read: async () => {} } } }, 'an object with the functions read and replace'],
        [
          { limits: { store: { redis: 'redis://localhost' } } },
          'limits.store.redis must be a connected client',
        ],
        [
          { limits: { store: { redis: oldRedisClient } } },
          'must be a connected client of the package "redis" or "ioredis"; this client has no promises',
        ],
        [
          { limits: { store: { postgres: { pool: 'postgres://' } } } },
          'limits.store.postgres.pool must be a Pool',
        ],
        [
          { limits: { store: { postgres: { pool: { query() {} }, tableName: 'a"b' } } } },
          'limits.store.postgres.tableName must be the name',
        ],
        [
          { limits: { store: { redis: redisClient, postgres: { pool: { query() {} } } } } },
          'limits.store must have redis or postgres, not both',
        ],
        [
          { limits: { store: { redis: redisClient, prefix: 'two words' } } },
          'limits.store.prefix must be 1 to 32 letters',
        ],
        [{ limits: { resendWaits: [] } }, 'limits.resendWaits must contain at least one time'],
        [{ limits: { resendWaits: '30s' } }, 'limits.resendWaits must be a list of times'],
        [{ appName: 7 }, 'appName must be text'],
        [{ appName: 'x'.repeat(61) }, 'appName must have at most 60 characters'],
        [{ login: { evidence: {} } }, 'login.evidence must be a function'],
        [
          { login: { issuers: { 'https://id.example': { amr: ['mfa'] } } } },
          'login.issuers.https://id.example.amr must be an object',
        ],
        [
          { login: { issuers: { 'https://id.example': { acr: { phr: 'best' } } } } },
          'login.issuers.https://id.example.acr.phr must be one of weak, medium, strong, phishing-resistant',
        ],
        [{ urls: { path: '/' } }, 'urls.path must not end with a slash'],
        [{ urls: { pathPrefix: '/bank/', path: '/bank/mfa' } }, 'urls.pathPrefix must not end with a slash'],
        [
          { urls: { pathPrefix: '/bank' } },
          'urls.path must be the path that a browser sees, which begins with pathPrefix: /bank/mfa',
        ],
        [{ urls: { path: '//evil.example' } }, 'urls.path must be a path on this site'],
        [{ urls: { path: '/\\evil.example' } }, 'urls.path must be a path on this site'],
        [{ login: { signInPath: 'https://evil.example' } }, 'login.signInPath must be a path on this site'],
        [{ login: { signOutPath: 'logout' } }, 'login.signOutPath must be a path on this site'],
        [{ login: { homePath: '/home?x=1' } }, 'login.homePath must be a path on this site'],
        [{ login: { pendingPaths: '/public' } }, 'login.pendingPaths must be a list of paths'],
        [{ login: { pendingPaths: ['public'] } }, 'login.pendingPaths.0 must be a path on this site'],
        [
          { pages: { stylesheet: 'https://cdn.example/mfa.css' } },
          'pages.stylesheet must be a path on this site, like /mfa.css',
        ],
        [{ pages: { render: '<html>' } }, 'pages.render must be a function'],
        [{ languages: { locale: 'de' } }, 'languages.locale must be a function'],
        [{ userId: 'id' }, 'userId must be a function'],
        [{ appContact: 'a@example.com' }, 'appContact must be a function'],
        [{ recordedFactors: () => undefined }, 'recordedFactors reads a record that nothing writes'],
        [{ onFactorsChanged: () => {} }, 'onFactorsChanged writes a record that nothing reads'],
        [{ onFactorsChanged: true }, 'onFactorsChanged must be a function'],
        [{ recordedFactors: {} }, 'recordedFactors must be a function'],
        [{ onEvent: [] }, 'onEvent must be a function'],
        [{ logger: { warn: () => {} } }, 'logger must have the functions warn and error'],
        [{ logger: console.warn }, 'logger must have the functions warn and error'],
        [{ factors: null }, 'factors must be a function'],
      ],
      ([replaced, expected]) => {
        const faults = faultsOf(replaced)
        expect(faults).toHaveLength(1)
        expect(faults[0]).toContain(expected)
        expect(faults[0]).not.toMatch(/Invalid input|Too (big|small)/)
      },
    ))
})
