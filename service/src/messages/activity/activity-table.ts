import { createStatement, type Queries } from '../../store/store.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.js'

/**
 * The counts, in the order of the table's columns. `codes` are those of the sent messages that carry a code to type. The phone check
 * was asked about `checked` numbers; it refused the `risky` ones, and gave no answer about the `unchecked` ones.
 */
export const ACTIVITY_COUNTS = [
  ...['sent', 'codes', 'delivered', 'failed', 'typed', 'wrong', 'locked'],
  ...['checked', 'risky', 'unchecked'],
] as const
/** One of the counts. */
export type ActivityCount = (typeof ACTIVITY_COUNTS)[number]

/** The shortest time that is counted on its own. */
export const STEP_MS = 5 * MINUTE_MS

/** The application of the sums over all applications. No application can have this name. */
export const ALL_APPLICATIONS = ''

/** The subject of a row. */
export interface ActivityKey {
  readonly application: string
  /** The beginning of the step, in milliseconds since 1970. */
  readonly startsAt: number
  /** A channel (`email`, `sms`, `whatsapp`, `call`), `app`, `backup`, or the kind of a key. */
  readonly method: string
  /** The ISO code of the phone's country; empty without a phone. */
  readonly country: string
  /** The carrier that accepted the message or was tried last; empty where there is none. */
  readonly carrier: string
}

/** Counts to add to a row. */
export interface ActivityRow extends ActivityKey {
  readonly counts: Readonly<Record<ActivityCount, number>>
}

const KEY = 'application, starts_at, method, country, carrier'
const COUNTS = ACTIVITY_COUNTS.join(', ')
const ADD_TO_KNOWN = `ON CONFLICT (${KEY}) DO UPDATE SET
  ${ACTIVITY_COUNTS.map((count) => `${count} = known.${count} + EXCLUDED.${count}`).join(', ')}`

// In the order of the key, so that processes that add to the same rows wait for each other and never in a circle.
const ADD = createStatement<{ rows: string }>(`INSERT INTO activity AS known (${KEY}, ${COUNTS})
  SELECT application, "startsAt", method, country, carrier, ${COUNTS} FROM json_to_recordset(:rows::json) AS added
    (application text, "startsAt" bigint, method text, country text, carrier text, ${ACTIVITY_COUNTS.map((count) => `${count} bigint`).join(', ')})
  ORDER BY application, "startsAt", method, country, carrier ${ADD_TO_KNOWN}`)

/** Adds counts to their rows, in one statement. No two of them may have the same key. */
export async function addActivity(queries: Queries, rows: readonly ActivityRow[]): Promise<void> {
  await ADD.rows(queries, { rows: JSON.stringify(rows.map(({ counts, ...key }) => ({ ...key, ...counts }))) })
}

/** Sums up what has become old. Hours of all applications together are kept longer, to compare them with those of last week. */
const ROLL_UPS = [
  { stepMs: HOUR_MS, afterMs: 2 * HOUR_MS, of: 'true' },
  { stepMs: DAY_MS, afterMs: 2 * DAY_MS, of: `application <> '${ALL_APPLICATIONS}'` },
  { stepMs: DAY_MS, afterMs: 8 * DAY_MS, of: `application = '${ALL_APPLICATIONS}'` },
] as const

/** Moves up to `limit` rows to longer steps that are over and old enough, so that no chart shows part of one. Resolves to their number. */
export async function rollUpActivity(queries: Queries, now: number, limit: number): Promise<number> {
  let moved = 0
  for (const { stepMs, afterMs, of } of ROLL_UPS) {
    const before = now - afterMs
    const rows = await queries.query(
      `WITH moved AS (
         DELETE FROM activity WHERE (${KEY}) IN (
           SELECT ${KEY} FROM activity WHERE starts_at % ${stepMs} <> 0 AND starts_at < $1 AND ${of}
           ORDER BY starts_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING *
       ), added AS (
         INSERT INTO activity AS known (${KEY}, ${COUNTS})
         SELECT application, starts_at - starts_at % ${stepMs}, method, country, carrier,
           ${ACTIVITY_COUNTS.map((count) => `sum(${count})`).join(', ')}
         FROM moved GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ${ADD_TO_KNOWN}
       )
       SELECT 1 FROM moved`,
      [before - (before % stepMs), limit],
    )
    moved = Math.max(moved, rows.length)
  }
  return moved
}

/** An attempt with the code of a challenge. */
export interface AttemptOfChallenge {
  readonly application: string
  readonly challenge: string
  /** The method and country under which it is counted if its message is gone. */
  readonly otherwise: Pick<ActivityKey, 'method' | 'country'>
  readonly counts: readonly ActivityCount[]
}

/** An attempt, and where it is counted. */
export interface CountedAttempt {
  readonly at: number
  readonly activity: Omit<ActivityKey, 'startsAt'>
  readonly counts: readonly ActivityCount[]
}

interface Row {
  readonly application: string
  readonly challenge: string
  readonly channel: string
  readonly country: string | null
  readonly carrier: string | null
}

const MAX_TOGETHER = 1_000

const FIND = createStatement<{ wanted: string }>(
  `SELECT wanted.application, wanted.challenge, message.channel, message.country, message.carrier
   FROM (SELECT DISTINCT * FROM json_to_recordset(:wanted::json) AS one (application text, challenge text)) AS wanted,
     LATERAL (
       SELECT DISTINCT ON (channel) channel, country, carrier FROM outbox
       WHERE outbox.application = wanted.application AND outbox.challenge = wanted.challenge
       ORDER BY channel, created_at DESC
     ) AS message`,
)

/** Finds the messages whose codes were typed. A code that was sent by several channels at once is counted for each. */
export async function findMessagesOfChallenges(
  queries: Queries,
  attempts: readonly (AttemptOfChallenge & { readonly at: number })[],
): Promise<CountedAttempt[]> {
  const found = new Map<string, Row[]>()
  for (let first = 0; first < attempts.length; first += MAX_TOGETHER) {
    const some = attempts.slice(first, first + MAX_TOGETHER)
    const wanted = JSON.stringify(some.map(({ application, challenge }) => ({ application, challenge })))
    for (const row of await FIND.rows<Row>(queries, { wanted })) {
      const key = keyOf(row)
      found.set(key, [...(found.get(key) ?? []), row])
    }
  }
  return attempts.flatMap((attempt) => {
    const { application, at, counts, otherwise } = attempt
    const messages = found.get(keyOf(attempt))
    if (!messages) return [{ at, counts, activity: { application, ...otherwise, carrier: '' } }]
    return messages.map(({ channel, country, carrier }) => ({
      ...{ at, counts },
      activity: { application, method: channel, country: country ?? '', carrier: carrier ?? '' },
    }))
  })
}

function keyOf({ application, challenge }: Pick<Row, 'application' | 'challenge'>): string {
  return `${application} ${challenge}`
}
