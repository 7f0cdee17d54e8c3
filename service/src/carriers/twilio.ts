import { type Carrier, checkRecipient, DeliveryError, type Letter } from '../delivery/message.js'
import { type Answer, ask } from './http-request.js'
import { twilioRefusal } from './twilio-error.js'
import { twiml } from './twiml.js'

/** An account with Twilio, or with a service that speaks like it. */
export interface TwilioSettings {
  /** Up to `/2010-04-01`, which is added. */
  readonly baseUrl: string
  readonly sid: string
  readonly token: string
  /** The sender: a number, a short code or a name. Calls need a number. */
  readonly from?: string | undefined
  /** Messaging service (`MG…`) that chooses the sender of a message. */
  readonly service?: string | undefined
  /** Approved content template (`HX…`) of WhatsApp codes, by language; `*` for all others. Its variable 1 is the code. */
  readonly content: Readonly<Record<string, string>>
  /** How deliveries and the log call it. Defaults to `twilio`. */
  readonly name?: string | undefined
}

/** Longest time for which Twilio holds a message back. */
const LONGEST_VALIDITY_SECONDS = 36_000

/** Delivers text messages, WhatsApp messages and calls over Twilio's REST interface. */
export function twilioCarrier(settings: TwilioSettings): Carrier {
  const { baseUrl, sid, token, name = 'twilio' } = settings
  const account = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}`
  const authorization = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`
  return {
    name,
    async deliver(letter, signal) {
      checkRecipient(letter)
      const form = letter.channel === 'call' ? call(settings, letter) : message(settings, letter)
      const answer = await ask(
        'The gateway',
        `${account}/${letter.channel === 'call' ? 'Calls' : 'Messages'}.json`,
        {
          method: 'POST',
          headers: {
            authorization,
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            // Twilio itself takes no notice of it; gateways that do will not send the same letter twice.
            'idempotency-key': letter.id,
          },
          body: new URLSearchParams(form).toString(),
        },
        signal,
      )
      return { id: acceptedId(answer) }
    },
    async check(signal) {
      const headers = { authorization, accept: 'application/json' }
      const answer = await ask('The gateway', `${account}.json`, { method: 'GET', headers }, signal)
      if (answer.status !== 200) throw twilioRefusal(answer)
    },
    async close() {},
  }
}

function message(settings: TwilioSettings, letter: Letter): Record<string, string> {
  const sender = senderOf(settings, letter.channel === 'whatsapp' ? 'whatsapp:' : '')
  const secondsLeft = Math.floor((letter.expiresAt - Date.now()) / 1000)
  const common = {
    ...sender,
    // A code that arrives after its time only confuses.
    ValidityPeriod: String(Math.min(Math.max(secondsLeft, 1), LONGEST_VALIDITY_SECONDS)),
  }
  if (letter.channel === 'sms') return { To: letter.to, ...common, Body: letter.text }
  // WhatsApp takes no free text from a business: a template that it has approved, and the code for it.
  const template = settings.content[letter.locale] ?? settings.content['*']
  if (letter.channel !== 'whatsapp' || template === undefined || letter.code === undefined) {
    throw new DeliveryError('The gateway has no way to send this message by this channel.', 'carrier')
  }
  return {
    To: `whatsapp:${letter.to}`,
    ...common,
    ContentSid: template,
    ContentVariables: JSON.stringify({ 1: letter.code }),
  }
}

function call(settings: TwilioSettings, letter: Letter): Record<string, string> {
  if (settings.from === undefined) {
    throw new DeliveryError('The gateway has no number to call from.', 'carrier')
  }
  return { To: letter.to, From: settings.from, Twiml: twiml(letter) }
}

function senderOf({ service, from }: TwilioSettings, prefix: string): Record<string, string> {
  if (service !== undefined) return { MessagingServiceSid: service }
  return { From: `${prefix}${from ?? ''}` }
}

/** The gateway's name for what it took; throws what it refused. */
function acceptedId(answer: Answer): string | undefined {
  const fields = readJson(answer.body)
  const failed = fields.status === 'failed' || fields.status === 'undelivered'
  if (answer.status < 200 || answer.status >= 300 || failed) throw twilioRefusal(answer)
  return typeof fields.sid === 'string' && /^\w{1,128}$/.test(fields.sid) ? fields.sid : undefined
}

function readJson(body: string): { readonly sid?: unknown; readonly status?: unknown } {
  try {
    const read: unknown = JSON.parse(body)
    return typeof read === 'object' && read !== null ? read : {}
  } catch {
    return {}
  }
}
