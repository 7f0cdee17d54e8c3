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

/** How many messages the application has sent today, this one included; nothing when there is none left. */
/** Spends one message of the application's day, and if there was one, of all `counters`; the day's messages so far. */
async function spend(
  tx: Queries,
  application: Application,
  counters: readonly Counter[],
  now: number,
): Promise<number | undefined> {
  const row = await one<{ messages: number }>(
    tx,
    `WITH today AS (
       INSERT INTO daily_budget AS daily (application, day, messages) VALUES ($1, $2, 1)
       ON CONFLICT (application, day) DO UPDATE SET messages = daily.messages + 1 WHERE daily.messages < $3
       RETURNING messages
     ), spent AS (
       UPDATE budget SET times = ARRAY (
         SELECT time FROM unnest(budget.times) AS time WHERE time > $4::bigint - counter.longest ORDER BY time
       ) || $4::bigint
       FROM today, unnest($5::text[], $6::text[], $7::bigint[]) AS counter (scope, key, longest)
       WHERE budget.application = $1 AND budget.scope = counter.scope AND budget.key = counter.key
     )
     SELECT messages FROM today`,
    [
      ...[application.id, Math.floor(now / DAY_MS), application.limits.sendsPerApplicationDay, now],
      counters.map((counter) => counter.scope),
      counters.map((counter) => counter.key),
      counters.map(longest),
    ],
  )
  return row?.messages
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
