import { type Contact, canonicalUser } from '../protocol/contact.js'
import { KEY_METHODS, type KeyMethod } from '../protocol/methods.js'
import type { AccountFactors, ExistingFactor, MfaService } from '../protocol/service.js'

/** How long an answer is used to which nothing can be added elsewhere, and how long any other. */
const USED_FOR_MS = { complete: 10 * 60_000, incomplete: 30_000 } as const

/** How many users are remembered; the oldest is forgotten first. */
const MAX_USERS = 10_000

/** The factors of a user that the service keeps. */
export interface Enrolled {
  /** Whether the user has an authenticator app that can be used. */
  readonly app: boolean
  /** The kinds of keys that the user has and can use. Absent if the application offers no keys. */
  readonly keys?: readonly KeyMethod[]
  /** The methods of factors that the user has and cannot use now (R132). */
  readonly withheld: readonly ExistingFactor['method'][]
}

/** What can be used: hosts with `onAppEnrolled` list the app themselves, and not every app offers keys. */
export interface Kept {
  readonly app: boolean
  readonly keys: boolean
  /** Whether the service keeps keys, also those that cannot be used here. */
  readonly mayHaveKeys: boolean
}

/** Which users have an authenticator app or keys, as the service knows. */
export interface EnrolledFactors {
  /** What the service is asked about. */
  readonly kept: Kept
  /**
   * The factors of a user; none if the service cannot tell.
   * @throws {ServiceError} when the service fails and its last answer is too old.
   */
  of(userId: string, contact: Contact): Promise<Enrolled>
  /** Forgets the answer about a user, whose factors have changed. */
  forget(userId: string): void
}

interface Known {
  readonly contact: string
  readonly answer: Promise<Enrolled>
  /** In milliseconds since 1970; absent while the service is being asked. */
  usedUntil?: number
}

/** Asks the service which users have an app or keys. Answers are remembered in this process; failures are not. */
export function enrolledFactorsIn(
  factorsOf: NonNullable<MfaService['factorsOf']>,
  kept: Kept,
): EnrolledFactors {
  const known = new Map<string, Known>()

  const ask = (userId: string, contact: Contact, name: string): Known => {
    const answer = factorsOf({ account: userId, contact }).then((factors) => enrolledIn(factors, kept))
    const entry: Known = { contact: name, answer }
    known.delete(userId)
    known.set(userId, entry)
    const [oldest] = known.keys()
    if (known.size > MAX_USERS && oldest !== undefined) known.delete(oldest)
    answer.then(
      (enrolled) => {
        entry.usedUntil = Date.now() + USED_FOR_MS[isComplete(enrolled, kept) ? 'complete' : 'incomplete']
      },
      () => {
        if (known.get(userId) === entry) known.delete(userId)
      },
    )
    return entry
  }

  return {
    kept,
    of(userId, contact) {
      const name = canonicalUser(contact)
      const entry = known.get(userId)
      const isUsable =
        entry?.contact === name && (entry.usedUntil === undefined || entry.usedUntil > Date.now())
      return (isUsable ? entry : ask(userId, contact, name)).answer
    },
    forget: (userId) => void known.delete(userId),
  }
}

/** What an answer says. An app that the host keeps its own record of is the host's matter; keys are the service's in any case. */
function enrolledIn(factors: AccountFactors | undefined, kept: Kept): Enrolled {
  const { existing = [], offeredKeys = [] } = factors ?? {}
  const counted = existing.filter(({ method }) => method !== 'app' || kept.app)
  const isUsable = ({ method, usable }: ExistingFactor) => usable && (method === 'app' || kept.keys)
  const usable = counted.filter(isUsable).map(({ method }) => method)
  const keys = KEY_METHODS.filter((method) => usable.includes(method))
  return {
    app: usable.includes('app'),
    ...(kept.keys && (offeredKeys.length > 0 || keys.length > 0) && { keys }),
    withheld: counted.filter((factor) => !isUsable(factor)).map(({ method }) => method),
  }
}

/** Whether another process cannot add a factor that would be missed: the user has every one that is offered, and can use it. */
function isComplete({ app, keys = KEY_METHODS, withheld }: Enrolled, kept: Kept): boolean {
  return withheld.length === 0 && (app || !kept.app) && (keys.length === KEY_METHODS.length || !kept.keys)
}
