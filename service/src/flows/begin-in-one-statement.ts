import { IS_DISABLED, LOCK_ROW } from '../accounts/account.js'
import {
  type ChallengeRow,
  codeOf,
  insertChallenge,
  type NewChallengeParameters,
  newChallenge,
  type Owner,
} from '../accounts/challenge.js'
import {
  type BudgetedMessage,
  type BudgetParameters,
  type BudgetRow,
  budgetOf,
  countMessage,
  FITS,
} from '../accounts/message-budget.js'
import type { Application } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import { insertMessages, type QueueParameters } from '../delivery/outbox-table.js'
import { codeMessage, type Recipient } from '../message-texts/compose.js'
import type { SendInput } from '../requests/inputs.js'
import { statement } from '../store/statement.js'
import type { FlowContext } from './context.js'

type Parameters = NewChallengeParameters &
  BudgetParameters &
  QueueParameters & {
    readonly factor: string
    readonly failuresBeforeDisable: number
    readonly isEnrollment: boolean
  }

const { ended, inserted } = insertChallenge('today')
const { today, budgets, sentBefore } = countMessage('gate')

// The rows are locked in the order of every other transaction: account, day, budgets.
const BEGIN = statement<Parameters>(`WITH held AS (${LOCK_ROW}),
  gate AS MATERIALIZED (SELECT FROM held WHERE locked_until <= :now::bigint
    AND (:isEnrollment::boolean OR NOT ${IS_DISABLED}) AND ${FITS}),
  today AS (${today}),
  budgets AS (${budgets}),
  ended AS (${ended}),
  challenged AS (${inserted}),
  queued AS (${insertMessages('today')})
  SELECT scope, key, times, ${sentBefore} AS sent_before FROM budgets`)

// Of the expression by which the statement fails when a budget was used up meanwhile.
const DIVISION_BY_ZERO = '22012'

/** A challenge that began, and its messages to dispatch. */
export interface Begun {
  readonly row: ChallengeRow
  readonly messages: QueuedMessage[]
}

/**
 * Begins a challenge, counts its message and writes it, all in one statement. `undefined`, with nothing changed, when
 * anything stands against it: a lock, a disabled factor, a budget. The caller then finds out what.
 */
export async function beginInOneStatement(
  context: FlowContext,
  application: Application,
  owner: Owner,
  input: SendInput,
  recipients: readonly Recipient[],
  budgeted: BudgetedMessage,
  now: number,
): Promise<Begun | undefined> {
  const { row, parameters } = newChallenge(context.keys, application, owner, input, now)
  const content = {
    code: codeOf(context.keys, application, row),
    purpose: row.purpose,
    secondsLeft: Math.ceil((row.expires_at - now) / 1000),
  }
  const composed = recipients.map((recipient) => codeMessage(application, recipient, content))
  const details = {
    now,
    expiresAt: row.expires_at,
    account: owner.account,
    challenge: row.id,
    request: context.requestId,
  }
  const { queued, parameters: queue } = context.outbox.prepare(application.id, composed, details)
  const budget = budgetOf(application, budgeted, now)
  const values = BEGIN.values({
    ...queue,
    ...budget.parameters,
    ...parameters,
    factor: `${owner.type}:${owner.canonicalContact}`,
    failuresBeforeDisable: application.limits.failuresBeforeDisable,
    isEnrollment: input.purpose === 'enrollment',
  })
  const counted = await context.store
    .query<BudgetRow & { readonly sent_before: number }>(BEGIN.text, values)
    .catch((error: unknown) => {
      if (error instanceof Error && Reflect.get(error, 'code') === DIVISION_BY_ZERO) return []
      throw error
    })
  const [first] = counted
  if (!first) return undefined
  context.onBudgets?.(budget.left(counted, first.sent_before))
  return { row, messages: queued }
}
