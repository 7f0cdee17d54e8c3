import { type Refused, VERIFY_TYPE } from 'countersign/protocol'
import { IS_DISABLED, LOCK_ROW, lockedForSeconds } from '../accounts/account.js'
import {
  type ChallengeParameters,
  type ChallengeRow,
  challengeParameters,
  codeOf,
  findActiveChallenge,
  newChallenge,
  type Owner,
  REPEATED,
  repeatedChallenge,
  writeChallenge,
} from '../accounts/challenge.js'
import {
  BUDGET_COLUMNS,
  type BudgetParameters,
  type BudgetRow,
  countMessage,
} from '../accounts/count-message.js'
import { withinBudget } from '../accounts/message-budget.js'
import type { Application } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import { insertMessages, type QueueParameters } from '../delivery/outbox-table.js'
import { codeMessage, type Recipient } from '../message-texts/compose.js'
import { factorDisabled, limited, locked } from '../refusals.js'
import type { SendInput } from '../requests/inputs.js'
import { secondsUntil } from '../seconds-until.js'
import { statement } from '../store/statement.js'
import { queryOne } from '../store/store.js'
import { budgetedMessage } from './budgeted-message.js'
import type { FlowContext } from './context.js'

/** A challenge whose code is written to the outbox. */
export interface Begun {
  readonly outcome: 'begun'
  readonly row: ChallengeRow
  /** To be dispatched. */
  readonly messages: QueuedMessage[]
}

type Parameters = ChallengeParameters &
  BudgetParameters &
  QueueParameters & {
    readonly factor: string
    readonly failuresBeforeDisable: number
  }

interface Row extends BudgetRow {
  readonly locked_until: number
  readonly disabled: boolean
  /** The challenge is no longer as it was read before. */
  readonly is_stale: boolean
  /** When the code may be sent again; `null` for a new challenge. */
  readonly resend_at: number | null
}

// A disabled contact is enabled by binding it again, so a code for that may still be sent (R26).
const BEGIN = statement<Parameters>(`WITH held AS (${LOCK_ROW}),
  repeated AS MATERIALIZED (${REPEATED}),
  found AS MATERIALIZED (
    SELECT held.locked_until, repeated.resend_at, :purpose::text <> 'enrollment' AND ${IS_DISABLED} AS disabled,
      :sends::integer > 1 AND repeated.resend_at IS NULL AS is_stale
    FROM held LEFT JOIN repeated ON true
  ),
  gate AS MATERIALIZED (
    SELECT FROM found WHERE locked_until <= :now::bigint AND NOT disabled AND NOT is_stale
      AND coalesce(resend_at, 0) <= :now::bigint
  ),
  ${countMessage('gate')},
  challenged AS (${writeChallenge('counted_today')}),
  queued AS (${insertMessages('counted_today')})
  SELECT found.*, ${BUDGET_COLUMNS} FROM found`)

/**
 * Begins a challenge, or repeats the active one that the input names: one statement checks the lock, the factor, the wait
 * between two codes and every budget, counts the message, and writes challenge and message. It changes nothing when the
 * message is refused.
 */
export async function beginSending(
  context: FlowContext,
  application: Application,
  input: SendInput,
  recipients: readonly Recipient[],
  now: number,
): Promise<Begun | Refused> {
  const { account, canonicalContact, transaction, challenge } = input
  const owner: Owner = { account, canonicalContact, type: VERIFY_TYPE[input.method], transaction }
  for (;;) {
    const active =
      challenge === undefined
        ? undefined
        : await findActiveChallenge(context.store, application, owner, { id: challenge, now })
    const row = active
      ? repeatedChallenge(application, active, now)
      : newChallenge(context.keys, application, owner, { ...input, now })
    const messages = prepareMessages(context, application, row, recipients, now)
    const parameters = {
      ...messages.parameters,
      ...challengeParameters(application, row, now),
      factor: `${owner.type}:${canonicalContact}`,
      failuresBeforeDisable: application.limits.failuresBeforeDisable,
    }
    const { row: found, result } = await withinBudget(
      application,
      { ...budgetedMessage(recipients, input), isCode: true },
      now,
      { queries: context.store, run: (budget) => runBegin(context, Object.assign(budget, parameters)) },
    )
    if (found.locked_until > now) return locked(lockedForSeconds(found, now))
    if (found.disabled) return factorDisabled
    if (found.is_stale) continue
    if (found.resend_at !== null && found.resend_at > now) return limited(secondsUntil(found.resend_at, now))
    if (!result) throw new Error('The store did not look at the budgets of a message.')
    context.onBudgets?.(result.budgets)
    if (result.waitSeconds > 0) return limited(result.waitSeconds)
    if (result.traffic) return context.phoneTraffic.refuse(application, result.traffic, now)
    return { outcome: 'begun', row, messages: messages.queued }
  }
}

function prepareMessages(
  context: FlowContext,
  application: Application,
  row: ChallengeRow,
  recipients: readonly Recipient[],
  now: number,
) {
  const content = {
    code: codeOf(context.keys, application, row),
    purpose: row.purpose,
    secondsLeft: secondsUntil(row.expires_at, now),
  }
  const composed = recipients.map((recipient) => codeMessage(application, recipient, content))
  const details = {
    now,
    expiresAt: row.expires_at,
    account: row.account,
    challenge: row.id,
    request: context.requestId,
  }
  return context.outbox.prepare(application.id, composed, details)
}

async function runBegin({ store }: FlowContext, parameters: Parameters): Promise<Row> {
  const row = await queryOne<Row>(store, BEGIN.text, BEGIN.values(parameters))
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}
