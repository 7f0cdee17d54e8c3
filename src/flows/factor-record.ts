import { HostError } from '../errors.js'
import { isObject } from '../json.js'
import { answerNone, nothing } from '../no-op.js'
import type { Settings } from '../options/settings.js'
import { type Contact, canonicalUser } from '../protocol/contact.js'
import type { RecordedFactors } from '../protocol/factor.js'
import { remember } from '../remember.js'
import { backupTarget } from './backup-target.js'
import type { EnrolledFactors } from './enrolled-factors.js'
import type { MfaUser } from './user.js'

/** A user of the host whose record is meant. */
export interface RecordedUser extends Pick<MfaUser, 'userId' | 'factors'> {
  readonly user: Express.User
  /** The contact under which the service stores the user's app. */
  readonly contact: Contact
}

/** The host's record of factors: what `recordedFactors` reads and `onFactorsChanged` writes. */
export interface FactorRecord {
  /** The factors in the record; `undefined` if it cannot tell. @throws {HostError} when it is invalid. */
  read(user: Express.User): Promise<RecordedFactors | undefined>
  /** Whether a record says that the user has no factor. A record that cannot tell does not. */
  saysNone(recorded: RecordedFactors | undefined): boolean
  /** Has the record follow a change (R141). A failure is logged, or thrown where nothing else knows of the app. */
  follow(who: RecordedUser, change: Partial<RecordedFactors>): Promise<void>
  /** Returns and reports what the record has and the service lacks (R141); without any, corrects the record. @throws {HostError} */
  compare(who: RecordedUser, found: RecordedFactors): Promise<readonly ('app' | 'passkey')[]>
}

/** For a host that keeps no record. It never says that a user has no factor. */
const NO_RECORD: FactorRecord = {
  read: nothing,
  saysNone: () => false,
  follow: nothing,
  compare: answerNone,
}

const NONE: RecordedFactors = { app: false, keys: false, backupCodes: false }
const NAMES = ['app', 'keys', 'backupCodes'] as const
/** The factors that make its user one with MFA. Backup codes do not, and are used up. */
const KEPT = ['app', 'keys'] as const
/** A record does not say which kind of key it has, so the stronger one counts. */
const METHOD_OF = { app: 'app', keys: 'passkey' } as const
/** How long a record that was compared is not compared again, so that one that cannot be written is not written at each request. */
const COMPARED_FOR_MS = 60_000
/** How often a record is written for one change, if the factors go on changing meanwhile. */
const MAX_WRITES = 3

type KeptFactor = (typeof KEPT)[number]

/** The record of a host that gives both functions. `onContradiction`: at most once a minute for each user. */
export function createFactorRecord(
  {
    recordedFactors,
    onFactorsChanged,
    logger,
  }: Pick<Settings, 'recordedFactors' | 'onFactorsChanged' | 'logger'>,
  enrolledFactors: EnrolledFactors,
  onContradiction: (userId: string, missing: readonly KeptFactor[]) => void,
): FactorRecord {
  if (!recordedFactors || !onFactorsChanged) return NO_RECORD
  const compared = new Map<string, { readonly found: string; readonly until: number }>()
  /** The changes by this app that the record does not list yet. */
  const unwritten = new Map<string, Partial<RecordedFactors>>()

  const read = async (user: Express.User) => checkRecord(await recordedFactors(user))

  /** The factors of a record that the service cannot take away: all that this app did not remove. */
  const listKept = ({ userId }: RecordedUser, recorded: RecordedFactors | undefined) =>
    KEPT.filter((name) => recorded?.[name] && unwritten.get(userId)?.[name] !== false)

  /** The factors that the service lists now, with what is kept. Codes count for the contact that receives them. */
  const findCurrent = async (
    who: RecordedUser,
    kept: readonly KeptFactor[],
  ): Promise<RecordedFactors | undefined> => {
    const found = await enrolledFactors.of(who.userId, who.contact)
    if (!found) return undefined
    const other = findOtherCodesContact(who)
    const codes = other ? await enrolledFactors.of(who.userId, other) : found
    return {
      ...found.recorded,
      backupCodes: codes?.recorded.backupCodes ?? false,
      ...Object.fromEntries(kept.map((name) => [name, true])),
    }
  }

  /** Writes until the service says what was written: of two changes at once, the older could be written last. */
  const write = async (
    who: RecordedUser,
    first: RecordedFactors,
    kept: readonly KeptFactor[],
  ): Promise<void> => {
    let next: RecordedFactors | undefined = first
    for (let writes = 0; next && writes < MAX_WRITES; writes++) {
      const written: RecordedFactors = next
      await onFactorsChanged(who.user, written)
      const found = await findCurrent(who, kept).catch(() => undefined)
      next = found && !isSame(found, written) ? found : undefined
    }
    unwritten.delete(who.userId)
  }

  /** Corrects a record that differs from what the service has just said. Nothing waits for it, and it never fails. */
  const correct = (who: RecordedUser, recorded: RecordedFactors | undefined, found: RecordedFactors) => {
    const told = findOtherCodesContact(who) ? KEPT : NAMES
    if (recorded && told.every((name) => recorded[name] === found[name])) return
    const kept = listKept(who, recorded)
    findCurrent(who, kept)
      .then((latest) => write(who, latest ?? found, kept))
      .catch((error: unknown) =>
        logger.error('countersign: the record of a user’s factors could not be corrected', error),
      )
  }

  return {
    read,
    saysNone: (recorded) => recorded !== undefined && isSame(recorded, NONE),
    async follow(who, change) {
      const { userId } = who
      compared.delete(userId)
      remember(unwritten, userId, { ...unwritten.get(userId), ...change })
      const isAdded = Object.values(change).includes(true)
      try {
        const recorded = await read(who.user)
        const kept = listKept(who, recorded)
        const found = await findCurrent(who, kept).catch((error: unknown) => {
          // The record may name a factor too many, never one too few.
          if (isAdded) return undefined
          throw error
        })
        await write(who, found ?? { ...NONE, ...recorded, ...change }, kept)
      } catch (error) {
        if (!enrolledFactors.canTell && change.app) throw error
        logger.error(
          'countersign: the record of a user’s factors did not follow a change; it is corrected at the next sign-in',
          error,
        )
      }
    },
    async compare(who, found) {
      const { userId } = who
      const recorded = await read(who.user)
      const kept = listKept(who, recorded)
      const missing = kept.filter((name) => !found[name])
      const known = compared.get(userId)
      const text = JSON.stringify([NAMES.map((name) => found[name]), missing])
      if (known?.found !== text || known.until <= Date.now()) {
        remember(compared, userId, { found: text, until: Date.now() + COMPARED_FOR_MS })
        if (missing.length > 0) onContradiction(userId, missing)
        else correct(who, recorded, found)
      }
      return missing.map((name) => METHOD_OF[name])
    },
  }
}

function isSame(one: RecordedFactors, other: RecordedFactors): boolean {
  return NAMES.every((name) => one[name] === other[name])
}

/** The contact that receives the user's backup codes, if it is not the app's. */
function findOtherCodesContact({ factors, contact }: RecordedUser): Contact | undefined {
  const target = backupTarget({ existing: factors })?.contact
  return target && canonicalUser(target) !== canonicalUser(contact) ? target : undefined
}

/** A record that lacks a member cannot tell. */
function checkRecord(given: unknown): RecordedFactors | undefined {
  if (given === undefined || given === null) return undefined
  const values = NAMES.map((name) => (isObject(given) ? given[name] : given))
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
