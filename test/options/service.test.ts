import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/create-mfa.js'
import type { ServiceAddress } from '../../src/options/service.js'
import { readOptions, readServiceAddress } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'
import { addressFaults, addressIn, faultsOf, WORKING } from './read.js'

const withAddress = (part: object) =>
  addressIn(readOptions({ ...WORKING, service: { ...WORKING.service, ...part } }))

describe('the address of the service (R73)', () => {
  it('can have every form that the documents name', () =>
    everyCase(
      [
        'https://mfa.example.com',
        'https://mfa.example.com:8443/base',
        'https://10.0.0.7',
        'http://localhost:4000',
        'http://127.0.0.1:4000',
        'http://127.8.9.10',
        'http://127.1',
        'http://[::1]:4000',
        'HTTP://LOCALHOST:4000',
      ],
      (baseUrl) => {
        expect(addressFaults({ baseUrl })).toEqual([])
      },
    ))

  it('cannot be anything else', () =>
    everyCase(
      [
        ['http://mfa.example.com', 'must be https (got http://mfa.example.com)'],
        ['http://10.0.0.7:4000', 'must be https (got http://10.0.0.7:4000)'],
        ['http://localhost.example.com', 'must be https'],
        ['http://127.0.0.1.example.com', 'must be https'],
        ['http://0.0.0.0', 'must be https'],
        ['http://[::ffff:10.0.0.7]', 'must be https'],
        ['http://mfa', 'must be https'],
        ['ftp://mfa.example.com', 'must be the address of the MFA service'],
        ['file:///etc/passwd', 'must be the address of the MFA service'],
        ['javascript:alert(1)', 'must be the address of the MFA service'],
        ['mfa.example.com', 'must be the address of the MFA service'],
        ['/v1', 'must be the address of the MFA service'],
        ['', 'must be the address of the MFA service'],
        ['https://', 'must be the address of the MFA service'],
        ['https://user:password@mfa.example.com', 'must not contain a user name or password'],
        ['https://token@mfa.example.com', 'must not contain a user name or password'],
        ['https://mfa.example.com/?tenant=7', 'must end with its path'],
        ['https://mfa.example.com/?', 'must end with its path'],
        ['https://mfa.example.com#v1', 'must end with its path'],
        ['https://mfa.example.com/#', 'must end with its path'],
      ],
      ([baseUrl, expected]) => {
        expect(addressFaults({ baseUrl }).join('\n')).toContain(`service.baseUrl ${expected}`)
      },
    ))

  it('cannot be anything but a string', () =>
    everyCase(
      [[7], [null], [['https://mfa.example.com']], [new URL('https://mfa.example.com')]],
      ([baseUrl]) => {
        expect(addressFaults({ baseUrl })).toHaveLength(1)
      },
    ))

  it('can be plain http in a private network only with allowInsecureServiceUrl', () => {
    const baseUrl = 'http://10.0.0.7'
    expect(addressFaults({ baseUrl, allowInsecureServiceUrl: true })).toEqual([])
    expect(addressFaults({ baseUrl, allowInsecureServiceUrl: false })).toHaveLength(1)
    expect(addressFaults({ baseUrl, allowInsecureServiceUrl: 'true' })).toHaveLength(2)
  })

  it('is trimmed of spaces and trailing slashes', () => {
    expect(withAddress({ baseUrl: ' https://mfa.example.com/base// ' }).baseUrl).toBe(
      'https://mfa.example.com/base',
    )
  })

  it('is reported without its password', () => {
    const reported = addressFaults({ baseUrl: 'http://user:s3cret@10.0.0.7' }).join('\n')
    expect(reported).toContain('must be https (got http://10.0.0.7)')
    expect(reported).not.toContain('s3cret')
  })
})

describe('the API key', () => {
  it('may have any length that a service gives its keys', () =>
    everyCase(['k', 'sk_live_1', 'k'.repeat(2_000)], (apiKey) => {
      expect(addressFaults({ apiKey })).toEqual([])
    }))

  it('cannot be anything else', () =>
    everyCase(
      [
        ['', 'is MFA_API_KEY set'],
        ['0123456789abcdef\n', 'was a line break copied with it?'],
        ['0123456789 abcdef', 'without spaces'],
        ['0123456789abcdeü', 'one line of ASCII'],
        ['0123456789abcdef\r\nX-Admin: 1', 'was a line break copied with it?'],
      ],
      ([apiKey, expected]) => {
        expect(addressFaults({ apiKey }).join('\n')).toContain(expected)
      },
    ))

  it('is not visible in the settings (R78)', () => {
    const settings = withAddress({})
    expect(JSON.stringify(settings)).not.toContain(WORKING.service.apiKey)
    expect(settings.apiKey()).toBe(WORKING.service.apiKey)
  })
})

describe('the dialect', () => {
  const dialectIn = (dialect: ServiceAddress['dialect']) => {
    const { dialect: read } = readServiceAddress({ ...WORKING.service, dialect })
    if (read === 'detect') throw new Error('expected a dialect')
    return read
  }

  it('is detected by default (R97)', () => {
    expect(withAddress({}).dialect).toBe('detect')
    expect(withAddress({ dialect: undefined }).dialect).toBe('detect')
    expect(withAddress({ dialect: 'detect' }).dialect).toBe('detect')
  })

  it('is the published one by its name, or with parts that differ', () => {
    expect(dialectIn({})).toEqual(dialectIn('published'))
    expect(dialectIn('published')).toMatchObject({ contentType: 'form', validWhen: 'status', extras: false })
  })

  it('of the Countersign service adds to the published one and changes nothing else', () => {
    const { paths, sendTypes, backupTypes, contentType } = dialectIn('published')
    const ours = {
      paths: { ...paths, keys: '/v1/mfa/keys' },
      sendTypes,
      backupTypes,
      contentType,
      validWhen: 'body',
      extras: true,
    }
    expect(dialectIn('countersign')).toEqual(ours)
  })

  it('can be an object with the parts that differ', () => {
    const dialect = dialectIn({ paths: { enrollApp: '/v1/totp' }, contentType: 'json' })
    expect(dialect.paths).toEqual({ ...dialectIn('published').paths, enrollApp: '/v1/totp' })
    expect(dialect).toMatchObject({ contentType: 'json', validWhen: 'status', extras: false })
  })

  it('cannot be anything else', () =>
    everyCase<[unknown, string]>(
      [
        ['publshed', 'service.dialect must be "published", "countersign" or an object'],
        [null, 'service.dialect must be "published"'],
        [[], 'service.dialect must be "published"'],
        [{ paths: '/v1' }, 'service.dialect.paths must be an object with the parts that differ'],
        [{ paths: { send: 'https://evil.example' } }, 'service.dialect.paths.send must be a path'],
        [{ paths: { send: '/v1 mfa' } }, 'service.dialect.paths.send must be a path'],
        [{ paths: { send: '/v1?x=1' } }, 'service.dialect.paths.send must be a path'],
        [{ paths: { send: 7 } }, 'service.dialect.paths.send must be a path'],
        [{ sendTypes: { sms: 'sms' } }, 'service.dialect.sendTypes.sms must be a Type value'],
        [{ backupTypes: { sms: '' } }, 'service.dialect.backupTypes.sms must be a Type value'],
        [{ contentType: 'xml' }, 'service.dialect.contentType must be "form" or "json"'],
        [{ validWhen: 'never' }, 'service.dialect.validWhen must be "status" or "body"'],
        [{ extras: 'yes' }, 'service.dialect.extras must be true or false'],
      ],
      ([dialect, expected]) => {
        const faults = addressFaults({ dialect })
        expect(faults).toHaveLength(1)
        expect(faults[0]).toContain(expected)
      },
    ))
})

describe('a service that is an object', () => {
  it('is used unchanged', () => {
    const { service } = standInService()
    expect(readOptions({ ...WORKING, service, ...EMPTY_RECORD }).service).toBe(service)
  })

  it('can be an instance of a class', () => {
    class Fake {
      async send() {}
      async verify() {}
    }
    const service = new Fake()
    expect(readOptions({ ...WORKING, service, ...EMPTY_RECORD }).service).toBe(service)
  })

  it('needs no function for the routes that are not mounted, and each router names the one that it lacks', () => {
    const { send, verify } = standInService().service
    const mfa = createMfa({ ...WORKING, service: { send, verify }, ...EMPTY_RECORD })
    expect(mfa.challengeRouter).toBeDefined()
    expect(mfa.verifyRouter).toBeDefined()
    expect(() => mfa.enrollAppRouter).toThrow(/service must have the function enrollApp, .*enrollAppRouter/)
    expect(() => mfa.backupRouter).toThrow(/service must have the function sendBackupCodes, .*backupRouter/)
    expect(() => mfa.router).toThrow('service must have the function enrollApp')
  })

  it('is reported with its missing functions', () => {
    const { verify: _verify, ...service } = standInService().service
    expect(faultsOf({ service })).toEqual(['service must have the functions send, verify; it lacks verify'])
  })

  it('cannot be anything else', () =>
    everyCase(['https://mfa.example.com', 7, null], (service) => {
      expect(faultsOf({ service })).toEqual([
        'service must be { baseUrl, apiKey } or an object that implements MfaService',
      ])
    }))
})
