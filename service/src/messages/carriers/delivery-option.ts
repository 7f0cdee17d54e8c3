import { readFileSync } from 'node:fs'
import { CHANNELS, type Channel } from '../message.js'
import {
  decode,
  gatewayUrl,
  isMailSender,
  isSender,
  LOOPBACK,
  nameOf,
  senderOf,
  unknownParameter,
} from './address-parts.js'
import { isProviderAddress, PROVIDER_FORMS, parseProviderAddress } from './provider-address.js'
import type { Route, Routes } from './route.js'
import type { SmtpSettings } from './smtp.js'

/** How messages are delivered: an address for all channels, or by channel with `'*'` for the rest. `|` separates those tried in order. */
export type Delivery = string | { readonly [Name in Channel | '*']?: string | undefined }

interface ParsedDelivery {
  readonly routes: Routes
  readonly faults: readonly string[]
}

const FORMATS = [
  '`inbox`',
  '`smtp://user:password@host:port?from=…`',
  '`smtps://…`',
  '`twilio://SID:TOKEN@host?from=…`',
  ...PROVIDER_FORMS,
  '`http://…` or `https://…`',
].join(', ')

/** Parses the option `delivery`, such as `inbox` or `email=smtp://…,sms=twilio://…|https://…,*=inbox`. */
export function parseDelivery(delivery: Delivery): ParsedDelivery {
  const faults: string[] = []
  const routes: Partial<Record<Channel, readonly Route[]>> = {}
  const entries = typeof delivery === 'string' ? splitChannels(delivery) : entriesOf(delivery)
  for (const [name, addresses] of entries) {
    const isRest = name === '*'
    const channels = isRest
      ? CHANNELS.filter((channel) => !entries.some(([other]) => other === channel))
      : [name]
    for (const channel of channels) {
      if (!isChannel(channel)) {
        faults.push(
          `delivery names the channel "${channel}", which does not exist: use ${CHANNELS.join(', ')} or *.`,
        )
        continue
      }
      const parsed = splitFallbacks(addresses).map((address) => parseAddress(channel, address, isRest))
      faults.push(
        ...parsed.flatMap((fault) =>
          typeof fault === 'string' ? [fault.replace('{formats}', FORMATS)] : [],
        ),
      )
      const found = parsed.filter((route) => typeof route === 'object')
      if (found.length > 0) routes[channel] = found
    }
  }
  if (faults.length === 0 && Object.keys(routes).length === 0) {
    faults.push(`delivery serves no channel: use ${FORMATS}.`)
  }
  return { routes, faults: [...new Set(faults)] }
}

function entriesOf(delivery: Exclude<Delivery, string>): [string, string][] {
  return Object.entries(delivery).flatMap(([name, address]) =>
    address === undefined ? [] : [[name, address]],
  )
}

function splitChannels(list: string): [string, string][] {
  // Addresses may contain commas, so only a comma before `channel=` is a separator.
  return list.split(/,(?=\s*(?:[a-z]+|\*)\s*=)/i).map((entry) => {
    const [, name, address] = /^\s*([a-z]+|\*)\s*=(?=\s*\S)(.*)$/is.exec(entry) ?? []
    return name !== undefined && address !== undefined
      ? [name.toLowerCase(), address.trim()]
      : ['*', entry.trim()]
  })
}

function splitFallbacks(addresses: string): string[] {
  // A password may contain the character, so it is only a separator before another address.
  return addresses.split(/\|(?=\s*(?:inbox\s*(?:\||$)|[a-z][a-z+]*:\/\/))/i).map((address) => address.trim())
}

function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name)
}

const SMTP_FORM = 'smtp://user:password@host:port?from=…'
const TWILIO_FORM = 'twilio://SID:TOKEN@api.twilio.com?from=+…'

/** The route of an address, a fault as a sentence (`{formats}` stands for the formats), or `undefined` if `isRest` and it cannot serve this channel. */
function parseAddress(channel: Channel, address: string, isRest: boolean): Route | string | undefined {
  if (address === 'inbox') return { by: 'inbox' }
  const option = isRest ? 'delivery' : `delivery for ${channel}`
  if (!URL.canParse(address)) return `${option} is not an address: use {formats}.`
  const url = new URL(address)
  if (isProviderAddress(url)) return parseProviderAddress(url, channel, isRest)
  switch (url.protocol) {
    case 'smtp:':
    case 'smtps:':
      if (channel === 'email') return parseSmtp(url)
      return isRest ? undefined : `${option} cannot be smtp: use twilio://, a webhook or inbox.`
    case 'twilio:':
    case 'twilio+http:':
      if (channel !== 'email') return parseTwilio(url, channel, isRest)
      return isRest ? undefined : `${option} cannot be twilio: use smtp://, a webhook or inbox.`
    case 'http:':
    case 'https:':
      return parseWebhook(url)
    default:
      return `${option} uses ${url.protocol}//, which is not supported: use {formats}.`
  }
}

function parseSmtp(url: URL): Route | string {
  const by = 'delivery by smtp'
  const from = url.searchParams.get('from')
  if (!url.hostname) return `${by} needs a host: ${SMTP_FORM}`
  if (!from || !isMailSender(from)) {
    return `${by} needs the sender: smtp://…?from=no-reply@vault.example (percent-encode spaces, < and >).`
  }
  const replyTo = url.searchParams.get('reply-to') ?? undefined
  if (replyTo !== undefined && !isMailSender(replyTo)) return `${by}: reply-to must be a mailbox.`
  const known = ['from', 'reply-to', 'tls', 'ca', 'connections', 'check']
  const unknown = unknownParameter(url, known)
  if (unknown) return `${by} has no parameter "${unknown}": use ${known.join(', ')}.`
  const secure = url.protocol === 'smtps:'
  const user = url.username ? decode(url.username) : undefined
  // Unless the operator sets `tls`, a password is only sent unencrypted to this machine.
  const defaultTls = user && !LOOPBACK.test(url.hostname) ? 'required' : 'optional'
  const tls = url.searchParams.get('tls') ?? defaultTls
  if (tls !== 'required' && tls !== 'optional') return `${by}: tls must be required or optional.`
  const connections = Number(url.searchParams.get('connections') ?? 5)
  if (!Number.isInteger(connections) || connections < 1 || connections > 50) {
    return `${by}: connections must be a whole number from 1 to 50 (default 5).`
  }
  const check = parseCheck(url)
  if (typeof check === 'string') return `${by}: ${check}`
  const ca = readCertificates(url.searchParams.get('ca'))
  if (ca === null) return `${by}: ca must be a readable file with PEM certificates.`
  const settings = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    ...{ secure, ca, user, from, replyTo, connections },
    tls: tls === 'required' ? 'required' : 'optional',
    password: url.password ? decode(url.password) : undefined,
    name: nameOf(url),
  } as const satisfies SmtpSettings
  return { by: 'smtp', settings, check }
}

function parseTwilio(url: URL, channel: Channel, isRest: boolean): Route | string | undefined {
  const by = 'delivery by twilio'
  const known = ['from', 'service', 'content', 'check']
  const unknown = unknownParameter(url, known, /^content\.[a-z]{2}(-[A-Za-z]{2,4})?$/)
  if (unknown) return `${by} has no parameter "${unknown}": use ${known.join(', ')} or content.<language>.`
  if (!url.hostname) return `${by} needs a host: ${TWILIO_FORM}`
  const sid = decode(url.username)
  const token = decode(url.password)
  if (!/^[\w-]{2,64}$/.test(sid) || !token) return `${by} needs the account: ${TWILIO_FORM}`
  const from = senderOf(url)
  if (from !== undefined && !isSender(from)) {
    return `${by}: from must be a number such as +447700900123, a short code or a name of at most 11 letters.`
  }
  const service = url.searchParams.get('service') ?? undefined
  const content = contentTemplates(url)
  const names = [...(service === undefined ? [] : [service]), ...Object.values(content)]
  if (names.some((name) => !/^\w{2,64}$/.test(name))) {
    return `${by}: service must be the id of a messaging service (MG…), and content the id of a template (HX…).`
  }
  const check = parseCheck(url)
  if (typeof check === 'string') return `${by}: ${check}`
  const missing = missingParameter(channel, { from, service, content })
  if (missing) return isRest && channel !== 'sms' ? undefined : `${by} for ${channel} needs: ${missing}.`
  const settings = { baseUrl: gatewayUrl(url), sid, token, from, service, content, name: nameOf(url) }
  return { by: 'twilio', settings, check }
}

function missingParameter(
  channel: Channel,
  given: {
    readonly from: string | undefined
    readonly service: string | undefined
    readonly content: Readonly<Record<string, string>>
  },
): string | undefined {
  const { from, service, content } = given
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

function parseWebhook(url: URL): Route | string {
  if (url.username || url.password)
    return 'delivery by webhook cannot have a user or password in its address: use ?secret=.'
  const secret = url.searchParams.get('secret') ?? undefined
  const name = nameOf(url)
  url.searchParams.delete('secret')
  url.hash = ''
  return { by: 'webhook', settings: { url: url.href, name, ...(secret !== undefined && { secret }) } }
}

function parseCheck(url: URL): boolean | string {
  const check = url.searchParams.get('check')
  return check === null || check === 'start' ? check !== null : 'check must be start.'
}

function readCertificates(path: string | null): string | undefined | null {
  if (path === null) return undefined
  try {
    const text = readFileSync(path, 'utf8')
    return text.includes('-----BEGIN CERTIFICATE-----') ? text : null
  } catch {
    return null
  }
}
