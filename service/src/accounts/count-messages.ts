import { raiseConflict } from '../store/sql-state.js'
import { createStatement, type Queries } from '../store/store.js'
import { DAY_MS, HOUR_MS } from '../time.js'
import type { Application } from './application.js'
import {
  countTraffic,
  judgeTraffic,
  type TrafficCounter,
  type TrafficRow,
  trafficColumn,
} from './phone-traffic.js'

/** The number of rows that count an application's day, because a single row would serialize all of its sends. */
const PARTS = 64

interface BudgetCounter {
  readonly scope: string
  readonly key: string
  /** How long it keeps the time of a message: the longest period of its allowances. */
  readonly kept: number
}

/** How many messages the counter with this scope and key allows in a period. */
interface CountedAllowance {
  readonly scope: string
  readonly key: string
  /** Its position among the allowances of the message. */
  readonly position: number
  readonly within: number
  readonly messages: number
}

/** The budgets that a message counts against. */
export interface CountedMessage {
  readonly counters: readonly BudgetCounter[]
  readonly allowances: readonly CountedAllowance[]
  readonly traffic: readonly TrafficCounter[]
}

/** The parameters of `countMessages`. The lists are JSON, in which `nr` is the position of the message. */
export type BudgetParameters = {
  readonly application: string
  readonly counters: string
  readonly allowances: string
  readonly traffic: string
  readonly day: number
  /** The part of the day in which the messages are counted. */
  readonly part: number
  readonly sendsPerApplicationDay: number
  readonly minConversionPercent: number
}

/** The parameters that count messages of an application. Without `part`, any part of the day will do. */
export function budgetParameters(
  { id, limits }: Application,
  messages: readonly CountedMessage[],
  now: number,
  // A limit below the number of parts leaves nothing for the last ones.
  part = Math.floor(Math.random() * Math.min(PARTS, limits.sendsPerApplicationDay)),
): BudgetParameters {
  const { sendsPerApplicationDay, minConversionPercent } = limits
  const writeList = (list: keyof CountedMessage) =>
    JSON.stringify(messages.flatMap((message, nr) => message[list].map((entry) => ({ nr, ...entry }))))
  return {
    application: id,
    counters: writeList('counters'),
    allowances: writeList('allowances'),
    traffic: writeList('traffic'),
    day: getDay(now),
    part,
    sendsPerApplicationDay,
    minConversionPercent,
  }
}

function getDay(now: number): number {
  return Math.floor(now / DAY_MS)
}

/** The facts that `budgetColumns` tells of a message, before it is counted. */
export interface BudgetRow extends TrafficRow {
  /** Messages within the period of each allowance; `null` when the budgets were not looked at. */
  readonly sent: readonly number[] | null
  /** The oldest of them; when there is none, `now`. */
  readonly oldest: readonly number[] | null
  /** When every allowance has room again; `null` when all have. */
  readonly available_at: number | null
  /** Whether the message was counted against every budget. Otherwise it was counted against none. */
  readonly is_counted: boolean
  readonly sent_today: number
}

// The shares of the parts add up to the limit, so that it holds exactly, no matter which parts are used.
const shareOf = (part: string) => `:sendsPerApplicationDay::integer / ${PARTS}
  + (CASE WHEN ${part} < :sendsPerApplicationDay::integer % ${PARTS} THEN 1 ELSE 0 END)`

/**
 * The steps of a statement that counts messages, each against every budget or against none. `gate (nr, now)` has a row for each
 * of them; no two of them may have a counter in common, apart from those of traffic. Later steps select from `counted_message (nr)`, which has a row for each
 * that was counted. The counters stay locked until the transaction ends, so that concurrent sends of several accounts cannot
 * exceed a shared budget.
 */
export const countMessages = (gate: string): string => `counter AS MATERIALIZED (
    SELECT wanted.*, known.times FROM (
      SELECT * FROM json_to_recordset(:counters::json) AS wanted (nr integer, scope text, key text, kept bigint)
        JOIN ${gate} USING (nr)
      -- Two statements that lock their counters in different orders would wait for each other.
      ORDER BY scope, key
    ) AS wanted
      LEFT JOIN LATERAL (
        -- A locked row is read in its latest version, not in that of the statement's snapshot.
        SELECT times FROM budget
        WHERE application = :application AND budget.scope = wanted.scope AND budget.key = wanted.key FOR UPDATE
      ) AS known ON true
  ),
  allowance AS MATERIALIZED (
    SELECT nr, allowed.position, recent.sent, recent.oldest,
      CASE WHEN recent.sent >= allowed.messages
        THEN counter.times[cardinality(counter.times) - allowed.messages + 1] + allowed.within END AS available_at
    FROM json_to_recordset(:allowances::json) AS allowed (nr integer, scope text, key text, position integer, within bigint,
        messages integer)
      JOIN counter USING (nr, scope, key),
      LATERAL (
        SELECT count(*)::integer AS sent, coalesce(min(time), counter.now) AS oldest
        FROM unnest(counter.times) AS time WHERE time > counter.now - allowed.within
      ) AS recent
  ),
  ${judgeTraffic(gate)},
  within_budgets AS MATERIALIZED (
    SELECT nr, row_number() OVER (ORDER BY nr) AS place FROM ${gate}
    WHERE NOT EXISTS (SELECT FROM allowance WHERE allowance.nr = ${gate}.nr AND available_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM traffic_refused WHERE traffic_refused.nr = ${gate}.nr)
  ),
  today AS MATERIALIZED (
    SELECT messages FROM (SELECT FROM within_budgets LIMIT 1) AS needed, daily_budget
    WHERE application = :application AND day = :day::integer AND part = :part::integer FOR UPDATE OF daily_budget
  ),
  within_day AS MATERIALIZED (
    SELECT nr FROM within_budgets
    WHERE place <= ${shareOf(':part::integer')} - coalesce((SELECT messages FROM today), 0)
  ),
  counted_today AS (
    INSERT INTO daily_budget AS daily (application, day, part, messages)
    SELECT :application, :day::integer, :part::integer, count(*) FROM within_day HAVING count(*) > 0
    ON CONFLICT (application, day, part) DO UPDATE SET messages = daily.messages + EXCLUDED.messages
    -- Another send may have created the row since this statement began.
    WHERE daily.messages + EXCLUDED.messages <= ${shareOf('daily.part')}
    RETURNING part
  ),
  counted_message AS MATERIALIZED (SELECT nr FROM within_day, counted_today),
  counted AS (
    INSERT INTO budget (application, scope, key, last_hour, times)
    SELECT :application, scope, key, (now / ${HOUR_MS})::integer, ARRAY (
      SELECT time FROM unnest(counter.times || counter.now) AS time
      WHERE time > counter.now - counter.kept ORDER BY time
    ) FROM counted_message JOIN counter USING (nr) ORDER BY scope, key
    ON CONFLICT (application, scope, key) DO UPDATE SET last_hour = EXCLUDED.last_hour, times = CASE
      WHEN EXISTS (SELECT FROM counter WHERE counter.scope = budget.scope AND counter.key = budget.key
        AND counter.times IS NOT NULL) THEN EXCLUDED.times
      -- Another send created the row since this statement began.
      ELSE ARRAY[${raiseConflict('budget.key')}]::bigint[] END
  ),
  ${countTraffic('counted_message')}`

/** The columns of a statement with the steps of `countMessages`, for each row of `source (nr)`: see `BudgetRow`. */
export const budgetColumns = (
  source: string,
): string => `(SELECT array_agg(sent ORDER BY position) FROM allowance WHERE allowance.nr = ${source}.nr) AS sent,
  (SELECT array_agg(oldest ORDER BY position) FROM allowance WHERE allowance.nr = ${source}.nr) AS oldest,
  (SELECT max(available_at) FROM allowance WHERE allowance.nr = ${source}.nr) AS available_at,
  ${trafficColumn(source)},
  EXISTS (SELECT FROM counted_message WHERE counted_message.nr = ${source}.nr) AS is_counted,
  (SELECT coalesce(sum(messages), 0)::integer FROM daily_budget
    WHERE application = :application AND day = :day) AS sent_today`

type DayParameters = Pick<BudgetParameters, 'application' | 'day' | 'sendsPerApplicationDay'>

const FREE_PART = createStatement<DayParameters>(
  `SELECT share.part FROM generate_series(0, ${PARTS - 1}) AS share (part)
    LEFT JOIN daily_budget AS used
      ON used.application = :application AND used.day = :day AND used.part = share.part
  WHERE coalesce(used.messages, 0) < ${shareOf('share.part')} ORDER BY random() LIMIT 1`,
)

/** A part of the application's day that is not used up; `undefined` when all are. */
export async function findFreePart(
  queries: Queries,
  { id: application, limits: { sendsPerApplicationDay } }: Application,
  now: number,
): Promise<number | undefined> {
  const parameters = { application, day: getDay(now), sendsPerApplicationDay }
  return (await FREE_PART.first<{ part: number }>(queries, parameters))?.part
}
