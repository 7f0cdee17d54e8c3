import * as z from 'zod'
import { type Amr, isStrength, type ShownMethod } from '../protocol/factor.js'
import {
  type Activity,
  activitySchema,
  type Challenge,
  challengeSchema,
  type ExemptRecord,
  type MfaRecord,
  type Settled,
  type Shown,
} from './record.js'

/*
 * How a record is written into the session. express-session parses, serializes and hashes the whole session at every
 * request, so a record is one short text, with an object around it only during an activity such as a challenge:
 *
 *   2p <transaction> <started> <session id> <user id>
 *   2v <transaction> <started> <verified> <amr> <shown> <session id> <user id>
 *   2t <transaction> <started> <device> <factors> <settled at> <changes> <session id> <user id>
 *   2e <transaction> <started> p|r|n[,<grace until>[,<strength>]] <settled at> <changes> <session id> <user id>
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

export function writeRecord(record: MfaRecord): StoredRecord {
  const text = textOf(record)
  const activity = writeActivity(record)
  return activity ? { record: text, ...activity } : text
}

/** The record that a session stores. One that does not fit, or of another user or session, is ignored. */
export function readRecord(stored: unknown, owner: RecordOwner): MfaRecord | undefined {
  if (typeof stored === 'string') return readText(stored, owner)
  if (typeof stored !== 'object' || stored === null) return undefined
  const text: unknown = Reflect.get(stored, 'record')
  if (typeof text !== 'string') return undefined
  const record = readText(text, owner)
  // As a pending login is at first, with its user alone.
  if (!ACTIVITIES.some((name) => Reflect.has(stored, name))) return record
  const activity = record && storedActivity.safeParse(stored).data
  return activity && Object.assign(record, activity)
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
      return `2e ${begin} ${exemptionText(record)} ${settledText(record.settled)}${owner}`
  }
}

function readText(text: string, { userId, sessionId }: RecordOwner): MfaRecord | undefined {
  const ownerAt = text.length - userId.length - sessionId.length - 2
  if (!text.endsWith(userId) || !text.startsWith(` ${sessionId} `, ownerAt)) return undefined
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
  const settled = readSettled(parts.at(-2), parts.at(-1))
  if (!settled) return undefined
  const base = { userId, sessionId, transaction, startedAt, settled }
  if (stage === '2t' && length === 7 && first)
    return { stage: 'trusted', device: first, factors: letters, ...base }
  const exempted = stage === '2e' && length === 6 ? readExemption(first) : undefined
  return exempted && Object.assign(exempted, { stage: 'exempt' as const }, base)
}

function exemptionText({ exemption, grace }: ExemptRecord): string {
  const parts = grace ? [grace.until.toString(36), ...(grace.minStrength ? [grace.minStrength] : [])] : []
  return [EXEMPTION_LETTERS[exemption], ...parts].join()
}

function readExemption(text: string): Pick<ExemptRecord, 'exemption' | 'grace'> | undefined {
  const [letter = '', time, minStrength, ...rest] = text.split(',')
  const exemption = EXEMPTION_OF[letter]
  if (!exemption || rest.length > 0) return undefined
  if (time === undefined) return { exemption }
  const until = readTime(time)
  if (until === undefined) return undefined
  if (minStrength === undefined) return { exemption, grace: { until } }
  return isStrength(minStrength) ? { exemption, grace: { until, minStrength } } : undefined
}

function settledText({ at, changes }: Settled): string {
  return `${at.toString(36)} ${changes.toString(36)}`
}

function readSettled(time: string | undefined, count: string | undefined): Settled | undefined {
  const at = readTime(time)
  const changes = readTime(count)
  return at === undefined || changes === undefined ? undefined : { at, changes }
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

function writeActivity(record: MfaRecord): Record<string, unknown> | undefined {
  const isInText = (name: keyof Activity) => name === 'grace' && record.stage === 'exempt'
  const given = ACTIVITIES.filter((name) => record[name] !== undefined && !isInText(name))
  if (given.length === 0) return undefined
  return {
    ...Object.fromEntries(given.map((name) => [name, record[name]])),
    ...(record.challenge && { challenge: challengeList(record.challenge) }),
  }
}

const { shape } = challengeSchema

/** A challenge is a list, to keep the session short. */
const storedChallenge = z
  .tuple([
    shape.id,
    shape.factorId,
    shape.method,
    shape.delivery,
    shape.startedAt,
    shape.expiresAt,
    shape.resendAt.unwrap().nullable(),
    shape.service.unwrap().nullable(),
    z.literal(1).optional(),
  ])
  .transform(
    ([id, factorId, method, delivery, startedAt, expiresAt, resendAt, service, reports]): Challenge => ({
      id,
      factorId,
      method,
      delivery,
      startedAt,
      expiresAt,
      ...(resendAt !== null && { resendAt }),
      ...(service !== null && { service }),
      ...(reports && { reports: true }),
    }),
  )

const storedActivity = activitySchema.extend({ challenge: storedChallenge.optional() })

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
