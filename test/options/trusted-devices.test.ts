import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { faultsOf, oldRedisClient, redisClient, WORKING } from './read.js'

const store = 'memory'
const ownStore = {
  read: async () => [],
  add: async () => true,
  put: async () => {},
  swap: async () => false,
  remove: async () => false,
}

describe('the option trustedDevices', () => {
  it('is off unless given, and complete when given', () => {
    expect(readOptions(WORKING).trustedDevices).toBeUndefined()
    expect(readOptions({ ...WORKING, trustedDevices: { store } }).trustedDevices).toEqual({
      store,
      maxAgeMs: 30 * 86_400_000,
      maxDevices: 10,
      cookieName: 'mfa-devices',
    })
  })

  it('can have every form that the documents name', () =>
    everyCase(
      [
        { store: ownStore },
        { store: { redis: redisClient, prefix: 'shop' } },
        { store: { postgres: { pool: { query: async () => ({ rows: [] }) }, tableName: 'shop_trust' } } },
        { store: { postgres: { pool: { query: async () => ({ rows: [] }) } }, prefix: 'shop' } },
        { store, maxAge: '1h', maxDevices: 1, cookieName: '__Host-mfa-devices' },
        { store, maxAge: 30 * 86_400_000, canTrust: () => true, fingerprint: () => 1 },
      ],
      (trustedDevices) => {
        expect(readOptions({ ...WORKING, trustedDevices }).trustedDevices).toBeDefined()
      },
    ))

  it('cannot be anything else (R18, R65)', () =>
    everyCase(
      [
        [true, 'trustedDevices must be an object'],
        [{}, 'trustedDevices.store must be "memory"'],
        [{ store: 'redis' }, 'trustedDevices.store must be'],
        [{ store: { redis: {} } }, 'trustedDevices.store.redis must be a connected client'],
        [
          { store: { redis: oldRedisClient } },
          'this client has no promises, or is older than redis 4 and ioredis 5',
        ],
        [
          { store: { redis: redisClient, tableName: 'x' } },
          'trustedDevices.store.tableName is not an option',
        ],
        [
          { store: { redis: redisClient, prefix: 'a b' } },
          'trustedDevices.store.prefix must be 1 to 32 letters',
        ],
        [
          { store: { redis: redisClient, postgres: { pool: { query() {} } } } },
          'trustedDevices.store must have redis or postgres, not both',
        ],
        [
          { store: { postgres: { pool: { query() {} }, tableName: 'x"; DROP' } } },
          'trustedDevices.store.postgres.tableName must be the name of a table',
        ],
        [
          { store: { postgres: { query() {} } } },
          'trustedDevices.store.postgres must be { pool: new Pool(), tableName? }',
        ],
        [{ store: { ...ownStore, swap: undefined } }, 'trustedDevices.store must be'],
        [{ store, maxAge: '59m' }, 'trustedDevices.maxAge must be a time like "30d", from 1h to 30d'],
        [{ store, maxAge: '31d' }, 'trustedDevices.maxAge must be a time'],
        [{ store, maxAge: 30 }, 'trustedDevices.maxAge must be a time'],
        [
          { store, maxDevices: 0 },
          'trustedDevices.maxDevices must be a whole number of devices from 1 to 10',
        ],
        [{ store, maxDevices: 11 }, 'trustedDevices.maxDevices must be'],
        [{ store, cookieName: 'a b' }, 'trustedDevices.cookieName must be letters'],
        [{ store, canTrust: true }, 'trustedDevices.canTrust must be a function'],
        [{ store, fingerprint: 'x' }, 'trustedDevices.fingerprint must be a function'],
        [{ store, maxAgeDays: 30 }, 'trustedDevices.maxAgeDays is not an option'],
      ],
      ([trustedDevices, fault]) => {
        expect(faultsOf({ trustedDevices })).toEqual([expect.stringContaining(fault)])
      },
    ))
})
