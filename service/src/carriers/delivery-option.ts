import { readAddress } from './delivery-address.js'
import { CHANNELS, type Channel } from '../delivery/message.js'
import type { SmtpSettings } from './smtp.js'
import type { TwilioSettings } from './twilio.js'
import type { WebhookSettings } from './webhook.js'

/** One way for messages to leave. `check`: whether it can be reached is found out at the start. */
export type Route =
  | { readonly by: 'inbox' }
  | { readonly by: 'smtp'; readonly settings: SmtpSettings; readonly check: boolean }
  | { readonly by: 'twilio'; readonly settings: TwilioSettings; readonly check: boolean }
  | {
      readonly by: 'webhook'
      readonly settings: Omit<WebhookSettings, 'secret'> & { readonly secret?: string }
    }

/** For each channel that is served its routes, in the order in which they are tried. */
export type Routes = Readonly<Partial<Record<Channel, readonly Route[]>>>

/** What the operator writes: routes for all channels, or for each (`'*'`: all the others); several parted by `|`. */
export type Delivery = string | { readonly [Name in Channel | '*']?: string | undefined }

/** The routes, and what is wrong with how they were written. */
export interface RoutesRead {
  readonly routes: Routes
  readonly faults: readonly string[]
}

/** The forms an address has, for messages about wrong ones. */
const KNOWN =
  '`inbox`, `smtp://user:password@host:port?from=…`, `smtps://…`, `twilio://SID:TOKEN@host?from=…`, `http://…` or `https://…`'

/** Reads a delivery setting like `inbox` or `email=smtp://…,sms=twilio://…|https://…,*=inbox`. */
export function readRoutes(delivery: Delivery): RoutesRead {
  const faults: string[] = []
  const routes: Partial<Record<Channel, readonly Route[]>> = {}
  const written = typeof delivery === 'string' ? split(delivery) : entriesOf(delivery)
  for (const [name, addresses] of written) {
    const rest = name === '*'
    const channels = rest ? CHANNELS.filter((one) => !written.some(([other]) => other === one)) : [name]
    for (const channel of channels) {
      if (!isChannel(channel)) {
        faults.push(
          `delivery names the channel "${channel}", which does not exist: use ${CHANNELS.join(', ')} or *.`,
        )
        continue
      }
      const read = inTurn(addresses).map((address) => readAddress(channel, address, rest))
      faults.push(
        ...read.flatMap((fault) => (typeof fault === 'string' ? [fault.replace('{known}', KNOWN)] : [])),
      )
      const found = read.filter((route) => typeof route === 'object')
      if (found.length > 0) routes[channel] = found
    }
  }
  if (faults.length === 0 && Object.keys(routes).length === 0) {
    faults.push(`delivery reaches nobody: use ${KNOWN}.`)
  }
  return { routes, faults: [...new Set(faults)] }
}

function entriesOf(delivery: Exclude<Delivery, string>): [string, string][] {
  return Object.entries(delivery).flatMap(([name, address]) =>
    address === undefined ? [] : [[name, address]],
  )
}

function split(list: string): [string, string][] {
  // Addresses may hold commas themselves, so only a comma before `channel=` parts them.
  return list.split(/,(?=\s*(?:[a-z]+|\*)\s*=)/i).map((entry) => {
    const [, name, address] = /^\s*([a-z]+|\*)\s*=(?=\s*\S)(.*)$/is.exec(entry) ?? []
    return name !== undefined && address !== undefined
      ? [name.toLowerCase(), address.trim()]
      : ['*', entry.trim()]
  })
}

function inTurn(addresses: string): string[] {
  // A password may hold the sign too, so only one before another address parts them.
  return addresses.split(/\|(?=\s*(?:inbox\s*(?:\||$)|[a-z][a-z+]*:\/\/))/i).map((address) => address.trim())
}

function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name)
}
