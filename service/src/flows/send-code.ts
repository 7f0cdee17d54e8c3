import { type SendAnswer, VERIFY_TYPE } from 'countersign/protocol'
import { holdAccountAndFactor, lockedForSeconds } from '../accounts/account.js'
import {
  beginChallenge,
  type ChallengeRow,
  codeOf,
  endChallenge,
  findActiveChallenge,
  type Owner,
  repeatChallenge,
} from '../accounts/challenge.js'
import { type BudgetedMessage, consumeMessageBudget } from '../accounts/message-budget.js'
import type { Application } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import { codeMessage, type Recipient } from '../message-texts/compose.js'
import { deliveryFailed, factorDisabled, limited, locked } from '../refusals.js'
import type { SendInput } from '../requests/inputs.js'
import { accountReference } from '../secrets/account-reference.js'
import type { Queries } from '../store/store.js'
import { beginInOneStatement } from './begin-in-one-statement.js'
import type { FlowContext } from './context.js'
import { recipientsOf } from './recipients.js'

type Begun =
  | {
      readonly outcome: 'begun'
      readonly row: ChallengeRow
      readonly messages: QueuedMessage[]
      readonly isNew: boolean
    }
  | (SendAnswer & { readonly outcome: 'refused' })

/** Creates a challenge and delivers its code, or delivers the code of an active challenge again. */
export async function sendCode(
  context: FlowContext,
  application: Application,
  input: SendInput,
): Promise<SendAnswer> {
  const now = Date.now()
  const { store, outbox, keys, log } = context
  const recipients = recipientsOf(context, application, input.method, input)
  const begun =
    'outcome' in recipients ? recipients : await beginSending(context, application, input, recipients, now)
  const fields = {
    application: application.id,
    account: accountReference(keys, application, input.account),
    factor: input.method,
    purpose: input.purpose,
  }
  if (begun.outcome === 'refused') {
    log({ level: 'info', event: 'send.refused', ...fields, reason: begun.refusal.reason })
    return begun
  }
  const outcome = await outbox.dispatch(begun.messages)
  log({ level: 'info', event: `send.${outcome}`, ...fields })
  if (outcome === 'failed') {
    // Nobody received the code of a new challenge; a repeated code may have arrived before.
    if (begun.isNew) await endChallenge(store, application, begun.row.id, now)
    return deliveryFailed
  }
  return {
    outcome,
    challenge: begun.row.id,
    expiresInSeconds: secondsBetween(now, begun.row.expires_at),
    resendInSeconds: secondsBetween(now, begun.row.resend_at),
  }
}

async function beginSending(
  context: FlowContext,
  application: Application,
  input: SendInput,
  recipients: readonly Recipient[],
  now: number,
): Promise<Begun> {
  const { account, canonicalContact, transaction, clientAddress } = input
  const owner = { account, canonicalContact, type: VERIFY_TYPE[input.method], transaction }
  const budgeted = {
    account,
    destinations: recipients.map((recipient) => recipient.to.toLowerCase()),
    clientAddress,
  }
  // With a challenge, its code may have to be sent again instead.
  if (input.challenge === undefined) {
    const begun = await beginInOneStatement(context, application, owner, input, recipients, budgeted, now)
    if (begun) return { outcome: 'begun', ...begun, isNew: true }
  }
  return context.store.transaction((tx) =>
    begin(context, tx, application, owner, input, recipients, budgeted, now),
  )
}

async function begin(
  context: FlowContext,
  tx: Queries,
  application: Application,
  owner: Owner,
  input: SendInput,
  recipients: readonly Recipient[],
  budgeted: BudgetedMessage,
  now: number,
): Promise<Begun> {
  const factor = `${owner.type}:${owner.canonicalContact}`
  const account = await holdAccountAndFactor(tx, application, owner.account, factor)
  const lockSeconds = lockedForSeconds(account, now)
  if (lockSeconds > 0) return locked(lockSeconds)
  // A disabled contact is enabled by binding it again, so a code for that may still be sent (R26).
  if (account.disabled && input.purpose !== 'enrollment') return factorDisabled

  const active = input.challenge
    ? await findActiveChallenge(tx, application, owner, input.challenge, now)
    : undefined
  if (active && active.resend_at > now) return limited(secondsBetween(now, active.resend_at))
  const { waitSeconds, budgets } = await consumeMessageBudget(tx, application, budgeted, now)
  context.onBudgets?.(budgets)
  if (waitSeconds > 0) return limited(waitSeconds)

  const row = active
    ? await repeatChallenge(tx, application, active, now)
    : await beginChallenge(tx, context.keys, application, owner, input, now)
  const challenge = {
    code: codeOf(context.keys, application, row),
    purpose: row.purpose,
    secondsLeft: secondsBetween(now, row.expires_at),
  }
  const composed = recipients.map((recipient) => codeMessage(application, recipient, challenge))
  const details = {
    now,
    expiresAt: row.expires_at,
    account: owner.account,
    challenge: row.id,
    request: context.requestId,
  }
  const messages = await context.outbox.enqueue(tx, application.id, composed, details)
  return { outcome: 'begun', row, messages, isNew: !active }
}

function secondsBetween(now: number, then: number): number {
  return Math.max(0, Math.ceil((then - now) / 1000))
}
