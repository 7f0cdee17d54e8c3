import { HostError } from '../errors.js'
import type { Settings } from '../options/settings.js'
import { type Contact, canonicalUser } from '../protocol/contact.js'
import type { RecordedFactors } from '../protocol/factor.js'
import type { EnrolledFactors } from './enrolled-factors.js'
import { backupTarget, type MfaUser } from './user.js'

/** A user of the host whose record is meant. */
export interface RecordedUser extends Pick<MfaUser, 'userId' | 'factors'> {
  readonly user: Express.User
  /** The contact under which the service stores the user's app. */
  readonly contact: Contact
}

/** The host's record of factors: what `recordedFactors` reads and `onFactorsChanged` writes. */
export interface FactorRecord {
  /**
   * What the record says; `undefined` if it cannot tell.
   * @throws {HostError} when it is invalid.
   */
  read(user: Express.User): Promise<RecordedFactors | undefined>
  /** Whether a record says that the user has no factor. A record that cannot tell does not. */
  saysNone(recorded: RecordedFactors | undefined): boolean
  /**
   * Has the record follow a change that is made. `change` is what is known of it without asking the service. A failure is logged: the
   * record is corrected at the next sign-in. Only where the service cannot tell who has an app, the failure is thrown, because nothing
   * else knows of it.
   */
  follow(who: RecordedUser, change: Partial<RecordedFactors>): Promise<void>
  /** Corrects a record that differs from what the service has just said. Nothing waits for it, and it never fails. */
  correct(who: RecordedUser, found: RecordedFactors): void
}

const NONE: RecordedFactors = { app: false, keys: false, backupCodes: false }
const NAMES = ['app', 'keys', 'backupCodes'] as const
/** How long a record that was compared is not compared again, so that one that cannot be written is not written at each request. */
const COMPARED_FOR_MS = 60_000
/** How many users are remembered; the oldest is forgotten first. */
const MAX_USERS = 10_000
/** How often a record is written for one change, if the factors go on changing meanwhile. */
const MAX_WRITES = 3

/** The record of a host that gives both functions. `enrolledFactors` is absent if the service cannot tell. */
export function factorRecordIn(
  {
    recordedFactors,
    onFactorsChanged,
    logger,
  }: Pick<Settings, 'recordedFactors' | 'onFactorsChanged' | 'logger'>,
  enrolledFactors: EnrolledFactors | undefined,
): FactorRecord | undefined {
  if (!recordedFactors || !onFactorsChanged) return undefined
  const compared = new Map<string, { readonly found: string; readonly until: number }>()

  const read = async (user: Express.User) => checkedRecord(await recordedFactors(user))

  /** What the service says now. Codes are counted for the contact that receives them, which need not be that of the app. */
  const now = async (who: RecordedUser): Promise<RecordedFactors | undefined> => {
    const found = await enrolledFactors?.of(who.userId, who.contact)
    const other = otherCodesContact(who)
    if (!found || !other) return found?.recorded
    const codes = await enrolledFactors?.of(who.userId, other)
    return { ...found.recorded, backupCodes: codes?.recorded.backupCodes ?? false }
  }

  /**
   * Writes until the service says what was written. Two changes at once would otherwise be written in either order, and a record that
   * says "none" could be the later one.
   */
  const write = async (who: RecordedUser, first: RecordedFactors): Promise<void> => {
    let next: RecordedFactors | undefined = first
    for (let writes = 0; next && writes < MAX_WRITES; writes++) {
      const written: RecordedFactors = next
      await onFactorsChanged(who.user, written)
      const found = await now(who).catch(() => undefined)
      next = found && !isSame(found, written) ? found : undefined
    }
  }

  return {
    read,
    saysNone: (recorded) => recorded !== undefined && isSame(recorded, NONE),
    async follow(who, change) {
      compared.delete(who.userId)
      const isAdded = Object.values(change).includes(true)
      try {
        const found = await now(who).catch((error: unknown) => {
          // The record may name a factor too many, never one too few.
          if (isAdded) return undefined
          throw error
        })
        await write(who, found ?? { ...NONE, ...(await read(who.user)), ...change })
      } catch (error) {
        if (!enrolledFactors && change.app) throw error
        logger.error(
          'countersign: the record of a user’s factors did not follow a change; it is corrected at the next sign-in',
          error,
        )
      }
    },
    correct(who, found) {
      const { userId } = who
      const known = compared.get(userId)
      const text = JSON.stringify(NAMES.map((name) => found[name]))
      if (known?.found === text && known.until > Date.now()) return
      compared.delete(userId)
      compared.set(userId, { found: text, until: Date.now() + COMPARED_FOR_MS })
      const [oldest] = compared.keys()
      if (compared.size > MAX_USERS && oldest !== undefined) compared.delete(oldest)
      const correct = async () => {
        const recorded = await read(who.user)
        const told = otherCodesContact(who) ? (['app', 'keys'] as const) : NAMES
        if (recorded && told.every((name) => recorded[name] === found[name])) return
        await write(who, (await now(who)) ?? found)
      }
      correct().catch((error: unknown) =>
        logger.error('countersign: the record of a user’s factors could not be corrected', error),
      )
    },
  }
}

function isSame(one: RecordedFactors, other: RecordedFactors): boolean {
  return NAMES.every((name) => one[name] === other[name])
}

/** The contact that receives the user's backup codes, if it is another one than that of the app. */
function otherCodesContact({ factors, contact }: RecordedUser): Contact | undefined {
  const target = backupTarget({ existing: factors })?.contact
  return target && canonicalUser(target) !== canonicalUser(contact) ? target : undefined
}

/** A record that lacks a member cannot tell. */
function checkedRecord(given: unknown): RecordedFactors | undefined {
  if (given === undefined || given === null) return undefined
  const values = NAMES.map((name): unknown => (typeof given === 'object' ? Reflect.get(given, name) : given))
  if (values.some((value) => value !== undefined && value !== null && typeof value !== 'boolean')) {
    throw new HostError(
      'ERR_MFA_FACTORS',
      'The option recordedFactors returned an invalid record, so the user is not signed in. Return what onFactorsChanged was given, such as { app: true, keys: false, backupCodes: true }, or undefined for a user for whom it was never called.',
    )
  }
  const [app, keys, backupCodes] = values
  return typeof app === 'boolean' && typeof keys === 'boolean' && typeof backupCodes === 'boolean'
    ? { app, keys, backupCodes }
    : undefined
}
