import type { Contact, DeliveredMethod, Refused } from 'countersign/protocol'
import type { Application } from '../application.js'
import { notOffered } from '../applications/offered-methods.js'
import { mayBeCalled } from '../contacts/phone.js'
import type { Core } from './context.js'
import type { Channel } from '../delivery/message.js'
import { stagedRefusal } from '../test-mode/answers.js'
import { chooseLanguage } from '../message-texts/catalogue.js'
import type { Recipient } from '../message-texts/compose.js'
import { contactRefused, methodOff } from '../refusals.js'

/** Where the messages of a method go: one recipient, two for DUAL, or why there is none. */
export function recipientsOf(
  core: Core,
  application: Application,
  method: DeliveredMethod,
  to: { readonly contact: Contact; readonly locale: string | undefined },
): readonly Recipient[] | Refused {
  const unwanted = stagedRefusal(application, to.contact) ?? notOffered(application, method)
  if (unwanted) return unwanted
  const locale = chooseLanguage(to.locale, application.locale)
  const recipients = addresses(method, to.contact).map((address) => ({ ...address, locale }))
  if (recipients.some(({ channel }) => !core.outbox.serves(application, channel))) return methodOff
  const refused = recipients.some(
    ({ channel, to }) => channel !== 'email' && !mayBeCalled(to, application.countries),
  )
  return refused ? contactRefused : recipients
}

function addresses(method: DeliveredMethod, contact: Contact): { channel: Channel; to: string }[] {
  if (contact.kind === 'email') return [{ channel: 'email', to: contact.email }]
  const channel = method === 'dual' || method === 'email' ? 'sms' : method
  const phone = { channel, to: contact.phone }
  return contact.kind === 'dual' ? [{ channel: 'email', to: contact.email }, phone] : [phone]
}
