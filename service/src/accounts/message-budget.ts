import { clientNetwork } from '../messages/contacts/client-network.js'
import { createStatement, type Queries } from '../store/store.js'
import { countSecondsUntil, DAY_MS, HOUR_MS, MINUTE_MS } from '../time.js'
import type { Application } from './application.js'
import {
  type BudgetParameters,
  type BudgetRow,
  budgetColumns,
  budgetParameters,
  type CountedMessage,
  countMessages,
  findFreePart,
} from './count-messages.js'
import { listTrafficCounters, readTrafficRefusal, type TrafficRefusal } from './phone-traffic.js'

interface Allowance {
  /** The budget's name in `RateLimit` headers. */
  readonly name: string
  readonly withinMs: number
  readonly messages: number
}

/** A row that keeps the times of the latest messages, and how many it allows in which time. */
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
  readonly phone?: string | undefined
  /** Whether the message carries a code that the user types, so that unused ones tell of abuse. */
  readonly isCode: boolean
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
  readonly traffic?: TrafficRefusal | undefined
}

function listCounters({ limits }: Application, message: BudgetedMessage): Counter[] {
  const account: Counter = {
    scope: 'account',
    key: message.account,
    allowances: [
      { name: 'account', withinMs: 10 * MINUTE_MS, messages: limits.sendsPerTenMinutes },
      { name: 'account-day', withinMs: DAY_MS, messages: limits.sendsPerDay },
    ],
  }
  const destinations = message.destinations.map((key) => ({
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

/** The budgets that a message counts against, as a statement reads it. */
function createCountedMessage(
  application: Application,
  counters: readonly Counter[],
  message: BudgetedMessage,
  now: number,
): CountedMessage {
  let position = 0
  return {
    counters: counters.map(({ scope, key, allowances }) => ({
      scope,
      key,
      kept: Math.max(...allowances.map(({ withinMs }) => withinMs)),
    })),
    allowances: counters.flatMap(({ scope, key, allowances }) =>
      allowances.map(({ withinMs: within, messages }) => ({
        scope,
        key,
        position: ++position,
        within,
        messages,
      })),
    ),
    traffic: listTrafficCounters(application, message, now),
  }
}

/**
 * Counts one message against every budget (R43), or against none and tells how long to wait. `run` executes a statement
 * with the steps of `countMessages`; it is called again, with another part of the day, when the part that it used is full.
 * `queries` find the other part.
 */
export async function countWithinBudget<Row extends BudgetRow>(
  application: Application,
  message: BudgetedMessage,
  now: number,
  by: {
    readonly queries: Queries
    readonly run: (message: CountedMessage, part: number | undefined) => Promise<Row>
  },
): Promise<{ readonly row: Row; readonly result: BudgetResult | undefined }> {
  const counters = listCounters(application, message)
  const allowances = counters.flatMap((counter) => counter.allowances)
  const counted = createCountedMessage(application, counters, message, now)
  let part: number | undefined
  for (;;) {
    const row = await by.run(counted, part)
    if (row.sent === null || row.oldest === null) return { row, result: undefined }
    const traffic = readTrafficRefusal(row)
    if (!row.is_counted && row.available_at === null && !traffic) {
      part = await findFreePart(by.queries, application, now)
      if (part !== undefined) continue
    }
    const budgets = listBudgetsLeft(allowances, { ...row, sent: row.sent, oldest: row.oldest }, now)
    if (row.available_at !== null) {
      return { row, result: { waitSeconds: countSecondsUntil(row.available_at, now), budgets } }
    }
    if (traffic) return { row, result: { waitSeconds: 0, budgets, traffic } }
    const ofApplication = applicationBudget(application, row, now)
    const waitSeconds = row.is_counted ? 0 : ofApplication.resetSeconds
    return { row, result: { waitSeconds, budgets: [...budgets, ofApplication] } }
  }
}

function listBudgetsLeft(
  allowances: readonly Allowance[],
  row: BudgetRow & { readonly sent: readonly number[]; readonly oldest: readonly number[] },
  now: number,
): BudgetLeft[] {
  const all = allowances.map(({ name, withinMs, messages }, i) => {
    const sent = (row.sent[i] ?? 0) + (row.is_counted ? 1 : 0)
    return {
      name,
      messages,
      withinSeconds: withinMs / 1000,
      left: Math.max(0, messages - sent),
      resetSeconds: sent === 0 ? 0 : countSecondsUntil((row.oldest[i] ?? now) + withinMs, now),
    }
  })
  // A DUAL code goes to two destinations; only the budget with less left is reported.
  return all.filter(
    (budget, i) =>
      !all.some(
        (other, j) =>
          other.name === budget.name && (other.left < budget.left || (other.left === budget.left && j < i)),
      ),
  )
}

/** The budget of the application's UTC day. */
function applicationBudget({ limits }: Application, row: BudgetRow, now: number): BudgetLeft {
  return {
    name: 'application',
    messages: limits.sendsPerApplicationDay,
    withinSeconds: DAY_MS / 1000,
    left: row.is_counted ? Math.max(0, limits.sendsPerApplicationDay - row.sent_today - 1) : 0,
    resetSeconds: countSecondsUntil(now - (now % DAY_MS) + DAY_MS, now),
  }
}

const CONSUME = createStatement<BudgetParameters & { now: number }>(
  `WITH gate AS MATERIALIZED (
    SELECT 0 AS nr, :now::bigint AS now
  ), ${countMessages('gate')} SELECT ${budgetColumns('gate')} FROM gate`,
)

/** Consumes one message of every budget (R43), or of none and returns how long to wait, in a statement of its own. */
export async function consumeMessageBudget(
  tx: Queries,
  application: Application,
  message: BudgetedMessage,
  now: number,
): Promise<BudgetResult> {
  const run = async (counted: CountedMessage, part: number | undefined) => {
    const parameters = budgetParameters(application, [counted], now, part)
    const row = await CONSUME.first<BudgetRow>(tx, { ...parameters, now })
    if (!row) throw new Error('The store returned no row for the budgets of a message.')
    return row
  }
  const { result } = await countWithinBudget(application, message, now, { queries: tx, run })
  if (!result) throw new Error('The store did not look at the budgets of a message.')
  return result
}
