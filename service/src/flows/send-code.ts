import type { AnswerOf, Contact, DeliveredMethod, Refused } from 'countersign/protocol'
import type { Application } from '../accounts/application.js'
import { refuseMethod } from '../accounts/applications/offered-methods.js'
import { type PhoneRefusal, refusePhone } from '../messages/contacts/phone.js'
import type { Channel } from '../messages/message.js'
import { chooseLanguage } from '../messages/texts/catalogue.js'
import type { Recipient } from '../messages/texts/compose.js'
import { countSecondsUntil } from '../time.js'
import { beginSending } from './begin-challenges.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import { checkPhones } from './phone-check.js'
import { contactRefused, methodOff, refuseUndelivered } from './refusals.js'
import { runOnceForOperation } from './taken-over.js'
import { isSimulated, simulateRefusal } from './test-mode/simulated-carrier.js'

/** Creates a challenge and delivers its code, or delivers the code of an active challenge again. */
export const sendCode: Flow<'send'> = (context, application, input) => {
  return runOnceForOperation<AnswerOf<'send'>>(context, application, input.account, {
    run: () => send(context, application, input),
    answer(earlier) {
      const now = Date.now()
      if (earlier.outcome === 'failed' || earlier.challenge === null) return refuseUndelivered(undefined)
      return {
        outcome: earlier.outcome,
        challenge: earlier.challenge,
        expiresInSeconds: countSecondsUntil(earlier.expiresAt, now),
        resendInSeconds: countSecondsUntil(earlier.resendAt ?? now, now),
        ...(context.outbox.reports(application, earlier.messages) && { deliveryReports: true }),
      }
    },
  })
}

const send: Flow<'send'> = async (context, application, input) => {
  const now = Date.now()
  const { outbox, log } = context
  const recipients = listRecipients(context, application, input.method, input)
  const begun =
    'outcome' in recipients
      ? recipients
      : ((await checkPhones(context, application, recipients, input.purpose ?? 'sign-in')) ??
        (await beginSending(context, application, input, recipients, now)))
  const fields = {
    ...factorFields(context, application, input, input.method),
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
  if (outcome === 'failed') return refuseUndelivered(dispatched.contact)
  return {
    outcome,
    challenge: row.id,
    expiresInSeconds: countSecondsUntil(row.expires_at, now),
    resendInSeconds: countSecondsUntil(row.resend_at, now),
    ...(outbox.reports(application, begun.messages) && { deliveryReports: true }),
  }
}

/** The recipients of a method's messages (one, or two for DUAL), or why nothing can be sent. */
export function listRecipients(
  context: FlowContext,
  application: Application,
  method: DeliveredMethod,
  to: { readonly contact: Contact; readonly locale: string | undefined },
): readonly Recipient[] | Refused {
  const refusal = simulateRefusal(application, to.contact) ?? refuseMethod(application, method)
  if (refusal) return refusal
  const locale = chooseLanguage(to.locale, application.locale)
  const recipients = listAddresses(method, to.contact).map((address) => ({ ...address, locale }))
  if (recipients.some(({ channel }) => !context.outbox.serves(application, channel))) return methodOff
  const refused = recipients.map((recipient) => refuseRecipient(application, recipient)).find(Boolean)
  return refused ? contactRefused(refused.detail) : recipients
}

/** Why an application sends nothing to a recipient; `undefined` for every mailbox and for an allowed phone number. */
export function refuseRecipient(
  application: Application,
  { channel, to }: Pick<Recipient, 'channel' | 'to'>,
): PhoneRefusal | undefined {
  if (channel === 'email' || isSimulated(application, to)) return undefined
  return refusePhone(to, channel, application.countries)
}

function listAddresses(method: DeliveredMethod, contact: Contact): { channel: Channel; to: string }[] {
  if (contact.kind === 'email') return [{ channel: 'email', to: contact.email }]
  const channel = method === 'dual' || method === 'email' ? 'sms' : method
  const phone = { channel, to: contact.phone }
  return contact.kind === 'dual' ? [{ channel: 'email', to: contact.email }, phone] : [phone]
}
