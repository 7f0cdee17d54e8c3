import { CHANNELS, type Channel } from '../delivery/message.js'
import { parseAddress } from './delivery-address.js'
import { PROVIDER_FORMS } from './provider-address.js'
import type { Route, Routes } from './route.js'

/**
 * How messages are delivered: one address for all channels, such as `inbox`, or one per channel; `'*'` stands for the
 * channels that are not listed. Several addresses of one channel are separated by `|` and tried in order.
 */
export type Delivery = string | { readonly [Name in Channel | '*']?: string | undefined }

/** The routes, and the faults in the option. */
export interface ParsedDelivery {
  readonly routes: Routes
  readonly faults: readonly string[]
}

/** The address formats, for messages about invalid addresses. */
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
