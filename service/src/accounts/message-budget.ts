import type { Application } from '../application.js'
import { clientNetwork } from '../contacts/client-network.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The number of rows that count an application's day, because a single row would serialize all of its sends. */
const PARTS = 64

interface Allowance {
  /** The budget's name in `RateLimit` headers. */
  readonly name: string
  readonly withinMs: number
  readonly messages: number
}

interface Counter {
  readonly scope: string
  readonly key: string
  readonly allowances: readonly Allowance[]
}

/** The budgets that a message counts against. */
export interface BudgetedMessage {
  readonly account: string
  /** Each mailbox and phone number that it goes to. */
  readonly destinations: readonly string[]
  readonly clientAddress?: string | undefined
}

/** The state of a budget, for the caller who requested a message. */
export interface BudgetLeft {
  readonly name: string
  readonly messages: number
  readonly withinSeconds: number
  readonly left: number
  /** Until one more message is available; 0 while the budget is unused. */
  readonly resetSeconds: number
}

/** The result of a request for a message. */
export interface BudgetResult {
  /** 0 when the message may be sent. */
  readonly waitSeconds: number
  readonly budgets: readonly BudgetLeft[]
}

/**
 * Consumes one message of every budget (R43), or of none and returns how long to wait. The counters of a key stay
 * locked until the transaction ends, so that concurrent sends of several accounts cannot exceed a shared budget.
 */
export async function consumeMessageBudget(
  tx: Queries,
  application: Application,
  message: BudgetedMessage,
  now: number,
): Promise<BudgetResult> {
  const counters = countersOf(application, message)
  const rows = await lockCounters(tx, application, counters)
  const waitMs = Math.max(...counters.map((counter) => waitOf(counter, timesOf(rows, counter), now)))
  const budgets = (consumed: readonly number[]) => budgetsLeft(counters, rows, consumed, now)
  if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1000), budgets: budgets([]) }
  const today = await consume(tx, application, counters, now)
  const ofApplication = applicationBudget(application, today, now)
  if (today === undefined) {
    return { waitSeconds: ofApplication.resetSeconds, budgets: [...budgets([]), ofApplication] }
  }
  return { waitSeconds: 0, budgets: [...budgets([now]), ofApplication] }
}

function budgetsLeft(
  counters: readonly Counter[],
  rows: readonly BudgetRow[],
  consumed: readonly number[],
  now: number,
): BudgetLeft[] {
  const all = counters.flatMap((counter) =>
    counter.allowances.map(({ name, withinMs, messages }) => {
      const times = [...timesOf(rows, counter), ...consumed].filter((time) => time > now - withinMs)
      return {
        name,
        messages,
        withinSeconds: withinMs / 1000,
        left: Math.max(0, messages - times.length),
        resetSeconds: times.length === 0 ? 0 : Math.ceil((Math.min(...times) + withinMs - now) / 1000),
      }
    }),
  )
  // A DUAL code goes to two destinations; only the budget with less left is reported.
  return all.filter(
    (budget, i) =>
      !all.some(
        (other, j) =>
          other.name === budget.name && (other.left < budget.left || (other.left === budget.left && j < i)),
      ),
  )
}

function countersOf({ limits }: Application, message: BudgetedMessage): Counter[] {
  const account: Counter = {
    scope: 'account',
    key: message.account,
    allowances: [
      { name: 'account', withinMs: 10 * MINUTE_MS, messages: limits.sendsPerTenMinutes },
      { name: 'account-day', withinMs: DAY_MS, messages: limits.sendsPerDay },
    ],
  }
  const destinations = [...message.destinations].sort().map((key) => ({
    scope: 'destination',
    key,
    allowances: [{ name: 'destination', withinMs: HOUR_MS, messages: limits.sendsPerDestinationHour }],
  }))
  const client = (message.clientAddress ? [clientNetwork(message.clientAddress)] : []).map((key) => ({
    scope: 'client',
    key,
    allowances: [{ name: 'client', withinMs: HOUR_MS, messages: limits.sendsPerClientHour }],
  }))
  return [account, ...client, ...destinations]
}

/** The parameters of `FITS`, `countMessage` and what they need. */
export type BudgetParameters = {
  readonly application: string
  readonly now: number
  readonly scopes: readonly string[]
  readonly keys: readonly string[]
  readonly sendsPerTenMinutes: number
  readonly sendsPerDay: number
  readonly sendsPerDestinationHour: number
  readonly sendsPerClientHour: number
  readonly day: number
  readonly part: number
  readonly partLimit: number
}

const within = (times: string, periodMs: number) =>
  `(SELECT count(*) FROM unnest(${times}) AS time WHERE time > :now::bigint - ${periodMs})`

const fits = (row: string) => `CASE ${row}.scope
    WHEN 'account' THEN ${within(`${row}.times`, 10 * MINUTE_MS)} < :sendsPerTenMinutes::integer
      AND ${within(`${row}.times`, DAY_MS)} < :sendsPerDay::integer
    WHEN 'destination' THEN ${within(`${row}.times`, HOUR_MS)} < :sendsPerDestinationHour::integer
    ELSE ${within(`${row}.times`, HOUR_MS)} < :sendsPerClientHour::integer END`

const WANTED = 'unnest(:scopes::text[], :keys::text[]) AS wanted (scope, key)'

/** Whether every budget of a message had room for it when the statement began. */
export const FITS = `NOT EXISTS (SELECT FROM ${WANTED}, LATERAL (
      -- OFFSET keeps each budget a search by its whole key, whatever PostgreSQL knows about the table.
      SELECT scope, times FROM budget
      WHERE application = :application AND budget.scope = wanted.scope AND budget.key = wanted.key OFFSET 0
    ) AS known WHERE NOT ${fits('known')})`

/**
 * Counts a message for each row of `source`: in one part of the application's day, and in every other budget. Returns
 * nothing when that part of the day is used up. A budget that was used up since the statement began makes the statement
 * fail: its parts see one moment, and the others must not be counted then.
 */
export const countMessage = (source: string) => ({
  today: `INSERT INTO daily_budget AS daily (application, day, part, messages)
    SELECT :application, :day, :part, 1 FROM ${source} AS allowed WHERE :partLimit::integer > 0
    ON CONFLICT (application, day, part) DO UPDATE SET messages = daily.messages + 1
    WHERE daily.messages < :partLimit::integer
    RETURNING part`,
  budgets: `INSERT INTO budget (application, scope, key, times)
    SELECT :application, wanted.scope, wanted.key, ARRAY[:now::bigint] FROM today, ${WANTED}
    ORDER BY wanted.scope, wanted.key
    ON CONFLICT (application, scope, key) DO UPDATE SET times = CASE WHEN ${fits('budget')}
      THEN ARRAY (SELECT time FROM unnest(budget.times) AS time
        WHERE time > :now::bigint - CASE budget.scope WHEN 'account' THEN ${DAY_MS} ELSE ${HOUR_MS} END
        ORDER BY time) || :now::bigint
      -- Fails without naming the row, as a violated constraint would.
      ELSE ARRAY[1 / (cardinality(budget.times) - cardinality(budget.times))]::bigint[] END
    RETURNING scope, key, times`,
  sentBefore: `(SELECT coalesce(sum(messages), 0)::integer FROM daily_budget
    WHERE application = :application AND day = :day)`,
})

/** The parameters of a message, and how to describe its budgets once it was counted. */
export function budgetOf(
  application: Application,
  message: BudgetedMessage,
  now: number,
): {
  readonly parameters: BudgetParameters
  left(rows: readonly BudgetRow[], sentBefore: number): BudgetLeft[]
} {
  const counters = countersOf(application, message)
  const { limits } = application
  const part = Math.floor(Math.random() * PARTS)
  return {
    parameters: {
      application: application.id,
      now,
      scopes: counters.map(({ scope }) => scope),
      keys: counters.map(({ key }) => key),
      sendsPerTenMinutes: limits.sendsPerTenMinutes,
      sendsPerDay: limits.sendsPerDay,
      sendsPerDestinationHour: limits.sendsPerDestinationHour,
      sendsPerClientHour: limits.sendsPerClientHour,
      day: Math.floor(now / DAY_MS),
      part,
      partLimit:
        Math.floor(limits.sendsPerApplicationDay / PARTS) +
        (part < limits.sendsPerApplicationDay % PARTS ? 1 : 0),
    },
    left: (rows, sentBefore) => [
      ...budgetsLeft(counters, rows, [], now),
      applicationBudget(application, sentBefore + 1, now),
    ],
  }
}

/** The budget of the application's day. */
function applicationBudget({ limits }: Application, today: number | undefined, now: number): BudgetLeft {
  return {
    name: 'application',
    messages: limits.sendsPerApplicationDay,
    withinSeconds: DAY_MS / 1000,
    left: today === undefined ? 0 : limits.sendsPerApplicationDay - today,
    resetSeconds: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000),
  }
}

// The shares of the parts add up to the limit, so that it holds exactly whichever parts are used.
const shareOf = (part: string) =>
  `:limit::integer / ${PARTS} + (CASE WHEN ${part} < :limit::integer % ${PARTS} THEN 1 ELSE 0 END)`

const CONSUME = statement<{
  application: string
  day: number
  limit: number
  now: number
  scopes: readonly string[]
  keys: readonly string[]
  longest: readonly number[]
}>(`WITH available AS MATERIALIZED (
    SELECT share.part FROM generate_series(0, ${PARTS - 1}) AS share (part)
    LEFT JOIN daily_budget AS used
      ON used.application = :application AND used.day = :day AND used.part = share.part
    WHERE coalesce(used.messages, 0) < ${shareOf('share.part')}
    ORDER BY random() LIMIT 1
  ), counted_today AS (
    INSERT INTO daily_budget AS daily (application, day, part, messages)
    SELECT :application, :day, part, 1 FROM available
    ON CONFLICT (application, day, part) DO UPDATE SET messages = daily.messages + 1
    WHERE daily.messages < ${shareOf('daily.part')}
    RETURNING part
  ), counted AS (
    UPDATE budget SET times = ARRAY (
      SELECT time FROM unnest(budget.times) AS time WHERE time > :now::bigint - counter.longest ORDER BY time
    ) || :now::bigint
    FROM counted_today, unnest(:scopes::text[], :keys::text[], :longest::bigint[]) AS counter (scope, key, longest)
    WHERE budget.application = :application AND budget.scope = counter.scope AND budget.key = counter.key
  )
  SELECT EXISTS (SELECT FROM available) AS is_available, EXISTS (SELECT FROM counted_today) AS is_consumed,
    (SELECT coalesce(sum(messages), 0)::integer FROM daily_budget
      WHERE application = :application AND day = :day) AS before`)

/** The times of the latest messages of one counter. */
export interface BudgetRow {
  readonly scope: string
  readonly key: string
  readonly times: readonly number[]
}

async function lockCounters(
  tx: Queries,
  application: Application,
  counters: readonly Counter[],
): Promise<BudgetRow[]> {
  // Locking in one order, by scope and key, prevents a deadlock of two sends.
  return tx.query<BudgetRow>(
    `INSERT INTO budget (application, scope, key, times)
     SELECT $1, wanted.scope, wanted.key, '{}'::bigint[]
     FROM unnest($2::text[], $3::text[]) AS wanted (scope, key) ORDER BY wanted.scope, wanted.key
     ON CONFLICT (application, scope, key) DO UPDATE SET times = budget.times
     RETURNING scope, key, times`,
    [application.id, counters.map((counter) => counter.scope), counters.map((counter) => counter.key)],
  )
}

/**
 * Consumes one message of the application's day and of all `counters`; resolves to the number of messages today, or
 * `undefined` when the day's budget is used up.
 */
async function consume(
  tx: Queries,
  application: Application,
  counters: readonly Counter[],
  now: number,
): Promise<number | undefined> {
  const params = CONSUME.values({
    application: application.id,
    day: Math.floor(now / DAY_MS),
    limit: application.limits.sendsPerApplicationDay,
    now,
    scopes: counters.map((counter) => counter.scope),
    keys: counters.map((counter) => counter.key),
    longest: counters.map(longestPeriod),
  })
  for (;;) {
    const row = await queryOne<{ before: number; is_available: boolean; is_consumed: boolean }>(
      tx,
      CONSUME.text,
      params,
    )
    if (row?.is_consumed) return row.before + 1
    // A concurrent send may have taken the last message of the chosen part while other parts have some left.
    if (!row?.is_available) return undefined
  }
}

function timesOf(rows: readonly BudgetRow[], counter: Counter): readonly number[] {
  return rows.find((row) => row.scope === counter.scope && row.key === counter.key)?.times ?? []
}

function waitOf(counter: Counter, times: readonly number[], now: number): number {
  const waits = counter.allowances.map(({ withinMs, messages }) => {
    const recent = times.filter((time) => time > now - withinMs).sort((a, b) => b - a)
    const oldestCounted = recent[messages - 1]
    return oldestCounted === undefined ? 0 : oldestCounted + withinMs - now
  })
  return Math.max(...waits)
}

function longestPeriod(counter: Counter): number {
  return Math.max(...counter.allowances.map((allowance) => allowance.withinMs))
}
