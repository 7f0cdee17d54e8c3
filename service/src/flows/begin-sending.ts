import { type Refused, VERIFY_TYPE } from 'countersign/protocol'
import { lockedForSeconds } from '../accounts/account.js'
import {
  type ChallengeRow,
  codeOf,
  findActiveChallenge,
  newChallenge,
  type Owner,
  repeatedChallenge,
} from '../accounts/challenge.js'
import { withinBudget } from '../accounts/message-budget.js'
import type { Application } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import type { PreparedMessages } from '../delivery/outbox-table.js'
import { codeMessage, type Recipient } from '../message-texts/compose.js'
import { factorDisabled, limited, locked } from '../refusals.js'
import type { SendInput } from '../requests/inputs.js'
import { secondsUntil } from '../seconds-until.js'
import { beginChallenge } from './begin-challenges.js'
import { budgetedMessage } from './budgeted-message.js'
import type { FlowContext } from './context.js'

/** A challenge whose code is written to the outbox. */
export interface Begun {
  readonly outcome: 'begun'
  readonly row: ChallengeRow
  /** To be dispatched. */
  readonly messages: QueuedMessage[]
}

/** Begins a challenge, or repeats the active one that the input names. It changes nothing when the message is refused. */
export async function beginSending(
  context: FlowContext,
  application: Application,
  input: SendInput,
  recipients: readonly Recipient[],
  now: number,
): Promise<Begun | Refused> {
  const { account, canonicalContact, transaction, challenge, purpose = 'sign-in' } = input
  const owner: Owner = { account, canonicalContact, type: VERIFY_TYPE[input.method], transaction }
  for (;;) {
    const active =
      challenge === undefined
        ? undefined
        : await findActiveChallenge(context.store, application, owner, { id: challenge, now })
    const row = active
      ? repeatedChallenge(application, active, now)
      : newChallenge(context.keys, application, owner, { ...input, purpose, now })
    const messages = prepareMessages(context, application, row, recipients, now)
    const begun = {
      challenge: row,
      factor: `${owner.type}:${canonicalContact}`,
      now,
      messages: messages.fields,
    }
    const { row: found, result } = await withinBudget(
      application,
      { ...budgetedMessage(recipients, input), isCode: true },
      now,
      {
        queries: context.store,
        run: (counted, part) => beginChallenge(context.store, application, { ...begun, counted }, part),
      },
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
): PreparedMessages {
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
