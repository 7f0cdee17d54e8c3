import { raiseConflict } from '../store/raise-conflict.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'
import {
  countTraffic,
  judgeTraffic,
  TRAFFIC_COLUMN,
  type TrafficParameters,
  type TrafficRow,
} from './phone-traffic.js'

/** The period of an application's budget: the UTC day. */
export const APPLICATION_DAY_MS = 86_400_000

const HOUR_MS = 3_600_000

/** The number of rows that count an application's day, because a single row would serialize all of its sends. */
export const PARTS = 64

/** The parameters of `countMessage`. */
export type BudgetParameters = TrafficParameters & {
  readonly application: string
  readonly now: number
  /** The scope and key of each counter, in the order in which they are locked. */
  readonly scopes: readonly string[]
  readonly keys: readonly string[]
  /** How long each counter keeps the time of a message: the longest period of its allowances. */
  readonly kept: readonly number[]
  /** For each allowance: the position of its counter, from 1, its period, and how many messages it allows in it. */
  readonly countersOfAllowances: readonly number[]
  readonly withinsMs: readonly number[]
  readonly allowedMessages: readonly number[]
  readonly day: number
  /** The part of the day in which the message is counted. */
  readonly part: number
  readonly sendsPerApplicationDay: number
}

/** What `BUDGET_COLUMNS` tells, before the message. */
export interface BudgetRow extends TrafficRow {
  /** Messages within the period of each allowance; `null` when the budgets were not looked at. */
  readonly sent: readonly number[] | null
  /** The oldest of them; when there is none, `now`. */
  readonly oldest: readonly number[] | null
  /** When every allowance has room again; `null` when all have. */
  readonly available_at: number | null
  /** Whether the message was counted against every budget. Otherwise it was counted against none. */
  readonly is_counted: boolean
  /** Messages of the application today. */
  readonly sent_today: number
}

// The shares of the parts add up to the limit, so that it holds exactly, no matter which parts are used.
const shareOf = (part: string) => `:sendsPerApplicationDay::integer / ${PARTS}
  + (CASE WHEN ${part} < :sendsPerApplicationDay::integer % ${PARTS} THEN 1 ELSE 0 END)`

/**
 * The steps of a statement that counts a message against every budget, or against none, for the row of `gate`. Later steps
 * select from `counted_today`, which has a row if the message was counted. The counters stay locked until the transaction
 * ends, so that concurrent sends of several accounts cannot exceed a shared budget.
 */
export const countMessage = (gate: string): string => `counter AS MATERIALIZED (
    SELECT wanted.*, known.times FROM ${gate},
      unnest(:scopes::text[], :keys::text[], :kept::bigint[]) WITH ORDINALITY AS wanted (scope, key, kept, position)
      LEFT JOIN LATERAL (
        -- A locked row is read in its latest version, not in that of the statement's snapshot.
        SELECT times FROM budget
        WHERE application = :application AND budget.scope = wanted.scope AND budget.key = wanted.key FOR UPDATE
      ) AS known ON true
  ),
  allowance AS MATERIALIZED (
    SELECT allowed.position, recent.sent, recent.oldest,
      CASE WHEN recent.sent >= allowed.messages
        THEN counter.times[cardinality(counter.times) - allowed.messages + 1] + allowed.within END AS available_at
    FROM unnest(:countersOfAllowances::integer[], :withinsMs::bigint[], :allowedMessages::integer[])
        WITH ORDINALITY AS allowed (counter, within, messages, position)
      JOIN counter ON counter.position = allowed.counter,
      LATERAL (
        SELECT count(*)::integer AS sent, coalesce(min(time), :now::bigint) AS oldest
        FROM unnest(counter.times) AS time WHERE time > :now::bigint - allowed.within
      ) AS recent
  ),
  ${judgeTraffic(gate)},
  counted_today AS (
    INSERT INTO daily_budget AS daily (application, day, part, messages)
    SELECT :application, :day, :part::integer, 1 FROM ${gate}
    WHERE NOT EXISTS (SELECT FROM allowance WHERE available_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM traffic_refused)
      AND 0 < ${shareOf(':part::integer')}
    ON CONFLICT (application, day, part) DO UPDATE SET messages = daily.messages + 1
    WHERE daily.messages < ${shareOf('daily.part')}
    RETURNING part
  ),
  counted AS (
    INSERT INTO budget (application, scope, key, last_hour, times)
    SELECT :application, scope, key, (:now::bigint / ${HOUR_MS})::integer, ARRAY (
      SELECT time FROM unnest(counter.times || :now::bigint) AS time
      WHERE time > :now::bigint - counter.kept ORDER BY time
    ) FROM counted_today, counter
    ON CONFLICT (application, scope, key) DO UPDATE SET last_hour = EXCLUDED.last_hour, times = CASE
      WHEN EXISTS (SELECT FROM counter WHERE counter.scope = budget.scope AND counter.key = budget.key
        AND counter.times IS NOT NULL) THEN EXCLUDED.times
      -- Another send created the row since this statement began.
      ELSE ARRAY[${raiseConflict('budget.key')}]::bigint[] END
  ),
  ${countTraffic('counted_today')}`

/** The columns of a statement with the steps of `countMessage`: see `BudgetRow`. */
export const BUDGET_COLUMNS = `(SELECT array_agg(sent ORDER BY position) FROM allowance) AS sent,
  (SELECT array_agg(oldest ORDER BY position) FROM allowance) AS oldest,
  (SELECT max(available_at) FROM allowance) AS available_at,
  ${TRAFFIC_COLUMN},
  EXISTS (SELECT FROM counted_today) AS is_counted,
  (SELECT coalesce(sum(messages), 0)::integer FROM daily_budget
    WHERE application = :application AND day = :day) AS sent_today`

type DayParameters = Pick<BudgetParameters, 'application' | 'day' | 'sendsPerApplicationDay'>

const FREE_PART = statement<DayParameters>(
  `SELECT share.part FROM generate_series(0, ${PARTS - 1}) AS share (part)
    LEFT JOIN daily_budget AS used
      ON used.application = :application AND used.day = :day AND used.part = share.part
  WHERE coalesce(used.messages, 0) < ${shareOf('share.part')} ORDER BY random() LIMIT 1`,
)

/** A part of the application's day that is not used up; `undefined` when all are. */
export async function findFreePart(queries: Queries, day: DayParameters): Promise<number | undefined> {
  const row = await queryOne<{ part: number }>(queries, FREE_PART.text, FREE_PART.values(day))
  return row?.part
}
