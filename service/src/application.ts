import type { Limits } from './limits.js'

/** A tenant of the service. Every row, counter and key carries its id (R86). */
export interface Application {
  readonly id: string
  /** How messages and authenticator apps call it. */
  readonly name: string
  /** Host of its pages, for the last line of an SMS by which browsers fill in the code. */
  readonly origin: string | undefined
  /** Language of messages to people whose language is not known. */
  readonly locale: string
  readonly limits: Limits
}
