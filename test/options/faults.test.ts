import { describe, expect, it } from 'vitest'
import { mfaRouter, mfaSession, OptionsError } from '../../src/index.js'
import type { MfaOptions } from '../../src/options.js'
import { readOptions } from '../../src/settings.js'
import { addressFaults, faultsOf, faultsOfAll, ioredisClient, redisClient, WORKING } from './read.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

it('everything that is wrong is told at once, each with its name and its remedy (R18)', () => {
  const faults = faultsOfAll({
    service: {
      baseUrl: 'http://10.0.0.7/?x=1',
      apiKey: '',
      timeoutMs: 60_000,
      retries: 3,
      dialect: { paths: { send: 'mfa' }, sendTypes: { sms: 'Sms' }, validWhen: 'always' },
    },
    factors: [],
    appName: '',
    path: 'mfa',
    pendingLoginMs: '10m',
    limits: { attemptsPerChallenge: 50, lockMs: 1 },
    loggers: console,
  })
  const named = [
    'service.apiKey must be one line',
    'service.apiKey must have at least 16 characters',
    'service.baseUrl must be https (got http://10.0.0.7)',
    'service.baseUrl must end with its path',
    'service.dialect.paths.send must be a path like /v1/mfa',
    'service.dialect.sendTypes.sms must be a Type word',
    'service.dialect.validWhen must be "status" or "body"',
    'service.retries is not an option',
    'service.timeoutMs must be a whole number of milliseconds from 100 to 10000',
    'appName must not be empty',
    'factors must be a function',
    'pendingLoginMs must be a whole number of milliseconds from 120000 to 900000',
    'limits.lockMs must be a whole number of milliseconds',
    'limits.attemptsPerChallenge must be a whole number of attempts from 3 to 10',
    'loggers is not an option',
    'path must be a path on this site',
  ]
  for (const start of named) expect(faults.filter((fault) => fault.startsWith(start))).toHaveLength(1)
  expect(faults).toHaveLength(named.length)
})

it('the error lists them line by line, with a code for programs', () => {
  const read = () => mfaSession({ factors: () => [] } as unknown as MfaOptions)
  expect(read).toThrow(OptionsError)
  expect(read).toThrow(
    /cannot be used:\n {2}- service\.baseUrl .*MFA_BASE_URL.*\n {2}- service\.apiKey .*MFA_API_KEY/,
  )
  expect(read).toThrow(expect.objectContaining({ code: 'ERR_MFA_OPTIONS', status: 500 }))
})

describe('what is given instead of options is told, not thrown', () => {
  it.each([undefined, null, 'options', 7, [], () => {}])('%j', (options) => {
    const faults = faultsOfAll(options)
    expect(faults).toContain('factors must be a function that lists a user’s second factors')
    expect(faults.join('\n')).toContain('service.baseUrl must be the address')
    expect(() => mfaRouter(options as unknown as MfaOptions)).toThrow(OptionsError)
  })
})

describe('undefined means "not given"', () => {
  it('for every option that has a default', () => {
    const names = Object.keys(readOptions(WORKING)).filter((name) => !(name in WORKING))
    const none = Object.fromEntries(
      [...names, 'render', 'locale', 'onEvent'].map((name) => [name, undefined]),
    )
    expect(readOptions({ ...WORKING, ...none })).toMatchObject({ path: '/mfa', pendingLoginMs: 10 * MINUTE })
    expect(faultsOf({ limits: { attemptsPerChallenge: undefined, redis: undefined } })).toEqual([])
    expect(addressFaults({ timeoutMs: undefined, dialect: undefined })).toEqual([])
    expect(addressFaults({ dialect: { paths: { send: undefined }, extras: undefined } })).toEqual([])
  })

  it('so a variable that is not set is asked for by name', () => {
    expect(addressFaults({ baseUrl: process.env.NO_SUCH, apiKey: process.env.NO_SUCH })).toEqual([
      'service.baseUrl must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)',
      'service.apiKey must be the API key of the MFA service (is MFA_API_KEY set?)',
    ])
  })
})

describe('a misspelt name is a fault', () => {
  it.each<[object, string]>([
    [{ Factors: 1 }, 'Factors is not an option'],
    [{ limits: { attempts: 5 } }, 'limits.attempts is not an option'],
    [{ service: { ...WORKING.service, url: 'x' } }, 'service.url is not an option'],
    [{ service: { ...WORKING.service, dialect: { path: {} } } }, 'service.dialect.path is not an option'],
    [
      { service: { ...WORKING.service, dialect: { paths: { sned: '/' } } } },
      'service.dialect.paths.sned is not',
    ],
  ])('%j', (replaced, expected) => {
    expect(faultsOf(replaced).join('\n')).toContain(expected)
  })

  it('each on a line of its own', () => {
    expect(faultsOf({ one: 1, two: 2 })).toHaveLength(2)
  })

  it('also when it is spelt __proto__', () => {
    const options: unknown = { ...WORKING, ...JSON.parse('{"__proto__":{"path":"/evil"}}') }
    expect(faultsOfAll(options)).toEqual(['__proto__ is not an option; is it misspelt?'])
  })
})

describe('numbers keep to their range (R18)', () => {
  const ranges: readonly (readonly [string, number, number, (value: unknown) => readonly string[]])[] = [
    ['service.timeoutMs', 100, 10_000, (timeoutMs) => addressFaults({ timeoutMs })],
    ['service.maxConnections', 1, 1_024, (maxConnections) => addressFaults({ maxConnections })],
    ['pendingLoginMs', 2 * MINUTE, 15 * MINUTE, (pendingLoginMs) => faultsOf({ pendingLoginMs })],
    ['codeLifeMs', MINUTE, 10 * MINUTE, (codeLifeMs) => faultsOf({ codeLifeMs })],
    ['limits.attemptsPerChallenge', 3, 10, (value) => faultsOf({ limits: { attemptsPerChallenge: value } })],
    ['limits.failuresBeforeLock', 5, 10, (value) => faultsOf({ limits: { failuresBeforeLock: value } })],
    ['limits.lockMs', 15 * MINUTE, 24 * HOUR, (value) => faultsOf({ limits: { lockMs: value } })],
    ['limits.sendsPerTenMinutes', 1, 5, (value) => faultsOf({ limits: { sendsPerTenMinutes: value } })],
    ['limits.sendsPerDay', 1, 10, (value) => faultsOf({ limits: { sendsPerDay: value } })],
    [
      'limits.resendWaitsSeconds.0',
      20,
      3_600,
      (value) => faultsOf({ limits: { resendWaitsSeconds: [value] } }),
    ],
  ]
  it.each(ranges)('%s from %i to %i', (name, least, most, read) => {
    expect([...read(least), ...read(most)]).toEqual([])
    const wrong = [least - 1, most + 1, least + 0.5, -least, 0, NaN, Infinity, String(least), null, [least]]
    for (const value of wrong) {
      expect(read(value).join('\n'), `${name} = ${value}`).toContain(`${name} must be a whole number of `)
      expect(read(value).join('\n')).toContain(`from ${least} to ${most}`)
    }
  })

  it('which are the documented ones when nothing is said', () => {
    expect(readOptions(WORKING)).toMatchObject({
      firstFactor: 'pwd',
      path: '/mfa',
      signInPath: '/login',
      signOutPath: '/logout',
      homePath: '/',
      open: [],
      pendingLoginMs: 10 * MINUTE,
      codeLifeMs: 5 * MINUTE,
      limits: {
        attemptsPerChallenge: 5,
        failuresBeforeLock: 10,
        lockMs: 30 * MINUTE,
        sendsPerTenMinutes: 5,
        sendsPerDay: 10,
        resendWaitsSeconds: [30, 60, 120],
      },
      service: { timeoutMs: 5_000, maxConnections: 64, allowInsecureServiceUrl: false },
    })
  })
})

describe('everything else must be what it is meant to be', () => {
  it.each<[object, string]>([
    [{ limits: 7 }, 'limits must be an object'],
    [{ limits: { redis: 'redis://localhost' } }, 'limits.redis must be a connected client'],
    [{ limits: { redis: ioredisClient } }, 'package "redis"; one of ioredis does not fit'],
    [{ limits: { postgres: { pool: 'postgres://' } } }, 'limits.postgres.pool must be a Pool'],
    [
      { limits: { postgres: { pool: { query() {} }, tableName: 'a"b' } } },
      'limits.postgres.tableName must be the name',
    ],
    [
      { limits: { redis: redisClient, postgres: { pool: { query() {} } } } },
      'limits.postgres must not stand beside redis',
    ],
    [{ docsUrl: 'docs/errors.md' }, 'docsUrl must be the address of a page'],
    [{ docsUrl: 'https://docs.example.com/#errors' }, 'docsUrl must be the address of a page'],
    [{ limits: { prefix: 'two words' } }, 'limits.prefix must be 1 to 32 letters'],
    [{ limits: { resendWaitsSeconds: [] } }, 'limits.resendWaitsSeconds must name at least one wait'],
    [{ limits: { resendWaitsSeconds: 30 } }, 'limits.resendWaitsSeconds must be a list of seconds'],
    [{ appName: 7 }, 'appName must be text'],
    [{ appName: 'x'.repeat(61) }, 'appName must have at most 60 characters'],
    [{ firstFactor: 'password' }, 'firstFactor must be a value of RFC 8176'],
    [{ path: '/' }, 'path must not end with a slash'],
    [{ pathPrefix: '/bank/', path: '/bank/mfa' }, 'pathPrefix must not end with a slash'],
    [{ pathPrefix: '/bank' }, 'path must be as a browser sees it, with pathPrefix: /bank/mfa'],
    [{ path: '//evil.example' }, 'path must be a path on this site'],
    [{ path: '/\\evil.example' }, 'path must be a path on this site'],
    [{ signInPath: 'https://evil.example' }, 'signInPath must be a path on this site'],
    [{ signOutPath: 'logout' }, 'signOutPath must be a path on this site'],
    [{ homePath: '/home?x=1' }, 'homePath must be a path on this site'],
    [{ open: '/public' }, 'open must be a list of paths'],
    [{ open: ['public'] }, 'open.0 must be a path on this site'],
    [{ stylesheet: 'https://cdn.example/mfa.css' }, 'stylesheet must be a path on this site, like /mfa.css'],
    [{ render: '<html>' }, 'render must be a function'],
    [{ locale: 'de' }, 'locale must be a function'],
    [{ userId: 'id' }, 'userId must be a function'],
    [{ appContact: 'a@example.com' }, 'appContact must be a function'],
    [{ onAppEnrolled: true }, 'onAppEnrolled must be a function'],
    [{ onEvent: [] }, 'onEvent must be a function'],
    [{ logger: { warn: () => {} } }, 'logger must have the functions warn and error'],
    [{ logger: console.warn }, 'logger must have the functions warn and error'],
    [{ factors: null }, 'factors must be a function'],
  ])('%j', (replaced, expected) => {
    const faults = faultsOf(replaced)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(expected)
    expect(faults[0]).not.toMatch(/Invalid input|Too (big|small)/)
  })
})
