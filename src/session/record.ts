import * as z from 'zod'
import { BINDINGS } from '../protocol/details.js'
import { AMR_VALUES, type Amr, SHOWN_METHODS, type ShownMethod, STRENGTHS } from '../protocol/factor.js'
import { KEY_FAULTS, KEY_MEDIATIONS } from '../protocol/keys.js'
import { METHODS, type Method } from '../protocol/methods.js'

/*
 * The session's record: what `req.session.mfa` holds. It never holds a code, a secret or a contact (R10), and no counter:
 * express-session reads and writes a session as a whole, so parallel requests would overwrite each other's counts.
 */

/** The record of a session in which the first factor was shown. */
export type MfaRecord = PendingRecord | VerifiedRecord | TrustedRecord | ExemptRecord

/** The first factor was shown and the second is missing. */
export interface PendingRecord extends RecordBase {
  readonly stage: 'pending'
}

/** A second factor was shown in this session. */
export interface VerifiedRecord extends RecordBase {
  readonly stage: 'verified'
  /** When a second factor was last shown, in milliseconds since 1970. */
  readonly verifiedAt: number
  /** What was proven in this session. */
  readonly amr: readonly Amr[]
  /** When each method was last shown in this session, in milliseconds since 1970. */
  readonly shown: Shown
}

/** A trusted device took the place of the second factor. It proves nothing (R67), and is valid as long as the device is. */
export interface TrustedRecord extends RecordBase {
  readonly stage: 'trusted'
  /** The device's public id. */
  readonly device: string
  /** The factors that the trust is bound to, as a digest. */
  readonly factors: string
  readonly settled: Settled
}

/** When the decision was made that let a session in without a factor, and after how many changes of the user's factors (R133). */
export interface Settled {
  /** When the service was asked, in milliseconds since 1970. */
  readonly at: number
  /** How many changes of the user's factors this app had counted before. */
  readonly changes: number
}

/** The user is signed in without a second factor. */
export interface ExemptRecord extends RecordBase {
  readonly stage: 'exempt'
  /**
   * `policy`: the host's policy exempted this session. `proven`: so did it, and the login itself proved the user (R120).
   * `not_required`: no second factor was required; that is decided again when a factor of the user changes, and now and then.
   */
  readonly exemption: 'policy' | 'proven' | 'not_required'
  readonly settled: Settled
}

/** When each method was last shown, in milliseconds since 1970. A backup code counts by the contact that received it (R93). */
export type Shown = Readonly<Partial<Record<ShownMethod, number>>>

interface RecordBase extends Activity {
  /** The user that the record belongs to; it is void for any other (R04). */
  readonly userId: string
  /** The session that the record was written into; it is void in any other, as after `keepSessionInfo` (R04). */
  readonly sessionId: string
  /** The id of this pending login, or of the time since the last second factor. */
  readonly transaction: string
  /** When the first factor was shown, in milliseconds since 1970. */
  readonly startedAt: number
}

const time = z.number().int().nonnegative()
const method = z.enum([...METHODS, 'backup'])

/** A challenge as it is stored: a list, to keep the session short. */
const challenge = z
  .tuple([
    z.string(),
    z.string(),
    method,
    z.enum(['sent', 'queued', 'none']),
    time,
    time,
    time.nullable(),
    z.string().nullable(),
    z.literal(1).optional(),
  ])
  .transform(
    ([id, factorId, shownBy, delivery, startedAt, expiresAt, resendAt, service, reports]): Challenge => ({
      id,
      factorId,
      method: shownBy,
      delivery,
      startedAt,
      expiresAt,
      ...(resendAt !== null && { resendAt }),
      ...(service !== null && { service }),
      ...(reports && { reports: true }),
    }),
  )

/** The one live challenge of a session (R06). Times are milliseconds since 1970. */
export interface Challenge {
  /** The plugin's id of the challenge, under which its attempts are counted. */
  readonly id: string
  readonly factorId: string
  readonly method: Method | 'backup'
  readonly delivery: 'sent' | 'queued' | 'none'
  readonly startedAt: number
  readonly expiresAt: number
  readonly resendAt?: number
  /** The service's id of the challenge. */
  readonly service?: string
  /** Whether the service reports if the message arrived. */
  readonly reports?: true
}

const strength = z.enum(STRENGTHS)

const evidence = z.object({
  issuer: z.string(),
  amr: z.array(z.string()),
  acr: z.string().optional(),
  /** When the user showed the factors, in milliseconds since 1970. */
  authTime: time,
  /** Absent if the evidence does not count. */
  strength: strength.optional(),
  /** Whether it is enough to set up the first factor of an account. */
  mayEnroll: z.boolean().optional(),
})

/** What is under way in a session besides its stage, as it is stored. */
export const activitySchema = z.object({
  /** The return address: a path on this site. */
  returnTo: z.string().optional(),
  challenge: challenge.optional(),
  /** An authenticator app that waits for its first code. */
  enrollment: z
    .object({
      id: z.string(),
      startedAt: time,
      /** QR code and key, encrypted under a key that only the browser has. */
      sealed: z.string().optional(),
    })
    .optional(),
  /** A security key or passkey that the browser creates; `conditional`: without a prompt. */
  keyRegistration: z
    .object({ id: z.string(), startedAt: time, mediation: z.enum(KEY_MEDIATIONS).optional() })
    .optional(),
  /**
   * A passkey is offered after the sign-in; the address after the page that offers it. `tried`: the browser was asked to create it
   * without a prompt.
   */
  keyOffer: z.object({ next: z.string(), tried: z.literal(true).optional() }).optional(),
  /** The refusal of the last form, for the page at `path`, which shows it as often as it is loaded. */
  refused: z
    .object({
      path: z.string(),
      at: time,
      code: z.string(),
      attemptsLeft: z.number().int().nonnegative().optional(),
      clockSteps: z.number().int().optional(),
      fault: z.enum(KEY_FAULTS).optional(),
      retryAfterSeconds: z.number().nonnegative().optional(),
      /** Whether the form asked to trust this browser. */
      trust: z.boolean().optional(),
    })
    .optional(),
  /** The account's authenticator app has a short secret, and should be set up again. */
  weakApp: z.literal(true).optional(),
  /** An authenticator app or a key was set up in this session; the address after the page that says so. */
  enrolled: z.object({ next: z.string() }).optional(),
  /** What the login brought along as evidence, and what it counts as (R109). */
  evidence: evidence.optional(),
  /** A member of staff acts for the user in this session (R117). */
  acting: z
    .object({
      /** Who acts: the host's id of that person. */
      actor: z.string(),
      /** The id of the session that they acted from, which `record` belongs to. */
      from: z.string(),
      /** What they had proven, as that session stored it. */
      record: z.unknown(),
      /** The actor, as Passport serialized them. */
      user: z.unknown(),
      reason: z.string(),
    })
    .optional(),
  /** The browser was sent to an issuer to show a factor again; `askedAt` is when, in milliseconds since 1970. */
  issuerStepUp: z.object({ issuer: z.string(), askedAt: time }).optional(),
  /** The least strength of the factor that makes this pending login a verified session (R115, R116). */
  minStrength: strength.optional(),
  /** Until when the user may sign in with less than the policy requires: with less than this strength, or without a factor. */
  grace: z.object({ until: time, minStrength: strength.optional() }).optional(),
  /**
   * This pending login showed what it takes to set up a factor: what the reset with this id requires, or, with `stronger`, the
   * strongest factor of an account that has none of `minStrength`.
   */
  mustEnroll: z.string().optional(),
  /**
   * This pending login asks for a recovery, because the user lost the factor that is strong enough: it accepts a weaker one for that,
   * or has accepted the one in `shown`.
   */
  recovery: z.object({ shown: z.enum(SHOWN_METHODS).optional(), at: time }).optional(),
  /** A route requires a fresh second factor. */
  stepUp: z
    .object({
      /** The ids of the factors that count for it. Defaults to all. */
      factors: z.array(z.string()).optional(),
      /** Whether a backup code counts. Defaults to yes. */
      backup: z.boolean().optional(),
    })
    .optional(),
  /**
   * A request that the user is asked to approve or, with `granted`, has approved (R121). Whether it is still open is in the store of
   * the counters.
   */
  approval: z
    .object({
      id: z.string(),
      /** When it was opened or approved. */
      at: time,
      /** Of everything that it is bound to. */
      digest: z.string(),
      details: z.looseObject({ type: z.string() }),
      /** What the user is shown. */
      lines: z.array(z.object({ label: z.string(), value: z.string() })),
      granted: z
        .object({
          method,
          shown: z.enum(SHOWN_METHODS),
          amr: z.array(z.enum(AMR_VALUES)),
          binding: z.enum(BINDINGS),
          /** The id of the factor; absent for a backup code. */
          factor: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
  /** A posted form that waits for a second factor: its path, and the fields to offer again. */
  interrupted: z
    .object({
      path: z.string(),
      at: time,
      fields: z.record(z.string(), z.string()),
      /** The labels of the fields: one text, or one for each language; `false` hides a field. */
      labels: z
        .record(z.string(), z.union([z.string(), z.record(z.string(), z.string()), z.literal(false)]))
        .optional(),
      /** What the form is about: one text, or one for each language. */
      title: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
    })
    .optional(),
  /** How many backup codes are left, if that is known; if they are few, the address after the warning page. */
  backupCodes: z.object({ left: z.number().int().nonnegative(), next: z.string().optional() }).optional(),
  /** Backup codes wait for the page that shows them once, encrypted under a key that only the browser has. */
  codesShown: z
    .object({ id: z.string(), at: time, sealed: z.string(), next: z.string().optional() })
    .optional(),
  /** Backup codes were sent from this session: how many, if the service says, and the return address. */
  codesSent: z
    .object({ count: z.number().int().nonnegative().optional(), next: z.string().optional() })
    .optional(),
})

/** What is under way in a session besides its stage. */
export type Activity = Readonly<z.output<typeof activitySchema>>

/** What a login brought along as evidence. */
export type Evidence = NonNullable<Activity['evidence']>

/** A running grace period. `until` is in milliseconds since 1970. */
export type Grace = NonNullable<Activity['grace']>

/** A request that the user is asked to approve, or has approved. */
export type RequestedApproval = NonNullable<Activity['approval']>

/** A posted form that waits for a second factor. */
export type InterruptedRequest = NonNullable<Activity['interrupted']>

/*
 * How a record is written into the session. express-session parses, serializes and hashes the whole session at every
 * request, so a record is one short text, with an object around it only during an activity such as a challenge:
 *
 *   2p <transaction> <started> <session id> <user id>
 *   2v <transaction> <started> <verified> <amr> <shown> <session id> <user id>
 *   2t <transaction> <started> <device> <factors> <settled at> <changes> <session id> <user id>
 *   2e <transaction> <started> p|r|n <settled at> <changes> <session id> <user id>
 *
 *   { "record": "2p …", "returnTo": "/vault", "challenge": ["…", "sms", …] }
 *
 * While the login is pending, `user` in this object can be the user as Passport serialized them (`store.ts`).
 *
 * Times are milliseconds since 1970 in base 36. `amr` is a letter for each value. `shown` is a letter for each method, with
 * its time where that is not the time of the verification. The letter before the transaction is the stage.
 */

const AMR_LETTERS: Readonly<Record<Amr, string>> = {
  pwd: 'p',
  otp: 'o',
  sms: 's',
  tel: 't',
  hwk: 'h',
  swk: 'k',
  user: 'u',
  mfa: 'm',
}
const METHOD_LETTERS: Readonly<Record<ShownMethod, string>> = {
  app: 'a',
  'security-key': 'k',
  passkey: 'y',
  email: 'e',
  sms: 's',
  whatsapp: 'w',
  call: 'c',
  dual: 'd',
  backup: 'b',
  phone_backup: 'p',
  page_backup: 'g',
}
const EXEMPTION_LETTERS: Readonly<Record<ExemptRecord['exemption'], string>> = {
  policy: 'p',
  proven: 'r',
  not_required: 'n',
}
const EXEMPTION_OF = inverted(EXEMPTION_LETTERS)
const AMR_OF = inverted(AMR_LETTERS)
const METHOD_OF = inverted(METHOD_LETTERS)

/** Stands for an empty list. */
const NONE = '-'

/** The user and session that a record must belong to. */
export interface RecordOwner {
  readonly userId: string
  readonly sessionId: string
}

/** The value of `req.session.mfa`. */
export type StoredRecord = string | ({ readonly record: string } & Record<string, unknown>)

/** The record as the session stores it. */
export function writeRecord(record: MfaRecord): StoredRecord {
  const text = textOf(record)
  const activity = writeActivity(record)
  return activity ? { record: text, ...activity } : text
}

/**
 * The record that a session stores, if it is valid and belongs to this user and session. Other programs may write to the
 * same store, so anything that does not fit is ignored.
 */
export function readRecord(stored: unknown, owner: RecordOwner): MfaRecord | undefined {
  if (typeof stored === 'string') return readText(stored, owner)
  if (typeof stored !== 'object' || stored === null) return undefined
  const text: unknown = Reflect.get(stored, 'record')
  if (typeof text !== 'string') return undefined
  const record = readText(text, owner)
  const activity = record && activitySchema.safeParse(stored).data
  return activity && { ...record, ...activity }
}

/** Whether what a session stores is the record of a pending login in this session. Its user is checked by `readRecord`. */
export function isRecordOf(stored: unknown, sessionId: string): boolean {
  const text: unknown = typeof stored === 'object' && stored !== null ? Reflect.get(stored, 'record') : stored
  return typeof text === 'string' && text.startsWith('2p ') && text.includes(` ${sessionId} `)
}

function textOf(record: MfaRecord): string {
  const { transaction, startedAt, sessionId, userId } = record
  const begin = `${transaction} ${startedAt.toString(36)}`
  // A user id may contain spaces, so this part is compared as a whole instead of being split.
  const owner = ` ${sessionId} ${userId}`
  switch (record.stage) {
    case 'pending':
      return `2p ${begin}${owner}`
    case 'verified': {
      const { verifiedAt, amr, shown } = record
      const letters = amr.map((value) => AMR_LETTERS[value]).join('')
      return `2v ${begin} ${verifiedAt.toString(36)} ${letters || NONE} ${shownText(shown, verifiedAt)}${owner}`
    }
    case 'trusted':
      return `2t ${begin} ${record.device} ${record.factors} ${settledText(record.settled)}${owner}`
    case 'exempt':
      return `2e ${begin} ${EXEMPTION_LETTERS[record.exemption]} ${settledText(record.settled)}${owner}`
  }
}

function readText(text: string, { userId, sessionId }: RecordOwner): MfaRecord | undefined {
  const ownerAt = text.length - userId.length - sessionId.length - 2
  if (ownerAt < 0 || !text.endsWith(userId) || !text.startsWith(` ${sessionId} `, ownerAt)) return undefined
  const parts = text.slice(0, ownerAt).split(' ')
  const [stage, transaction = '', started, first = '', letters = '', shown = ''] = parts
  const startedAt = readTime(started)
  if (startedAt === undefined || !/^[\w-]{1,64}$/.test(transaction)) return undefined
  const { length } = parts
  if (stage === '2v' && length === 6) {
    const verifiedAt = readTime(first)
    const amr = readLetters(letters)
    const times = verifiedAt === undefined ? undefined : readShown(shown, verifiedAt)
    if (verifiedAt === undefined || !amr || !times) return undefined
    return { stage: 'verified', userId, sessionId, transaction, startedAt, verifiedAt, amr, shown: times }
  }
  if (stage === '2p' && length === 3) return { stage: 'pending', userId, sessionId, transaction, startedAt }
  const settled = readSettled(parts.slice(-2))
  if (!settled) return undefined
  const base = { userId, sessionId, transaction, startedAt, settled }
  if (stage === '2t' && length === 7 && first)
    return { ...base, stage: 'trusted', device: first, factors: letters }
  const exemption = EXEMPTION_OF[first]
  return stage === '2e' && length === 6 && exemption ? { ...base, stage: 'exempt', exemption } : undefined
}

function settledText({ at, changes }: Settled): string {
  return `${at.toString(36)} ${changes.toString(36)}`
}

function readSettled([at, changes]: readonly string[]): Settled | undefined {
  const [time, count] = [readTime(at), readTime(changes)]
  return time === undefined || count === undefined ? undefined : { at: time, changes: count }
}

function readTime(text: string | undefined): number | undefined {
  const time = text !== undefined && /^[\da-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : undefined
  return Number.isSafeInteger(time) ? time : undefined
}

function readLetters(letters: string): Amr[] | undefined {
  if (letters === NONE) return []
  const values: Amr[] = []
  for (const letter of letters) {
    const value = AMR_OF[letter]
    if (!value) return undefined
    values.push(value)
  }
  return values
}

function shownText(shown: Shown, verifiedAt: number): string {
  const parts = Object.entries(shown).map(
    ([method, at]) => METHOD_LETTERS[method as ShownMethod] + (at === verifiedAt ? '' : at.toString(36)),
  )
  return parts.join(',') || NONE
}

function readShown(text: string, verifiedAt: number): Shown | undefined {
  if (text === NONE) return {}
  const shown: { [Name in ShownMethod]?: number } = {}
  for (const part of text.split(',')) {
    const method = METHOD_OF[part.charAt(0)]
    const at = part.length === 1 ? verifiedAt : readTime(part.slice(1))
    if (!method || at === undefined) return undefined
    shown[method] = at
  }
  return shown
}

const ACTIVITIES = activitySchema.keyof().options

function writeActivity(record: Activity): Record<string, unknown> | undefined {
  const given = ACTIVITIES.filter((name) => record[name] !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((name) => [
      name,
      name === 'challenge' && record.challenge ? challengeList(record.challenge) : record[name],
    ]),
  )
}

function challengeList(challenge: Challenge): readonly (string | number | null)[] {
  const { id, factorId, method, delivery, startedAt, expiresAt, resendAt = null, service = null } = challenge
  const list = [id, factorId, method, delivery, startedAt, expiresAt, resendAt, service]
  return challenge.reports ? [...list, 1] : list
}

function inverted<Name extends string>(letters: Readonly<Record<Name, string>>) {
  const names = Object.entries(letters).map(([name, letter]) => [letter, name] as const)
  return Object.assign(Object.create(null), Object.fromEntries(names)) as Readonly<
    Partial<Record<string, Name>>
  >
}
