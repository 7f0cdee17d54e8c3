import type { Contact, DeliveredMethod, Refused } from 'countersign/protocol'
import type { Application } from '../application.js'
import { refuseMethod } from '../applications/offered-methods.js'
import { isAllowedPhone } from '../contacts/phone.js'
import type { Channel } from '../delivery/message.js'
import { chooseLanguage } from '../message-texts/catalogue.js'
import type { Recipient } from '../message-texts/compose.js'
import { contactRefused, methodOff } from '../refusals.js'
import { simulatedRefusal } from '../test-mode/simulated-outcomes.js'
import type { FlowContext } from './context.js'

/** The recipients of a method's messages (one, or two for DUAL), or why nothing can be sent. */
export function recipientsOf(
  context: FlowContext,
  application: Application,
  method: DeliveredMethod,
  to: { readonly contact: Contact; readonly locale: string | undefined },
): readonly Recipient[] | Refused {
  const refusal = simulatedRefusal(application, to.contact) ?? refuseMethod(application, method)
  if (refusal) return refusal
  const locale = chooseLanguage(to.locale, application.locale)
  const recipients = addressesOf(method, to.contact).map((address) => ({ ...address, locale }))
  if (recipients.some(({ channel }) => !context.outbox.serves(application, channel))) return methodOff
  const isRefused = recipients.some(
    ({ channel, to }) => channel !== 'email' && !isAllowedPhone(to, application.countries),
  )
  return isRefused ? contactRefused : recipients
}

function addressesOf(method: DeliveredMethod, contact: Contact): { channel: Channel; to: string }[] {
  if (contact.kind === 'email') return [{ channel: 'email', to: contact.email }]
  const channel = method === 'dual' || method === 'email' ? 'sms' : method
  const phone = { channel, to: contact.phone }
  return contact.kind === 'dual' ? [{ channel: 'email', to: contact.email }, phone] : [phone]
}
