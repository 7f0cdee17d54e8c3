import type { SendAnswer } from 'countersign/protocol'
import type { Application } from '../application.js'
import { undelivered } from '../refusals.js'
import type { SendInput } from '../requests/inputs.js'
import { secondsUntil } from '../seconds-until.js'
import { accountReference } from '../secrets/account-reference.js'
import { beginSending } from './begin-sending.js'
import type { FlowContext } from './context.js'
import { recipientsOf } from './recipients.js'

/** Creates a challenge and delivers its code, or delivers the code of an active challenge again. */
export async function sendCode(
  context: FlowContext,
  application: Application,
  input: SendInput,
): Promise<SendAnswer> {
  const now = Date.now()
  const { outbox, keys, log } = context
  const recipients = recipientsOf(context, application, input.method, input)
  const begun =
    'outcome' in recipients ? recipients : await beginSending(context, application, input, recipients, now)
  const fields = {
    application: application.id,
    account: accountReference(keys, application, input.account),
    factor: input.method,
    purpose: input.purpose ?? 'sign-in',
  }
  if (begun.outcome === 'refused') {
    log({ level: 'info', event: 'send.refused', ...fields, reason: begun.refusal.reason })
    return begun
  }
  const { row } = begun
  const dispatched = await outbox.dispatch(begun.messages)
  const { outcome } = dispatched
  log({ level: 'info', event: `send.${outcome}`, ...fields })
  if (outcome === 'failed') return undelivered(dispatched.contact)
  return {
    outcome,
    challenge: row.id,
    expiresInSeconds: secondsUntil(row.expires_at, now),
    resendInSeconds: secondsUntil(row.resend_at, now),
    ...(outbox.reports(application, begun.messages) && { deliveryReports: true }),
  }
}
