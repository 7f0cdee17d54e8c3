import type { DeliveredMethod } from 'countersign/protocol'
import type { Limits } from './limits.js'

/** What an application has paid for: `enterprise` includes DUAL. */
export const TIERS = ['standard', 'enterprise'] as const
type Tier = (typeof TIERS)[number]

/** The methods that an application may switch off. Authenticator apps are always offered (R48). */
export const SWITCHED_METHODS = [
  'email',
  'sms',
  'whatsapp',
  'call',
  'dual',
] as const satisfies DeliveredMethod[]

/**
 * What people are told besides codes (R34, R61, R63), as far as an application does not leave it to the app itself, which
 * may know more of it.
 */
export const NOTICES = ['locked', 'app-bound', 'backup-made', 'backup-used'] as const

/** Something that people are told. */
export type Notice = (typeof NOTICES)[number]

/** Whether people are meant, or an application's own tests: what a test key does reaches nobody. */
export type Mode = 'live' | 'test'

/** A tenant of the service, as one of its API keys sees it. Every row, counter and key carries its id (R86). */
export interface Application {
  /** Its name; a test key sees `<name>/test`, which shares nothing with the live data. */
  readonly id: string
  readonly mode: Mode
  /** How messages and authenticator apps call it. */
  readonly name: string
  /** Host of its pages, for the last line of an SMS by which browsers fill in the code. */
  readonly origin: string | undefined
  /** Language of messages to people whose language is not known. */
  readonly locale: string
  readonly tier: Tier
  /** The methods that are on. */
  readonly methods: readonly DeliveredMethod[]
  /** ISO 3166 codes of the countries whose numbers are sent to; without any, all of them. */
  readonly countries: readonly string[]
  /** The notices that it writes to people. */
  readonly notices: readonly Notice[]
  readonly limits: Limits
}

const TEST = '/test'

/** The id that rows carry. A name holds no slash, so no application is called like another one's test data. */
export function partitionOf(name: string, mode: Mode): string {
  return mode === 'test' ? `${name}${TEST}` : name
}

/** Whether rows of this id belong to an application's tests. */
export function isTestPartition(id: string): boolean {
  return id.endsWith(TEST)
}

/** What messages tell about the application. */
export type Sender = Pick<Application, 'name' | 'origin'>
