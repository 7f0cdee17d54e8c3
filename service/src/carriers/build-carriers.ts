import { describe, type Logger } from '../log/logger.js'
import { withinTime } from '../time-limit.js'
import { inTurn } from './fallback.js'
import type { Inbox } from './inbox.js'
import { aboutLetter, type Carrier, type Channel } from '../delivery/message.js'
import type { Route, Routes } from './delivery-option.js'
import { smtpCarrier } from './smtp.js'
import { TRY_MS } from '../delivery/attempt-timeout.js'
import { twilioCarrier } from './twilio.js'
import { webhookCarrier } from './webhook.js'

const CHECK_MS = 10_000

interface Parts {
  readonly inbox: Inbox
  readonly webhookSecret: string | Buffer
  readonly log: Logger
}

/** Carriers as the routes name them. */
export interface Carriers {
  /** The carrier of each channel that is served; several routes of one channel are tried in turn. */
  readonly byChannel: Readonly<Partial<Record<Channel, Carrier>>>
  /** Asks those whose address says `check=start` whether they can be reached, and warns when not. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Builds the carriers that the routes name; the same route is built once. */
export function buildCarriers(routes: Routes, parts: Parts): Carriers {
  const built = new Map<string, { readonly route: Route; readonly carrier: Carrier }>()
  const carrierOf = (route: Route): Carrier => {
    const key = JSON.stringify(route)
    const known = built.get(key) ?? { route, carrier: build(route, parts) }
    built.set(key, known)
    return known.carrier
  }
  const entries = Object.entries(routes).map(([channel, list]) => {
    const [first, ...others] = list.map(carrierOf)
    return [channel, first && others.length > 0 ? several([first, ...others], parts.log) : first]
  })
  return {
    byChannel: Object.fromEntries(entries),
    async check() {
      const wanted = [...built.values()].filter(({ route }) => 'check' in route && route.check)
      await Promise.all(wanted.map(({ carrier }) => checkOne(carrier, parts.log)))
    },
    async close() {
      await Promise.all([...built.values()].map(({ carrier }) => carrier.close()))
    },
  }
}

function several(carriers: readonly Carrier[], log: Logger): Carrier {
  return inTurn(carriers, TRY_MS, ({ letter, carrier, fault, error }) => {
    const why = { carrier, reason: fault, detail: describe(error) }
    log({ level: 'warn', event: 'delivery.missed', ...aboutLetter(letter), ...why })
  })
}

async function checkOne(carrier: Carrier, log: Logger): Promise<void> {
  try {
    await withinTime(CHECK_MS, [], async (signal) => await carrier.check?.(signal))
  } catch (error) {
    log({ level: 'warn', event: 'delivery.unreachable', carrier: carrier.name, detail: describe(error) })
  }
}

function build(route: Route, parts: Parts): Carrier {
  if (route.by === 'inbox') return parts.inbox
  if (route.by !== 'webhook') return askable(route)
  return webhookCarrier({ ...route.settings, secret: route.settings.secret ?? parts.webhookSecret })
}

function askable(route: Extract<Route, { readonly by: 'smtp' | 'twilio' }>): Carrier {
  return route.by === 'smtp' ? smtpCarrier(route.settings) : twilioCarrier(route.settings)
}

/** The carriers among the routes that can be asked whether they know us, each once. */
export function askableCarriers(routes: Routes): Carrier[] {
  const known = new Map<string, Carrier>()
  for (const route of Object.values(routes).flat()) {
    const key = JSON.stringify(route)
    if (known.has(key) || route.by === 'inbox' || route.by === 'webhook') continue
    known.set(key, askable(route))
  }
  return [...known.values()]
}
