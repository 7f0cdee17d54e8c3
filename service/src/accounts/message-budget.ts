import type { Application } from '../application.js'
import { clientNetwork } from '../contacts/client-network.js'
import { one, type Queries } from '../store/store.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

interface Allowance {
  /** What callers know the budget as. */
  readonly name: string
  readonly withinMs: number
  readonly messages: number
}

interface Counter {
  readonly scope: string
  readonly key: string
  readonly allowances: readonly Allowance[]
}

/** Who a message costs. */
export interface Spending {
  readonly account: string
  /** Each mailbox and telephone it goes to. */
  readonly destinations: readonly string[]
  readonly clientAddress?: string | undefined
}

/** What is left of a budget, for whoever asked for a message. */
export interface BudgetLeft {
  readonly name: string
  readonly messages: number
  readonly withinSeconds: number
  readonly left: number
  /** Until one more message is free; 0 while nothing was spent. */
  readonly resetSeconds: number
}

/** What came of asking for a message. */
export interface Spent {
  /** 0 when the message may leave. */
  readonly waitSeconds: number
  readonly budgets: readonly BudgetLeft[]
}

/**
 * Spends one message of every budget (R43), or none of them and tells how many seconds to wait. Counters of one key
 * are held until the transaction ends, so that parallel sends of several accounts cannot pass together.
 */
export async function spendMessage(
  tx: Queries,
  application: Application,
  spending: Spending,
  now: number,
): Promise<Spent> {
  const counters = countersOf(application, spending)
  const rows = await hold(tx, application, counters)
  const waitMs = Math.max(...counters.map((counter) => waitOf(counter, timesOf(rows, counter), now)))
  const budgets = (spent: readonly number[]) => leftOf(counters, rows, spent, now)
  if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1000), budgets: budgets([]) }
  const today = await spend(tx, application, counters, now)
  const untilMidnight = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)
  const ofApplication: BudgetLeft = {
    name: 'application',
    messages: application.limits.sendsPerApplicationDay,
    withinSeconds: DAY_MS / 1000,
    left: today === undefined ? 0 : application.limits.sendsPerApplicationDay - today,
    resetSeconds: untilMidnight,
  }
  if (today === undefined) return { waitSeconds: untilMidnight, budgets: [...budgets([]), ofApplication] }
  return { waitSeconds: 0, budgets: [...budgets([now]), ofApplication] }
}

function leftOf(
  counters: readonly Counter[],
  rows: readonly BudgetRow[],
  spent: readonly number[],
  now: number,
): BudgetLeft[] {
  const all = counters.flatMap((counter) =>
    counter.allowances.map(({ name, withinMs, messages }) => {
      const times = [...timesOf(rows, counter), ...spent].filter((time) => time > now - withinMs)
      return {
        name,
        messages,
        withinSeconds: withinMs / 1000,
        left: Math.max(0, messages - times.length),
        resetSeconds: times.length === 0 ? 0 : Math.ceil((Math.min(...times) + withinMs - now) / 1000),
      }
    }),
  )
  // A DUAL code goes to two destinations: the one that has less left is the one that matters.
  return all.filter(
    (budget, i) =>
      !all.some(
        (other, j) =>
          other.name === budget.name && (other.left < budget.left || (other.left === budget.left && j < i)),
      ),
  )
}

function countersOf({ limits }: Application, spending: Spending): Counter[] {
  const account: Counter = {
    scope: 'account',
    key: spending.account,
    allowances: [
      { name: 'account', withinMs: 10 * MINUTE_MS, messages: limits.sendsPer10Minutes },
      { name: 'account-day', withinMs: DAY_MS, messages: limits.sendsPerDay },
    ],
  }
  const destinations = [...spending.destinations].sort().map((key) => ({
    scope: 'destination',
    key,
    allowances: [{ name: 'destination', withinMs: HOUR_MS, messages: limits.sendsPerDestinationHour }],
  }))
  const client = (spending.clientAddress ? [clientNetwork(spending.clientAddress)] : []).map((key) => ({
    scope: 'client',
    key,
    allowances: [{ name: 'client', withinMs: HOUR_MS, messages: limits.sendsPerClientHour }],
  }))
  return [account, ...client, ...destinations]
}

/** In how many rows an application's day is counted: its sends would all wait for one. */
const PARTS = 64

// The parts' shares add up to the limit, so that it holds exactly whichever parts are spent.
const share = (part: string) =>
  `$3::integer / ${PARTS} + (CASE WHEN ${part} < $3::integer % ${PARTS} THEN 1 ELSE 0 END)`

const SPEND = `WITH roomy AS MATERIALIZED (
    SELECT share.part FROM generate_series(0, ${PARTS - 1}) AS share (part)
    LEFT JOIN daily_budget AS spent ON spent.application = $1 AND spent.day = $2 AND spent.part = share.part
    WHERE coalesce(spent.messages, 0) < ${share('share.part')}
    ORDER BY random() LIMIT 1
  ), today AS (
    INSERT INTO daily_budget AS daily (application, day, part, messages) SELECT $1, $2, part, 1 FROM roomy
    ON CONFLICT (application, day, part) DO UPDATE SET messages = daily.messages + 1
    WHERE daily.messages < ${share('daily.part')}
    RETURNING part
  ), spent AS (
    UPDATE budget SET times = ARRAY (
      SELECT time FROM unnest(budget.times) AS time WHERE time > $4::bigint - counter.longest ORDER BY time
    ) || $4::bigint
    FROM today, unnest($5::text[], $6::text[], $7::bigint[]) AS counter (scope, key, longest)
    WHERE budget.application = $1 AND budget.scope = counter.scope AND budget.key = counter.key
  )
  SELECT EXISTS (SELECT FROM roomy) AS room, EXISTS (SELECT FROM today) AS taken,
    (SELECT coalesce(sum(messages), 0)::integer FROM daily_budget WHERE application = $1 AND day = $2) AS before`

interface BudgetRow {
  readonly scope: string
  readonly key: string
  readonly times: readonly number[]
}

async function hold(
  tx: Queries,
  application: Application,
  counters: readonly Counter[],
): Promise<BudgetRow[]> {
  // One fixed order, by scope and key, is what keeps two sends from waiting for each other.
  return tx.query<BudgetRow>(
    `INSERT INTO budget (application, scope, key, times)
     SELECT $1, wanted.scope, wanted.key, '{}'::bigint[]
     FROM unnest($2::text[], $3::text[]) AS wanted (scope, key) ORDER BY wanted.scope, wanted.key
     ON CONFLICT (application, scope, key) DO UPDATE SET times = budget.times
     RETURNING scope, key, times`,
    [application.id, counters.map((counter) => counter.scope), counters.map((counter) => counter.key)],
  )
}

/** Spends one message of the application's day, and if there was one, of all `counters`; the day's messages so far. */
async function spend(
  tx: Queries,
  application: Application,
  counters: readonly Counter[],
  now: number,
): Promise<number | undefined> {
  for (;;) {
    const row = await one<{ before: number; room: boolean; taken: boolean }>(tx, SPEND, [
      ...[application.id, Math.floor(now / DAY_MS), application.limits.sendsPerApplicationDay, now],
      counters.map((counter) => counter.scope),
      counters.map((counter) => counter.key),
      counters.map(longest),
    ])
    if (row?.taken) return row.before + 1
    // Another send can have taken the last message of the part that still had one: there may be more in the others.
    if (!row?.room) return undefined
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

function longest(counter: Counter): number {
  return Math.max(...counter.allowances.map((allowance) => allowance.withinMs))
}
