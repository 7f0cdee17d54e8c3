import { CHANNELS, type Channel } from './message.js'
import type { SmtpSettings } from './smtp.js'

/** How one channel's messages leave. */
export type Route =
  | { readonly by: 'inbox' }
  | { readonly by: 'smtp'; readonly settings: SmtpSettings }
  | { readonly by: 'webhook'; readonly url: string; readonly secret: string | undefined }

/** A route for each channel that is served. */
export type Routes = Readonly<Partial<Record<Channel, Route>>>

/** What the operator writes: one route for all channels, or one for each (`'*'`: all the others). */
export type Delivery = string | { readonly [Name in Channel | '*']?: string | undefined }

/** The routes, and what is wrong with how they were written. */
export interface RoutesRead {
  readonly routes: Routes
  readonly faults: readonly string[]
}

const KNOWN = '`inbox`, `smtp://user:password@host:port?from=…`, `smtps://…`, `http://…` or `https://…`'

/** Reads a delivery setting like `inbox` or `email=smtp://…,sms=https://…,*=inbox`. */
export function readRoutes(delivery: Delivery): RoutesRead {
  const faults: string[] = []
  const routes: Partial<Record<Channel, Route>> = {}
  const written = typeof delivery === 'string' ? split(delivery) : entriesOf(delivery)
  for (const [name, address] of written) {
    const channels =
      name === '*' ? CHANNELS.filter((one) => !written.some(([other]) => other === one)) : [name]
    for (const channel of channels) {
      if (!isChannel(channel)) {
        faults.push(
          `delivery names the channel "${channel}", which does not exist: use ${CHANNELS.join(', ')} or *.`,
        )
        continue
      }
      const route = readRoute(channel, address, name === '*')
      if (typeof route === 'string') faults.push(route)
      else if (route) routes[channel] = route
    }
  }
  if (faults.length === 0 && Object.keys(routes).length === 0)
    faults.push(`delivery reaches nobody: use ${KNOWN}.`)
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

function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name)
}

/** The route, a fault as a sentence, or nothing when `*` names a road that this channel cannot take. */
function readRoute(channel: Channel, address: string, rest: boolean): Route | string | undefined {
  if (address === 'inbox') return { by: 'inbox' }
  const where = rest ? 'delivery' : `delivery for ${channel}`
  if (!URL.canParse(address)) return `${where} is not understood: use ${KNOWN}.`
  const url = new URL(address)
  if (url.protocol === 'smtp:' || url.protocol === 'smtps:') {
    if (channel === 'email') return readSmtp(url)
    return rest ? undefined : `delivery for ${channel} cannot go by smtp: use a webhook or inbox.`
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return readWebhook(url)
  return `${where} uses ${url.protocol}//, which is not known: use ${KNOWN}.`
}

function readSmtp(url: URL): Route | string {
  const from = url.searchParams.get('from')
  if (!url.hostname) return 'delivery by smtp needs a host: smtp://user:password@host:port?from=…'
  if (!from || !/^[^\p{Cc}]*[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>?$/u.test(from)) {
    return 'delivery by smtp needs the sender: smtp://…?from=no-reply@vault.example (percent-encode spaces, < and >).'
  }
  const secure = url.protocol === 'smtps:'
  const settings: SmtpSettings = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    secure,
    user: url.username ? decode(url.username) : undefined,
    password: url.password ? decode(url.password) : undefined,
    from,
  }
  return { by: 'smtp', settings }
}

function readWebhook(url: URL): Route | string {
  if (url.username || url.password)
    return 'delivery by webhook takes no user or password in its address: use ?secret=.'
  const secret = url.searchParams.get('secret') ?? undefined
  url.searchParams.delete('secret')
  return { by: 'webhook', url: url.href, secret }
}

function decode(text: string): string {
  // A stray percent sign in a password is the password's own.
  return text.replace(/(%[0-9a-f]{2})+/gi, (encoded) =>
    Buffer.from(encoded.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}
