import { type Contact, canonicalUser } from '../protocol/contact.js'
import type { MfaService } from '../protocol/service.js'

/** How long an answer of the service is used. A user without an app may enroll one in another process meanwhile. */
const USED_FOR_MS = { app: 10 * 60_000, none: 30_000 } as const

/** How many users are remembered; the oldest is forgotten first. */
const MAX_USERS = 10_000

/** Which users have an authenticator app, as the service knows. */
export interface EnrolledApps {
  /**
   * Whether the user has an app; `false` if the service cannot tell.
   * @throws {ServiceError} when the service fails and its last answer is too old.
   */
  has(userId: string, contact: Contact): Promise<boolean>
  /** Forgets the answer about a user, whose app has changed. */
  forget(userId: string): void
}

interface Known {
  readonly contact: string
  readonly answer: Promise<boolean>
  /** In milliseconds since 1970; absent while the service is being asked. */
  usedUntil?: number
}

/** Asks the service which users have an app. Answers are remembered in this process; failures are not. */
export function enrolledAppsIn(factorsOf: NonNullable<MfaService['factorsOf']>): EnrolledApps {
  const known = new Map<string, Known>()

  const ask = (userId: string, contact: Contact, name: string): Known => {
    const answer = factorsOf({ account: userId, contact }).then((factors) => factors?.app === true)
    const entry: Known = { contact: name, answer }
    known.delete(userId)
    known.set(userId, entry)
    const [oldest] = known.keys()
    if (known.size > MAX_USERS && oldest !== undefined) known.delete(oldest)
    answer.then(
      (hasApp) => {
        entry.usedUntil = Date.now() + (hasApp ? USED_FOR_MS.app : USED_FOR_MS.none)
      },
      () => {
        if (known.get(userId) === entry) known.delete(userId)
      },
    )
    return entry
  }

  return {
    has(userId, contact) {
      const name = canonicalUser(contact)
      const entry = known.get(userId)
      const isUsable =
        entry?.contact === name && (entry.usedUntil === undefined || entry.usedUntil > Date.now())
      return (isUsable ? entry : ask(userId, contact, name)).answer
    },
    forget: (userId) => void known.delete(userId),
  }
}
