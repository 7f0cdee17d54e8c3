import * as z from 'zod'
import { isObject } from '../json.js'
import type { Amr, ShownMethod } from '../protocol/factor.js'
import { remember } from '../remember.js'
import { pickGiven } from '../shape.js'
import { letInText, readLetIn } from './let-in-text.js'
import {
  type Activity,
  activitySchema,
  type Challenge,
  challengeSchema,
  type MfaRecord,
  type RecordOwner,
  type Shown,
} from './record.js'
import { invert, readTime } from './text-parts.js'

/*
 * How a record is written into the session. express-session parses, serializes and hashes the whole session at every
 * request, so a record is one short text, with an object around it only during an activity such as a challenge:
 *
 *   2p <transaction> <started> <session id> <user id>
 *   2v <transaction> <started> <verified> <amr> <shown> <session id> <user id>
 *   2t|2e <transaction> <started> (see let-in-text.ts) <session id> <user id>
 *
 *   { "record": "2p …", "returnTo": "/vault", "challenge": ["…", "sms", …] }
 *
 * A record with nothing beside it is one text with the name of its product before it: `@/mfa 2v …`.
 *
 * While the login is pending, `user` in this object can be the user as Passport serialized them (`store.ts`); the records of several
 * products are side by side (`product.ts`).
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
const AMR_OF = invert(AMR_LETTERS)
const METHOD_OF = invert(METHOD_LETTERS)

/** Stands for an empty list. */
const NONE = '-'

/** The value of `req.session.mfa`. */
export type StoredRecord = string | ({ readonly record: string } & Record<string, unknown>)

/** Writes a record as it is stored. */
export function writeRecord(record: MfaRecord): StoredRecord {
  const text = writeText(record)
  const activity = writeActivity(record)
  return activity ? { record: text, ...activity } : text
}

/** The record that a session stores. One that does not fit, or of another user or session, is ignored. */
export function readRecord(stored: unknown, owner: RecordOwner): MfaRecord | undefined {
  if (typeof stored === 'string') return readText(stored, owner)
  if (!isObject(stored) || typeof stored.record !== 'string') return undefined
  const record = readText(stored.record, owner)
  // As almost always, and a pending login at first.
  if (Object.keys(stored).every((name) => BESIDE_ACTIVITY.includes(name))) return record
  const activity = record && storedActivity.safeParse(stored).data
  return activity && { ...record, ...activity }
}

/** Whether what a session stores is the record of a pending login in this session. Its user is checked by `readRecord`. */
export function isRecordOf(stored: unknown, sessionId: string): boolean {
  return isPendingRecord(stored) && findText(stored).includes(` ${sessionId} `)
}

/** Whether a stored record is one of a pending login. */
export function isPendingRecord(stored: unknown): boolean {
  return findText(stored).startsWith('2p ')
}

/** Whether what a session stores is a record of this user in this session. */
export function isOwnedBy(stored: unknown, { userId, sessionId }: Omit<RecordOwner, 'product'>): boolean {
  return findText(stored).endsWith(` ${sessionId} ${userId}`)
}

function findText(stored: unknown): string {
  const { record } = readParts(stored)
  return typeof record === 'string' ? record : ''
}

/** Begins the text of a record with the name of its product. */
const NAMED = '@'

/** Writes a record with nothing beside it and the name of its product, if that has no space. */
export function writeNamed(product: string, record: unknown): string | undefined {
  return typeof record === 'string' && !product.includes(' ') ? `${NAMED}${product} ${record}` : undefined
}

/** The members of what a session stores: the text of the record, its product, and what is beside it. */
export function readParts(stored: unknown): Readonly<Record<string, unknown>> {
  if (isObject(stored)) return stored
  if (typeof stored !== 'string' || !stored.startsWith(NAMED)) return { record: stored }
  const end = stored.indexOf(' ')
  return { product: stored.slice(NAMED.length, end), record: stored.slice(end + 1) }
}

/** The members beside the text of a record that are no activity. */
const BESIDE_ACTIVITY = ['record', 'product', 'others', 'user']

function writeText(record: MfaRecord): string {
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
      return `2v ${begin} ${verifiedAt.toString(36)} ${letters || NONE} ${writeShown(shown, verifiedAt)}${owner}`
    }
    case 'trusted':
      return `2t ${begin} ${letInText(record)}${owner}`
    case 'exempt':
      return `2e ${begin} ${letInText(record)}${owner}`
  }
}

/** The records that were read, by their texts: pages of a session mostly find the same one. Requests share it, so it is frozen. */
const readBefore = new Map<string, MfaRecord>()

function readText(text: string, owner: RecordOwner): MfaRecord | undefined {
  const known = readBefore.get(text)
  const { product, userId, sessionId } = owner
  if (known && known.product === product && known.userId === userId && known.sessionId === sessionId)
    return known
  const record = recordIn(text, owner)
  return record && remember(readBefore, text, Object.freeze(record))
}

function recordIn(text: string, { product, userId, sessionId }: RecordOwner): MfaRecord | undefined {
  const ownerAt = text.length - userId.length - sessionId.length - 2
  if (!text.endsWith(userId) || !text.startsWith(` ${sessionId} `, ownerAt)) return undefined
  const parts = text.slice(0, ownerAt).split(' ')
  const [stage, transaction = '', started, first = '', letters = '', shown = ''] = parts
  const startedAt = readTime(started)
  if (startedAt === undefined || !/^[\w-]{1,64}$/.test(transaction)) return undefined
  const base = { product, userId, sessionId, transaction, startedAt }
  const { length } = parts
  if (stage === '2v' && length === 6) {
    const verifiedAt = readTime(first)
    const amr = readLetters(letters)
    const times = verifiedAt === undefined ? undefined : readShown(shown, verifiedAt)
    if (verifiedAt === undefined || !amr || !times) return undefined
    return { stage: 'verified', ...base, verifiedAt, amr, shown: times }
  }
  if (stage === '2p' && length === 3) return { stage: 'pending', ...base }
  return readLetIn(parts, base)
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

function writeShown(shown: Shown, verifiedAt: number): string {
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

/** A challenge is stored as the list of these members and `reports`, to keep the session short. */
const LISTED = challengeSchema.omit({ reports: true }).keyof().options

const storedChallenge = z
  .array(z.unknown())
  .min(LISTED.length)
  .max(LISTED.length + 1)
  .transform((list) => {
    const members = LISTED.map((name, at) => [name, list[at] ?? undefined] as const)
    const reports = list[LISTED.length] === 1 ? true : list[LISTED.length]
    return pickGiven({ ...Object.fromEntries(members), reports }) as z.input<typeof challengeSchema>
  })
  .pipe(challengeSchema)

const storedActivity = activitySchema.extend({ challenge: storedChallenge.optional() })

function challengeList(challenge: Challenge): readonly unknown[] {
  const list = LISTED.map((name) => challenge[name] ?? null)
  return challenge.reports ? [...list, 1] : list
}
