import { expect, it } from 'vitest'
import type { MfaOptions, MfaService, PageCatalogue } from '../../src/index.js'

/*
 * What compiles and what must not. `tsc -p tsconfig.test.json` is the judge: an @ts-expect-error without an error
 * is one.
 */

interface Customer {
  readonly key: number
  readonly mobile: string
}
const address = { baseUrl: 'https://mfa.example.com', apiKey: '0123456789abcdef' }
const dutch = {} as PageCatalogue
const factors = (user: Customer) => [{ method: 'sms' as const, phone: user.mobile }]

const seen: string[] = []
const sendMail = async (to: string, text: string) => ({ messageId: to + text })

const compiles: readonly MfaOptions<Customer>[] = [
  { service: address, factors },
  { service: { baseUrl: process.env.MFA_BASE_URL, apiKey: process.env.MFA_API_KEY }, factors },
  { service: {} as MfaService, factors },
  { service: address, factors: async (user) => [{ method: 'app', user: user.mobile, label: 'App' }] },
  { service: address, factors, userId: (user) => user.key, limits: { lockMs: undefined }, path: undefined },
  { service: { ...address, dialect: 'countersign' }, factors },
  { service: address, factors, texts: { en: { choose: { title: 'Is it you?' } }, nl: dutch } },
  { service: address, factors, languages: { offer: ['en', 'nl'] }, texts: { nl: dutch } },
  {
    service: address,
    factors,
    locale: () => 'en',
    languages: { offer: ['en', 'de'], remember: async () => {} },
  },
  { service: address, factors, trustedDevices: { store: 'memory', fingerprint: (user) => user.key } },
  // What a callback of theirs answers is nobody's business.
  {
    service: address,
    factors,
    onEvent: ({ type }) => seen.push(type),
    onNotice: ({ mobile }, { text }) => sendMail(mobile, text),
    onCompromise: ({ userId, notice }) => sendMail(userId, notice.text),
    onAppEnrolled: ({ mobile }) => new Set<string>().add(mobile),
    languages: { offer: ['en', 'de'], remember: (_req, res, language) => res.cookie('lang', language) },
  },
  { service: { ...address, dialect: { paths: { send: '/v2' }, sendTypes: { call: undefined } } }, factors },
]

const doesNot: readonly MfaOptions<Customer>[] = [
  // @ts-expect-error factors are needed
  { service: address },
  // @ts-expect-error a service is needed
  { factors },
  // @ts-expect-error no such text
  { service: address, factors, texts: { en: { choose: { titel: 'Is it you?' } } } },
  // @ts-expect-error no such text of notices
  { service: address, factors, texts: { en: { notices: { subject: { moved: 'x' } } } } },
  // @ts-expect-error nothing is offered
  { service: address, factors, languages: {} },
  // @ts-expect-error a misspelt name
  { service: address, factors, onEvents: () => {} },
  // @ts-expect-error durations are numbers
  { service: address, factors, pendingLoginMs: '10m' },
  // @ts-expect-error an SMS goes to a telephone
  { service: address, factors: () => [{ method: 'sms', email: 'a@example.com' }] },
  // @ts-expect-error no such method
  { service: address, factors: () => [{ method: 'pigeon', phone: '+447700900102' }] },
  // @ts-expect-error no such field of the user
  { service: address, factors, userId: (user) => user.id },
  // @ts-expect-error no such dialect
  { service: { ...address, dialect: 'klingon' }, factors },
  // @ts-expect-error no such part of a dialect
  { service: { ...address, dialect: { path: { send: '/v2' } } }, factors },
  // @ts-expect-error no such store
  { service: address, factors, trustedDevices: { store: 'redis' } },
  // @ts-expect-error a store is needed
  { service: address, factors, trustedDevices: { maxAge: '7d' } },
  // @ts-expect-error half a service
  { service: { send: async () => ({ outcome: 'sent' as const }) }, factors },
]

it('options are typed by the host’s own user', () => {
  expect(compiles).toHaveLength(12)
  expect(doesNot).toHaveLength(15)
})
