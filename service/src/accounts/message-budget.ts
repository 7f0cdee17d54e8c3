import type { Application } from '../application.js'
import { clientNetwork } from '../contacts/client-network.js'
import { one, type Queries } from '../store/store.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

interface Allowance {
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

/**
 * Spends one message of every budget (R43), or none of them and tells how many seconds to wait. Counters of one key
 * are held until the transaction ends, so that parallel sends of several accounts cannot pass together.
 */
export async function spendMessage(
  tx: Queries,
  application: Application,
  spending: Spending,
  now: number,
): Promise<{ readonly waitSeconds: number }> {
  const counters = countersOf(application, spending)
  const rows = await hold(tx, application, counters)
  const waitMs = Math.max(...counters.map((counter) => waitOf(counter, timesOf(rows, counter), now)))
  if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1000) }
  if (!(await spendDaily(tx, application, now))) {
    return { waitSeconds: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000) }
  }
  for (const counter of counters) {
    const kept = timesOf(rows, counter).filter((time) => time > now - longest(counter))
    await tx.query('UPDATE budget SET times = $4 WHERE application = $1 AND scope = $2 AND key = $3', [
      application.id,
      counter.scope,
      counter.key,
      [...kept, now],
    ])
  }
  return { waitSeconds: 0 }
}

function countersOf({ limits }: Application, spending: Spending): Counter[] {
  const account: Counter = {
    scope: 'account',
    key: spending.account,
    allowances: [
      { withinMs: 10 * MINUTE_MS, messages: limits.sendsPer10Minutes },
      { withinMs: DAY_MS, messages: limits.sendsPerDay },
    ],
  }
  const destinations = [...spending.destinations].sort().map((key) => ({
    scope: 'destination',
    key,
    allowances: [{ withinMs: HOUR_MS, messages: limits.sendsPerDestinationHour }],
  }))
  const client = (spending.clientAddress ? [clientNetwork(spending.clientAddress)] : []).map((key) => ({
    scope: 'client',
    key,
    allowances: [{ withinMs: HOUR_MS, messages: limits.sendsPerClientHour }],
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

async function spendDaily(tx: Queries, application: Application, now: number): Promise<boolean> {
  const row = await one(
    tx,
    `INSERT INTO daily_budget AS daily (application, day, messages) VALUES ($1, $2, 1)
     ON CONFLICT (application, day) DO UPDATE SET messages = daily.messages + 1 WHERE daily.messages < $3
     RETURNING messages`,
    [application.id, Math.floor(now / DAY_MS), application.limits.sendsPerApplicationDay],
  )
  return row !== undefined
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
