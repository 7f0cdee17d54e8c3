import * as z from 'zod'
import { isSender } from '../../messages/carriers/address-parts.js'
import type { Senders } from '../application.js'
import { setting } from './setting-text.js'

const MAX_VARIABLES = 20
const MAX_VARIABLE_LENGTH = 200

const mailbox = (name: string) => {
  const error = `${name} must be a mailbox, such as Vault <no-reply@vault.example>`
  return z.string({ error }).refine(isMailbox, { error })
}

const phone = (name: string) => {
  const error = `${name} must be a phone number, such as +447700900123`
  return z.string({ error }).regex(/^\+[1-9]\d{6,14}$/, { error })
}

const TEMPLATE_ERROR =
  'whatsappTemplate must be the id of a template (HX…), or a list by language with * for all others, such as *:HX…,de:HX…'
const VARIABLES_ERROR =
  'whatsappVariables must be a list with {code}, such as 1:{code},2:{minutes}; its only placeholders are {code} and {minutes}'

const OF_CARRIER = 'the carrier’s'

/** The rules for who an application's messages come from. */
export const senderRules = {
  emailFrom: setting(mailbox('emailFrom'), {
    hint: 'Sender of emails, such as Vault <no-reply@vault.example>; your mail provider must allow it.',
    usual: OF_CARRIER,
  }),
  emailReplyTo: setting(mailbox('emailReplyTo'), {
    hint: 'Mailbox for replies to emails.',
    usual: OF_CARRIER,
  }),
  smsFrom: setting(
    z.string({ error: 'smsFrom must be text' }).refine(isSender, {
      error: 'smsFrom must be a number such as +447700900123, a short code or a name of at most 11 letters',
    }),
    {
      hint: 'Sender of SMS: a number, a short code or a name of at most 11 letters.',
      usual: OF_CARRIER,
    },
  ),
  messagingService: setting(
    z
      .string({ error: 'messagingService must be text' })
      .regex(/^\w{2,64}$/, { error: 'messagingService must be the id of a messaging service (MG…)' }),
    {
      hint: 'The messaging service of Twilio (MG…) that chooses the sender of SMS, and of WhatsApp without whatsappFrom.',
      usual: OF_CARRIER,
    },
  ),
  whatsappFrom: setting(phone('whatsappFrom'), {
    hint: 'Number that WhatsApp messages come from.',
    usual: OF_CARRIER,
  }),
  whatsappTemplate: setting(
    z
      .record(z.string(), z.string({ error: TEMPLATE_ERROR }), { error: TEMPLATE_ERROR })
      .refine(areTemplates, { error: TEMPLATE_ERROR }),
    {
      hint: 'Approved template of WhatsApp messages, HX…, or one for each language: *:HX…,de:HX….',
      usual: OF_CARRIER,
    },
  ),
  whatsappVariables: setting(
    z
      .record(z.string(), z.string({ error: VARIABLES_ERROR }), { error: VARIABLES_ERROR })
      .refine(areVariables, { error: VARIABLES_ERROR }),
    {
      hint: 'Variables of the template, texts with {code} and {minutes}: 1:{code},2:Vault,3:{minutes}.',
      usual: '1:{code}',
    },
  ),
  callFrom: setting(phone('callFrom'), { hint: 'Number that calls come from.', usual: OF_CARRIER }),
} satisfies { readonly [Name in keyof Senders]-?: z.ZodType }

const SENDER_NAMES = Object.keys(senderRules) as (keyof Senders)[]

/** The settings of the sender of messages. */
export function readSenders(set: Senders): Senders {
  return Object.fromEntries(
    SENDER_NAMES.flatMap((name) => (set[name] === undefined ? [] : [[name, set[name]]])),
  )
}

/** Exactly one mailbox, and nothing that could begin another header (R88). */
function isMailbox(text: string): boolean {
  const [, name, address = text] = /^(.{1,60}) <([^<>]+)>$/.exec(text) ?? []
  const isName = name === undefined || !/[<>"\\]/.test(name)
  return isName && !/\p{Cc}/u.test(text) && /^[^\s<>@,;:"()[\]\\]+@[^\s<>@,;:"()[\]\\]+$/.test(address)
}

function areTemplates(templates: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(templates)
  const isTemplate = ([language, id]: [string, string]) =>
    /^(\*|[a-z]{2}(-[A-Za-z]{2,4})?)$/.test(language) && /^\w{2,64}$/.test(id)
  return templates['*'] !== undefined && entries.every(isTemplate)
}

function areVariables(variables: Readonly<Record<string, string>>): boolean {
  const texts = Object.values(variables)
  const placeholders = texts.flatMap((text) => text.match(/\{[^}]*\}?/g) ?? [])
  return (
    texts.length <= MAX_VARIABLES &&
    Object.keys(variables).every((name) => /^\w{1,32}$/.test(name)) &&
    texts.every((text) => text.length <= MAX_VARIABLE_LENGTH && !/\p{Cc}/u.test(text)) &&
    placeholders.includes('{code}') &&
    placeholders.every((placeholder) => placeholder === '{code}' || placeholder === '{minutes}')
  )
}
