import type { Inbox } from './inbox.js'
import type { Carrier, Channel } from './message.js'
import type { Route, Routes } from './routes.js'
import { smtpCarrier } from './smtp.js'
import { webhookCarrier } from './webhook.js'

/** Builds the carriers that the routes name; channels with the same route share one. */
export function buildCarriers(
  routes: Routes,
  parts: { readonly inbox: Inbox; readonly webhookSecret: string | Buffer },
): Readonly<Partial<Record<Channel, Carrier>>> {
  const built = new Map<string, Carrier>()
  const entries = Object.entries(routes).map(([channel, route]) => {
    const name = JSON.stringify(route)
    const carrier = built.get(name) ?? build(route, parts)
    built.set(name, carrier)
    return [channel, carrier]
  })
  return Object.fromEntries(entries)
}

function build(
  route: Route,
  parts: { readonly inbox: Inbox; readonly webhookSecret: string | Buffer },
): Carrier {
  if (route.by === 'inbox') return parts.inbox
  if (route.by === 'smtp') return smtpCarrier(route.settings)
  return webhookCarrier({ url: route.url, secret: route.secret ?? parts.webhookSecret })
}
