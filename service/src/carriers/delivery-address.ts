import { readFileSync } from 'node:fs'
import type { Channel } from '../delivery/message.js'
import type { Route } from './delivery-option.js'
import type { SmtpSettings } from './smtp.js'

const SMTP_FORM = 'smtp://user:password@host:port?from=…'
const TWILIO_FORM = 'twilio://SID:TOKEN@api.twilio.com?from=+…'
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * The route that an address names, a fault as a sentence (`{known}` stands for the forms there are), or nothing
 * when it stands for several channels (`rest`) and cannot serve this one.
 */
export function readAddress(channel: Channel, address: string, rest: boolean): Route | string | undefined {
  if (address === 'inbox') return { by: 'inbox' }
  const where = rest ? 'delivery' : `delivery for ${channel}`
  if (!URL.canParse(address)) return `${where} is not understood: use {known}.`
  const url = new URL(address)
  switch (url.protocol) {
    case 'smtp:':
    case 'smtps:':
      if (channel === 'email') return readSmtp(url)
      return rest ? undefined : `${where} cannot go by smtp: use twilio://, a webhook or inbox.`
    case 'twilio:':
    case 'twilio+http:':
      if (channel !== 'email') return readTwilio(url, channel, rest)
      return rest ? undefined : `${where} cannot go by twilio: use smtp://, a webhook or inbox.`
    case 'http:':
    case 'https:':
      return readWebhook(url)
    default:
      return `${where} uses ${url.protocol}//, which is not known: use {known}.`
  }
}

function readSmtp(url: URL): Route | string {
  const by = 'delivery by smtp'
  const from = url.searchParams.get('from')
  if (!url.hostname) return `${by} needs a host: ${SMTP_FORM}`
  if (!from || !/^[^\p{Cc}]*[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>?$/u.test(from)) {
    return `${by} needs the sender: smtp://…?from=no-reply@vault.example (percent-encode spaces, < and >).`
  }
  const unknown = unknownParameter(url, ['from', 'tls', 'ca', 'connections', 'check'])
  if (unknown) return `${by} has no parameter "${unknown}": there are from, tls, ca, connections and check.`
  const secure = url.protocol === 'smtps:'
  const user = url.username ? decode(url.username) : undefined
  // A password in the clear is for loopback only, unless somebody says otherwise.
  const preferred = user && !LOOPBACK.test(url.hostname) ? 'required' : 'optional'
  const tls = url.searchParams.get('tls') ?? preferred
  if (tls !== 'required' && tls !== 'optional') return `${by}: tls must be required or optional.`
  const connections = Number(url.searchParams.get('connections') ?? 5)
  if (!Number.isInteger(connections) || connections < 1 || connections > 50) {
    return `${by}: connections must be a whole number from 1 to 50 (default 5).`
  }
  const check = readCheck(url)
  if (typeof check === 'string') return `${by}: ${check}`
  const ca = readCertificates(url.searchParams.get('ca'))
  if (ca === null) return `${by}: ca must be a file that can be read, with certificates in PEM.`
  const settings = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    ...{ secure, ca, user, from, connections },
    tls: tls === 'required' ? 'required' : 'optional',
    password: url.password ? decode(url.password) : undefined,
    name: nameOf(url),
  } as const satisfies SmtpSettings
  return { by: 'smtp', settings, check }
}

function readTwilio(url: URL, channel: Channel, rest: boolean): Route | string | undefined {
  const by = 'delivery by twilio'
  const known = ['from', 'service', 'content', 'check']
  const unknown = unknownParameter(url, known, /^content\.[a-z]{2}$/)
  if (unknown)
    return `${by} has no parameter "${unknown}": there are ${known.join(', ')} and content.<language>.`
  if (!url.hostname) return `${by} needs a host: ${TWILIO_FORM}`
  const sid = decode(url.username)
  const token = decode(url.password)
  if (!/^[\w-]{2,64}$/.test(sid) || !token) return `${by} needs the account: ${TWILIO_FORM}`
  // In a query a bare plus sign means a space.
  const from = url.searchParams.get('from')?.replace(/^ (?=\d)/, '+')
  if (from !== undefined && !/^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/.test(from)) {
    return `${by}: from must be a number like +447700900123, a short code or a name of at most 11 letters.`
  }
  const service = url.searchParams.get('service') ?? undefined
  const content = contentTemplates(url)
  const names = [...(service === undefined ? [] : [service]), ...Object.values(content)]
  if (names.some((name) => !/^\w{2,64}$/.test(name))) {
    return `${by}: service and content take the names of a messaging service (MG…) and of a template (HX…).`
  }
  const check = readCheck(url)
  if (typeof check === 'string') return `${by}: ${check}`
  const lack = lackFor(channel, { from, service, content })
  if (lack) return rest && channel !== 'sms' ? undefined : `${by} for ${channel} needs: ${lack}.`
  const plain = url.protocol === 'twilio+http:' || LOOPBACK.test(url.hostname)
  const baseUrl = `${plain ? 'http' : 'https'}://${url.host}${url.pathname.replace(/\/+$/, '')}`
  return { by: 'twilio', settings: { baseUrl, sid, token, from, service, content, name: nameOf(url) }, check }
}

function lackFor(
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
  const template = channel !== 'whatsapp' || content['*'] !== undefined
  return template ? undefined : '?content=HX… (an approved template: WhatsApp takes no free text)'
}

function contentTemplates(url: URL): Record<string, string> {
  return Object.fromEntries(
    [...url.searchParams].flatMap(([name, value]) => {
      if (name === 'content') return [['*', value]]
      return name.startsWith('content.') ? [[name.slice('content.'.length), value]] : []
    }),
  )
}

function readWebhook(url: URL): Route | string {
  if (url.username || url.password)
    return 'delivery by webhook takes no user or password in its address: use ?secret=.'
  const secret = url.searchParams.get('secret') ?? undefined
  const name = nameOf(url)
  url.searchParams.delete('secret')
  url.hash = ''
  return { by: 'webhook', settings: { url: url.href, name, ...(secret !== undefined && { secret }) } }
}

/** What follows `#` names the carrier. */
function nameOf(url: URL): string | undefined {
  return /^#([\w.-]{1,40})$/.exec(url.hash)?.[1]
}

function unknownParameter(url: URL, known: readonly string[], also?: RegExp): string | undefined {
  return [...url.searchParams.keys()].find((name) => !known.includes(name) && !also?.test(name))
}

function readCheck(url: URL): boolean | string {
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

function decode(text: string): string {
  // A stray percent sign in a password is the password's own.
  return text.replace(/(%[0-9a-f]{2})+/gi, (encoded) =>
    Buffer.from(encoded.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}
