import { CHANNELS, type Channel } from '../message.js'
import { unknownParameter } from './address-parts.js'
import type { CarrierKind } from './carrier-kind.js'
import { CARRIER_KINDS, CARRIER_NAMES, type CarrierName, type Route } from './carriers.js'
import type { Routes } from './route.js'

/** How messages are delivered: an address for all channels, or by channel with `'*'` for the rest. `|` separates those tried in order. */
export type Delivery = string | { readonly [Name in Channel | '*']?: string | undefined }

interface ParsedDelivery {
  readonly routes: Routes
  readonly faults: readonly string[]
}

const FORMATS = CARRIER_NAMES.map((name) => `\`${CARRIER_KINDS[name].form}\``).join(', ')

/** Parses the option `delivery`, such as `inbox` or `email=smtp://…,sms=twilio://…|https://…,*=inbox`. */
export function parseDelivery(delivery: Delivery): ParsedDelivery {
  const faults: string[] = []
  const routes: Partial<Record<Channel, readonly Route[]>> = {}
  const entries = typeof delivery === 'string' ? splitChannels(delivery) : listEntries(delivery)
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

function listEntries(delivery: Exclude<Delivery, string>): [string, string][] {
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

/** The route of an address, a fault as a sentence (`{formats}` stands for the formats), or `undefined` if `isRest` and it cannot serve this channel. */
function parseAddress(channel: Channel, address: string, isRest: boolean): Route | string | undefined {
  if (address === CARRIER_KINDS.inbox.form) return { by: 'inbox', settings: {} }
  const option = isRest ? 'delivery' : `delivery for ${channel}`
  if (!URL.canParse(address)) return `${option} is not an address: use {formats}.`
  const url = new URL(address)
  const by = CARRIER_NAMES.find((name) => CARRIER_KINDS[name].schemes.includes(url.protocol.slice(0, -1)))
  if (!by) return `${option} uses ${url.protocol}//, which is not supported: use {formats}.`
  return parseRoute(by, url, channel, isRest)
}

function parseRoute<By extends CarrierName>(
  by: By,
  url: URL,
  channel: Channel,
  isRest: boolean,
): Route<By> | string | undefined {
  const kind = CARRIER_KINDS[by]
  const name = `delivery by ${by}`
  if (!kind.channels.includes(channel)) {
    const others = CARRIER_NAMES.filter((other) => CARRIER_KINDS[other].channels.includes(channel))
    const advice = `serves ${kind.channels.join(', ')} only, not ${channel}: use ${others.join(', ')}.`
    return isRest ? undefined : `${name} ${advice}`
  }
  if (!url.hostname) return `${name} needs a host: ${kind.form}`
  const fault = faultOfParameters(url, kind, kind.buildForCheck !== undefined)
  if (fault) return `${name}${fault}`
  const settings = kind.parse(url, channel)
  if ('fault' in settings) {
    return isRest && settings.isOfChannel
      ? undefined
      : `${name}${settings.fault.replace('{form}', kind.form)}`
  }
  return { by, settings, ...(kind.buildForCheck && { check: url.searchParams.has('check') }) }
}

/** An unknown parameter, or a value of `check` that is none: the rest of a sentence that begins with the carrier's name. */
function faultOfParameters(
  url: URL,
  { parameters, moreParameters }: Pick<CarrierKind<object>, 'parameters' | 'moreParameters'>,
  isCheckable: boolean,
): string | undefined {
  if (!parameters) return undefined
  const known = [...parameters, ...(isCheckable ? ['check'] : [])]
  const unknown = unknownParameter(url, known, moreParameters?.pattern)
  if (unknown) {
    const more = moreParameters ? ` or ${moreParameters.form}` : ''
    return ` has no parameter "${unknown}": use ${known.join(', ')}${more}.`
  }
  const check = url.searchParams.get('check')
  return check === null || check === 'start' ? undefined : ': check must be start.'
}
