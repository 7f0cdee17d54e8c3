import { languageKey, matchLanguage } from 'countersign/protocol'
import { type Carrier, checkRecipient, DeliveryError, type OutgoingMessage } from '../delivery/carrier.js'
import { messageReference } from '../delivery/message-reference.js'
import { type HttpResponse, httpRequest } from './http-request.js'
import { priceFrom } from './price.js'
import { twilioError } from './twilio-error.js'
import { twiml } from './twiml.js'

/** An account with Twilio, or with a gateway that has the same API. */
export interface TwilioSettings {
  /** The address before `/2010-04-01`. */
  readonly baseUrl: string
  readonly sid: string
  readonly token: string
  /** The sender: a phone number, a short code or a name. Calls need a phone number. */
  readonly from?: string | undefined
  /** The messaging service (`MG…`) that chooses the sender of a message. */
  readonly service?: string | undefined
  /** The approved content template (`HX…`) for WhatsApp codes of each language, `*` for all others. Variable 1 is the code. */
  readonly content: Readonly<Record<string, string>>
  /** The carrier's name in delivery states and the log. Defaults to `twilio`. */
  readonly name?: string | undefined
}

/** The longest `ValidityPeriod` that Twilio accepts. */
const MAX_VALIDITY_SECONDS = 36_000

/**
 * Delivers SMS, WhatsApp messages and calls over Twilio's REST API. `reportAddress` receives the status callbacks; without it
 * there are none.
 */
export function twilioCarrier(settings: TwilioSettings, reportAddress?: string): Carrier {
  const { baseUrl, sid, token, name = 'twilio' } = settings
  const account = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}`
  const authorization = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`
  return {
    name,
    reports: reportAddress !== undefined,
    async deliver(message, signal) {
      checkRecipient(message)
      const isCall = message.channel === 'call'
      const form = {
        ...(isCall ? callForm(settings, message) : messageForm(settings, message)),
        ...(reportAddress && { StatusCallback: `${reportAddress}?message=${messageReference(message)}` }),
      }
      const response = await httpRequest(
        'The gateway',
        `${account}/${isCall ? 'Calls' : 'Messages'}.json`,
        {
          method: 'POST',
          headers: {
            authorization,
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            // Twilio ignores it; a gateway that supports it does not send the same message twice.
            'idempotency-key': message.id,
          },
          body: new URLSearchParams(form).toString(),
        },
        signal,
      )
      return { id: acceptedId(response), price: priceIn(response) }
    },
    async check(signal) {
      const headers = { authorization, accept: 'application/json' }
      const response = await httpRequest('The gateway', `${account}.json`, { method: 'GET', headers }, signal)
      if (response.status !== 200) throw twilioError(response)
    },
    async close() {},
  }
}

function messageForm(settings: TwilioSettings, message: OutgoingMessage): Record<string, string> {
  const { senders = {} } = message
  const secondsLeft = Math.floor((message.expiresAt - Date.now()) / 1000)
  const common = {
    ...senderOf(settings, message),
    // The gateway must not deliver a code after it has expired.
    ValidityPeriod: String(Math.min(Math.max(secondsLeft, 1), MAX_VALIDITY_SECONDS)),
  }
  if (message.channel === 'sms') return { To: message.to, ...common, Body: message.text }
  // WhatsApp accepts no free text from a business, only an approved template with the code as its variable.
  const template = templateFor(senders.whatsappTemplate ?? settings.content, message.locale)
  if (message.channel !== 'whatsapp' || template === undefined || message.code === undefined) {
    throw new DeliveryError(
      'The gateway cannot send this message by this channel: it has no template for it.',
      'carrier',
    )
  }
  return {
    To: `whatsapp:${message.to}`,
    ...common,
    ContentSid: template,
    ContentVariables: JSON.stringify(
      variablesOf(senders.whatsappVariables ?? { 1: '{code}' }, message.code, secondsLeft),
    ),
  }
}

/** `content.pt` is for both forms of Portuguese, unless there is `content.pt-PT`. */
function templateFor(content: TwilioSettings['content'], locale: string): string | undefined {
  const templates = new Map(Object.entries(content).map(([tag, id]) => [languageKey(tag), id]))
  return templates.get(matchLanguage([locale], templates) ?? '*')
}

function variablesOf(
  variables: Readonly<Record<string, string>>,
  code: string,
  secondsLeft: number,
): Record<string, string> {
  const minutes = String(Math.max(Math.ceil(secondsLeft / 60), 1))
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [
      name,
      text.replaceAll('{code}', code).replaceAll('{minutes}', minutes),
    ]),
  )
}

function callForm(settings: TwilioSettings, message: OutgoingMessage): Record<string, string> {
  const from = message.senders?.callFrom ?? settings.from
  if (from === undefined) {
    throw new DeliveryError('The gateway has no phone number to call from.', 'carrier')
  }
  return { To: message.to, From: from, Twiml: twiml(message) }
}

/** What the application sets comes before what the address of the gateway sets. */
function senderOf(
  settings: TwilioSettings,
  { channel, senders = {} }: OutgoingMessage,
): Record<string, string> {
  if (channel === 'whatsapp' && senders.whatsappFrom !== undefined) {
    return { From: `whatsapp:${senders.whatsappFrom}` }
  }
  if (senders.messagingService !== undefined) return { MessagingServiceSid: senders.messagingService }
  if (channel === 'sms' && senders.smsFrom !== undefined) return { From: senders.smsFrom }
  if (settings.service !== undefined) return { MessagingServiceSid: settings.service }
  return { From: `${channel === 'whatsapp' ? 'whatsapp:' : ''}${settings.from ?? ''}` }
}

/** The gateway's id for the message that it accepted. Throws a `DeliveryError` when it did not accept it. */
function acceptedId(response: HttpResponse): string | undefined {
  const fields = readJson(response.body)
  const failed = fields.status === 'failed' || fields.status === 'undelivered'
  if (response.status < 200 || response.status >= 300 || failed) throw twilioError(response)
  return typeof fields.sid === 'string' && /^\w{1,128}$/.test(fields.sid) ? fields.sid : undefined
}

/** Twilio itself knows the price only later; gateways with its API may answer it. It is negative, as what is taken from the balance. */
function priceIn({ body }: HttpResponse): string | undefined {
  const { price, price_unit: unit } = readJson(body)
  const amount = priceFrom(price)
  if (amount === undefined) return undefined
  return typeof unit === 'string' && /^[A-Za-z]{3}$/.test(unit) ? `${amount} ${unit.toUpperCase()}` : amount
}

function readJson(body: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(body)
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}
