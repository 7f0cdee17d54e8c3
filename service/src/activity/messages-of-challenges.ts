import { statement } from '../store/statement.js'
import type { Queries } from '../store/store.js'
import type { ActivityCount, ActivityKey } from './activity-table.js'

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

// `= ANY (ARRAY[…])` can look each message up by an index, but cannot be the condition of a merge or hash join: see `FINISH`.
const FIND = statement<{ applications: readonly string[]; challenges: readonly string[] }>(
  `SELECT wanted.application, wanted.challenge, message.channel, message.country, message.carrier
   FROM (SELECT DISTINCT * FROM unnest(:applications::text[], :challenges::text[]) AS one (application, challenge)) AS wanted,
     LATERAL (
       SELECT DISTINCT ON (channel) channel, country, carrier FROM outbox
       WHERE outbox.application = ANY (ARRAY[wanted.application]) AND outbox.challenge = ANY (ARRAY[wanted.challenge])
       ORDER BY channel, created_at DESC
     ) AS message`,
)

/** Finds the messages whose codes were typed. A code that was sent by several channels at once is counted for each. */
export async function messagesOfChallenges(
  queries: Queries,
  attempts: readonly (AttemptOfChallenge & { readonly at: number })[],
): Promise<CountedAttempt[]> {
  const found = new Map<string, Row[]>()
  for (let first = 0; first < attempts.length; first += MAX_TOGETHER) {
    const some = attempts.slice(first, first + MAX_TOGETHER)
    const parameters = {
      applications: some.map(({ application }) => application),
      challenges: some.map(({ challenge }) => challenge),
    }
    for (const row of await queries.query<Row>(FIND.text, FIND.values(parameters))) {
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

function keyOf({
  application,
  challenge,
}: {
  readonly application: string
  readonly challenge: string
}): string {
  return `${application} ${challenge}`
}
