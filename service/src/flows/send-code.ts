import { type SendAnswer, VERIFY_TYPE } from 'countersign/protocol'
import { holdAccountAndFactor, lockedForSeconds } from '../accounts/account.js'
import {
  beginChallenge,
  type ChallengeRow,
  codeOf,
  endChallenge,
  findLiving,
  repeatChallenge,
} from '../accounts/challenge.js'
import { spendMessage } from '../accounts/message-budget.js'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import type { Letter } from '../delivery/message.js'
import { accountReference } from '../log/logger.js'
import type { Queries } from '../store/store.js'
import { codeMessage, type Recipient } from '../message-texts/compose.js'
import { recipientsOf } from './recipients.js'
import { deliveryFailed, factorDisabled, limited, locked } from '../refusals.js'
import type { SendInput } from '../requests/inputs.js'

type Begun =
  | {
      readonly outcome: 'begun'
      readonly row: ChallengeRow
      readonly letters: Letter[]
      readonly isNew: boolean
    }
  | (SendAnswer & { readonly outcome: 'refused' })

/** Makes a code and delivers it, or delivers the code of a living challenge again. */
export async function send(core: Core, application: Application, input: SendInput): Promise<SendAnswer> {
  const now = Date.now()
  const recipients = recipientsOf(core, application, input.method, input)
  const begun =
    'outcome' in recipients
      ? recipients
      : await core.store.transaction((tx) => begin(core, tx, application, input, recipients, now))
  const about = {
    application: application.id,
    account: accountReference(core.keys, application, input.account),
    factor: input.method,
    purpose: input.purpose,
  }
  if (begun.outcome === 'refused') {
    core.log({ level: 'info', event: 'send.refused', ...about, reason: begun.refusal.reason })
    return begun
  }
  const outcome = await core.outbox.dispatch(begun.letters)
  core.log({ level: 'info', event: `send.${outcome}`, ...about })
  if (outcome === 'failed') {
    // The code of a new challenge reached nobody; one that is repeated may have arrived before.
    if (begun.isNew) await endChallenge(core.store, application, begun.row.id, now)
    return deliveryFailed
  }
  return {
    outcome,
    challenge: begun.row.id,
    expiresInSeconds: secondsBetween(now, begun.row.expires_at),
    resendInSeconds: secondsBetween(now, begun.row.resend_at),
  }
}

async function begin(
  core: Core,
  tx: Queries,
  application: Application,
  input: SendInput,
  recipients: readonly Recipient[],
  now: number,
): Promise<Begun> {
  const { account: name, user, transaction } = input
  const owner = { account: name, user, type: VERIFY_TYPE[input.method], transaction }
  const factor = `${owner.type}:${owner.user}`
  const account = await holdAccountAndFactor(tx, application, input.account, factor)
  const lockSeconds = lockedForSeconds(account, now)
  if (lockSeconds > 0) return locked(lockSeconds)
  // Binding again is the way out for a disabled contact, so a code for that may still be sent (R26).
  if (account.disabled && input.purpose !== 'enrolment') return factorDisabled

  const living = input.challenge ? await findLiving(tx, application, owner, input.challenge, now) : undefined
  if (living && living.resend_at > now) return limited(secondsBetween(now, living.resend_at))
  const { waitSeconds, budgets } = await spendMessage(
    tx,
    application,
    {
      account: input.account,
      destinations: recipients.map((recipient) => recipient.to.toLowerCase()),
      clientAddress: input.clientAddress,
    },
    now,
  )
  core.tellBudgets?.(budgets)
  if (waitSeconds > 0) return limited(waitSeconds)

  const row = living
    ? await repeatChallenge(tx, application, living, now)
    : await beginChallenge(tx, core.keys, application, owner, input, now)
  const told = {
    code: codeOf(core.keys, application, row),
    purpose: row.purpose,
    secondsLeft: secondsBetween(now, row.expires_at),
  }
  const messages = recipients.map((recipient) => codeMessage(application, recipient, told))
  const times = { now, expiresAt: row.expires_at, challenge: row.id, request: core.request }
  const letters = await core.outbox.enqueue(tx, application.id, messages, times)
  return { outcome: 'begun', row, letters, isNew: !living }
}

function secondsBetween(now: number, then: number): number {
  return Math.max(0, Math.ceil((then - now) / 1000))
}
