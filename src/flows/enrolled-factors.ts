import type { Contact } from '../protocol/contact.js'
import type { KeyMethod } from '../protocol/methods.js'
import type { MfaService } from '../protocol/service.js'

/** The factors of a user that the service keeps. */
export interface Enrolled {
  /** Whether the user has an authenticator app. */
  readonly app: boolean
  /** The kinds of keys that the user has. Absent if the application offers no keys. */
  readonly keys?: readonly KeyMethod[]
}

/** What is asked about: hosts with `onAppEnrolled` list the app themselves, and not every app offers keys. */
export interface Kept {
  readonly app: boolean
  readonly keys: boolean
}

/** Which users have an authenticator app or keys, as the service knows. */
export interface EnrolledFactors {
  /** What the service is asked about. */
  readonly kept: Kept
  /**
   * The factors of a user now. No answer is remembered or shared between requests: another process, or an operator of the service,
   * may have changed the factors in the meantime (R133).
   * @throws {ServiceError} when the service does not answer. That never means that there are none (R131).
   */
  of(userId: string, contact: Contact): Promise<Enrolled>
}

/** Asks the service which users have an app or keys. */
export function enrolledFactorsIn(
  factorsOf: NonNullable<MfaService['factorsOf']>,
  kept: Kept,
): EnrolledFactors {
  return {
    kept,
    async of(userId, contact) {
      const { app, keys } = await factorsOf({ account: userId, contact })
      return { app: kept.app && app, ...(kept.keys && keys && { keys }) }
    },
  }
}
