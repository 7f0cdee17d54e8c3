import {
  type Carrier,
  CONTACT_FAULTS,
  type ContactFault,
  checkRecipient,
  type DeliveryError,
} from '../delivery/carrier.js'
import { messageReference } from '../delivery/queued-message.js'
import type { Channel } from '../message.js'
import { decode, gatewayUrl, isSender, nameOf, readSender } from './address-parts.js'
import { type AddressFault, type CarrierKind, missing } from './carrier-kind.js'
import {
  type HttpResponse,
  httpRequest,
  isSuccess,
  jsonFields,
  priceFrom,
  refusalError,
} from './http-request.js'
import { type TwilioSettings, twilioForm } from './twilio-form.js'

/** SMS, WhatsApp messages and calls over the REST API of Twilio, or of a gateway that has the same API. */
export const twilio: CarrierKind<TwilioSettings> = {
  schemes: ['twilio', 'twilio+http'],
  form: 'twilio://SID:TOKEN@api.twilio.com?from=+…',
  channels: ['sms', 'whatsapp', 'call'],
  parameters: ['from', 'service', 'content'],
  moreParameters: { pattern: /^content\.[a-z]{2}(-[A-Za-z]{2,4})?$/, form: 'content.<language>' },
  senders: [
    'smsFrom',
    'messagingService',
    'whatsappFrom',
    'whatsappTemplate',
    'whatsappVariables',
    'callFrom',
  ],
  repeats: { token: 'header `Idempotency-Key`', drops: 'not Twilio itself; gateways that know the header' },
  parse: parseTwilio,
  build: (settings, { reportAddress }) => twilioCarrier(settings, reportAddress),
  buildForCheck: (settings) => twilioCarrier(settings),
  addressOf: ({ baseUrl }) => baseUrl,
}

function parseTwilio(url: URL, channel: Channel): TwilioSettings | AddressFault {
  const sid = decode(url.username)
  const token = decode(url.password)
  if (!/^[\w-]{2,64}$/.test(sid) || !token) return missing('the account')
  const from = readSender(url)
  if (from !== undefined && !isSender(from)) {
    return {
      fault: ': from must be a number such as +447700900123, a short code or a name of at most 11 letters.',
    }
  }
  const service = url.searchParams.get('service') ?? undefined
  const content = contentTemplates(url)
  const names = [...(service === undefined ? [] : [service]), ...Object.values(content)]
  if (names.some((name) => !/^\w{2,64}$/.test(name))) {
    return {
      fault: ': service must be the id of a messaging service (MG…), and content the id of a template (HX…).',
    }
  }
  const settings = { baseUrl: gatewayUrl(url), sid, token, from, service, content, name: nameOf(url) }
  const lacking = missingParameter(channel, settings)
  if (lacking === undefined) return settings
  const fault = ` for ${channel} needs: ${lacking}.`
  return channel === 'sms' ? { fault } : { fault, isOfChannel: true }
}

function missingParameter(channel: Channel, { from, service, content }: TwilioSettings): string | undefined {
  if (channel === 'call') return from?.startsWith('+') ? undefined : '?from=+… (the number that calls)'
  if (from === undefined && service === undefined) return '?from=+… or ?service=MG…'
  const hasTemplate = channel !== 'whatsapp' || content['*'] !== undefined
  return hasTemplate ? undefined : '?content=HX… (an approved template: WhatsApp does not accept free text)'
}

function contentTemplates(url: URL): Record<string, string> {
  return Object.fromEntries(
    [...url.searchParams].flatMap(([name, value]) => {
      if (name === 'content') return [['*', value]]
      return name.startsWith('content.') ? [[name.slice('content.'.length), value]] : []
    }),
  )
}

/** Delivers SMS, WhatsApp messages and calls over Twilio's REST API. `reportAddress` receives the status callbacks; without it there are none. */
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
        ...twilioForm(settings, message),
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
      return { id: readAcceptedId(response), price: priceIn(response) }
    },
    async check(signal) {
      const headers = { authorization, accept: 'application/json' }
      const response = await httpRequest('The gateway', `${account}.json`, { method: 'GET', headers }, signal)
      if (response.status !== 200) throw twilioError(response)
    },
  }
}

/** The gateway's id for the message that it accepted. Throws a `DeliveryError` when it did not accept it. */
function readAcceptedId(response: HttpResponse): string {
  const { sid, status } = jsonFields(response.body)
  const failed = status === 'failed' || status === 'undelivered'
  if (isSuccess(response) && !failed && typeof sid === 'string' && /^\w{1,128}$/.test(sid)) return sid
  throw twilioError(response, !failed)
}

/** Twilio itself knows the price only later; gateways with its API may answer it. It is negative, as what is taken from the balance. */
function priceIn({ body }: HttpResponse): string | undefined {
  const { price, price_unit: unit } = jsonFields(body)
  const amount = priceFrom(price)
  if (amount === undefined) return undefined
  return typeof unit === 'string' && /^[A-Za-z]{3}$/.test(unit) ? `${amount} ${unit.toUpperCase()}` : amount
}

/** The error codes that are about the recipient. All others are about our account with the gateway. */
const CONTACT_ERRORS: Readonly<Record<ContactFault, readonly number[]>> = {
  unknown: [13_223, 13_224, 21_211, 21_214, 21_217, 30_005],
  unsuitable: [21_265, 21_614, 30_006, 63_003, 63_024],
  unsubscribed: [21_610, 63_033],
  complained: [],
  unreachable: [30_003, 30_004],
}

/** A gateway's error as a `DeliveryError`, without the gateway's own text, which quotes the phone number. */
function twilioError(response: HttpResponse, isUnreadable = false): DeliveryError {
  const code = errorCode(response.body)
  const details = [response.status, code].filter((part) => part !== undefined).join(', error ')
  const contact = CONTACT_FAULTS.find((fault) => code !== undefined && CONTACT_ERRORS[fault].includes(code))
  return refusalError(`The gateway answered ${details}.`, response, { isUnreadable, contact })
}

function errorCode(body: string): number | undefined {
  const fields = jsonFields(body)
  const code = Number(fields.code ?? fields.error_code ?? Number.NaN)
  return Number.isInteger(code) && code >= 0 && code < 1_000_000 ? code : undefined
}
