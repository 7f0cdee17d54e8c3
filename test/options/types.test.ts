import { Cluster, Redis } from 'ioredis'
import pg from 'pg'
import { createClient, createCluster, createSentinel } from 'redis'
import { expect, it } from 'vitest'
import {
  type CounterStore,
  type ItemStore,
  type MfaOptions,
  type MfaService,
  mfaSession,
  type PageCatalogue,
} from '../../src/index.js'

/*
 * Options that compile and options that must not. `tsc -p tsconfig.test.json` checks this: an @ts-expect-error without
 * an error is an error itself.
 */

interface Customer {
  readonly key: number
  readonly mobile: string
}
const address = { baseUrl: 'https://mfa.example.com', apiKey: '0123456789abcdef' }
const dutch = {} as PageCatalogue
const factors = (user: Customer) => [{ method: 'sms' as const, phone: user.mobile }]
const userId = (user: Customer) => user.key
const base = { service: address, factors, userId }
const client = createClient()
const pool = new pg.Pool()
const redisClients = [
  createCluster({ rootNodes: [{ url: 'redis://localhost' }] }),
  createSentinel({ name: 'mfa', sentinelRootNodes: [{ host: 'localhost', port: 26_379 }] }),
  new Redis({ lazyConnect: true }),
  new Cluster([], { lazyConnect: true }),
]

const seen: string[] = []
const sendMail = async (to: string, text: string) => ({ messageId: to + text })

const compiles: readonly MfaOptions<Customer>[] = [
  base,
  { ...base, service: { baseUrl: process.env.MFA_BASE_URL, apiKey: process.env.MFA_API_KEY } },
  { ...base, service: {} as MfaService },
  { ...base, factors: async (user) => [{ method: 'app', user: user.mobile, label: 'App' }] },
  { ...base, limits: { lockDuration: undefined }, urls: { path: undefined }, pages: undefined },
  { ...base, login: { pendingLifetime: '10m' }, limits: { lockDuration: 1_800_000, resendWaits: ['30s'] } },
  { ...base, limits: { store: 'memory' } },
  { ...base, limits: { store: { redis: client, prefix: 'shop' } } },
  ...redisClients.map((redis) => ({ ...base, limits: { store: { redis } } })),
  { ...base, limits: { store: { postgres: { pool, tableName: 'counts' } } } },
  { ...base, limits: { store: {} as CounterStore }, notices: { store: {} as ItemStore } },
  { ...base, service: { ...address, dialect: 'countersign', breaker: { failures: 3 } } },
  { ...base, languages: { texts: { en: { choose: { title: 'Is it you?' } }, nl: dutch } } },
  { ...base, languages: { offer: ['en', 'nl'], texts: { nl: dutch } } },
  {
    ...base,
    languages: { locale: () => 'en', offer: ['en', 'de'], remember: async () => {} },
  },
  { ...base, trustedDevices: { store: 'memory', fingerprint: (user) => user.key } },
  // A callback can return any value.
  {
    ...base,
    onEvent: ({ type }) => seen.push(type),
    notices: {
      onNotice: ({ mobile }, { text }) => sendMail(mobile, text),
      onCompromise: ({ userId, notice }) => sendMail(userId, notice.text),
    },
    onFactorsChanged: ({ mobile }, { app }) => new Map<string, boolean>().set(mobile, app),
    recordedFactors: async () => null,
    languages: { offer: ['en', 'de'], remember: (_req, res, language) => res.cookie('lang', language) },
  },
  // Users set up an app or a key, at the service in this process.
  { userId },
  { ...base, service: { ...address, dialect: { paths: { send: '/v2' }, sendTypes: { call: undefined } } } },
]

const doesNotCompile: readonly MfaOptions<Customer>[] = [
  // @ts-expect-error no such text
  { ...base, languages: { texts: { en: { choose: { titel: 'Is it you?' } } } } },
  // @ts-expect-error no such text of notices
  { ...base, languages: { texts: { en: { notices: { subject: { moved: 'x' } } } } } },
  // @ts-expect-error a user without an id needs userId
  { service: address, factors },
  // @ts-expect-error userId is needed, so it cannot be undefined
  { service: address, factors, userId: undefined },
  // @ts-expect-error the languages are a list
  { ...base, languages: { offer: 'en' } },
  // @ts-expect-error a misspelt name
  { ...base, onEvents: () => {} },
  // @ts-expect-error no such unit of time
  { ...base, login: { pendingLifetime: '10min' } },
  // @ts-expect-error an option of a group outside of it
  { ...base, signInPath: '/login' },
  // @ts-expect-error a pool is part of postgres
  { ...base, limits: { store: { postgres: pool } } },
  // @ts-expect-error an incomplete counter store
  { ...base, limits: { store: { read: async () => undefined } } },
  // @ts-expect-error items are not counters
  { ...base, limits: { store: {} as ItemStore } },
  // @ts-expect-error an SMS requires a phone number
  { ...base, factors: () => [{ method: 'sms', email: 'a@example.com' }] },
  // @ts-expect-error no such method
  { ...base, factors: () => [{ method: 'pigeon', phone: '+447700900102' }] },
  // @ts-expect-error no such field of the user
  { ...base, userId: (user) => user.id },
  // @ts-expect-error no such dialect
  { ...base, service: { ...address, dialect: 'klingon' } },
  // @ts-expect-error no such part of a dialect
  { ...base, service: { ...address, dialect: { path: { send: '/v2' } } } },
  // @ts-expect-error no such store
  { ...base, trustedDevices: { store: 'redis' } },
  // @ts-expect-error a store is needed
  { ...base, trustedDevices: { maxAge: '7d' } },
  // @ts-expect-error an incomplete service
  { ...base, service: { send: async () => ({ outcome: 'sent' as const }) } },
]

/** The types of users that have an id, and need no `userId`. */
const withId: readonly [
  MfaOptions<{ id: string }>,
  MfaOptions<{ readonly id: number; name: string }>,
  MfaOptions<{ id: bigint }>,
  MfaOptions<{ id: 'a' | 'b' } | { id: number }>,
] = [
  { service: address, factors: () => [] },
  { service: address, factors: () => [] },
  { service: address, factors: () => [] },
  { service: address, factors: () => [], userId: undefined },
]

/** The types of users that may lack one. */
const withoutId: readonly [
  MfaOptions<{ id?: string }>,
  MfaOptions<{ id: string | null }>,
  MfaOptions<{ id: string } | { key: string }>,
  MfaOptions<object>,
] = [
  // @ts-expect-error the id is optional
  { service: address, factors: () => [] },
  // @ts-expect-error the id may be null
  { service: address, factors: () => [] },
  // @ts-expect-error some users have no id
  { service: address, factors: () => [] },
  // @ts-expect-error the users have no known properties, like an Express.User that is not augmented
  { service: address, factors: () => [] },
]

it('options are typed by the user type of the host', () => {
  expect(compiles).toHaveLength(22)
  expect(doesNotCompile).toHaveLength(19)
})

it('userId is optional for a user type with an id, and for no other', () => {
  expect([...withId, ...withoutId]).toHaveLength(8)
})

it('the type of the user is inferred from the factors', () => {
  mfaSession({ service: address, factors: (user: { id: string }) => [{ method: 'app', user: user.id }] })
  mfaSession({ service: address, factors, userId })
  // @ts-expect-error the type of the user, as the parameter gives it, has no id
  expect(mfaSession({ service: address, factors })).toBeInstanceOf(Function)
})
