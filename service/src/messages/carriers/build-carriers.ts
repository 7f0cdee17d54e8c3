import type { Senders } from '../../accounts/application.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { limitTime } from '../../time.js'
import { ATTEMPT_TIMEOUT_MS, type Carrier, ensureDeliveryError } from '../delivery/carrier.js'
import { messageLogFields } from '../delivery/queued-message.js'
import type { Channel } from '../message.js'
import type { CarrierParts } from './carrier-kind.js'
import { CARRIER_KINDS, type CarrierName, type Route } from './carriers.js'
import { addBreaker, type CarrierPauses, carrierPauses, fallbackCarrier } from './fallback.js'
import type { Routes } from './route.js'

const CHECK_TIMEOUT_MS = 10_000

interface Parts extends CarrierParts {
  readonly log: Logger
  /** Notes the pauses of the carriers. Defaults to pauses that are only logged. */
  readonly pauses?: CarrierPauses
}

/** Builds the carriers of all routes; equal routes share one carrier. */
export function buildCarriers(routes: Routes, parts: Parts) {
  const { pauses = carrierPauses(parts.log) } = parts
  const built = new Map<string, { readonly route: Route; readonly carrier: Carrier }>()
  const openCarrier = (route: Route): Carrier => {
    const key = keyOf(route)
    const known = built.get(key) ?? {
      route,
      carrier: addBreaker(namingSetupFaults(buildCarrier(route, parts), parts.log), pauses.note),
    }
    built.set(key, known)
    return known.carrier
  }
  const entries = Object.entries(routes).map(([channel, list]) => {
    const [first, ...others] = list.map(openCarrier)
    return [channel, first && others.length > 0 ? addFallbacks([first, ...others], parts.log) : first]
  })
  return {
    /** The carrier of each channel that is served; a channel with several routes has a fallback carrier. */
    byChannel: Object.fromEntries(entries) as Readonly<Partial<Record<Channel, Carrier>>>,
    /** Checks the carriers whose address has `check=start`, and logs a warning for each that fails. */
    async check(): Promise<void> {
      const checked = [...built.values()].filter(({ route }) => route.check)
      await Promise.all(checked.map(({ carrier }) => logUnreachable(carrier, parts.log)))
    },
    async close(): Promise<void> {
      await Promise.all([...built.values()].map(({ carrier }) => carrier.close?.()))
    },
  }
}

/** The same carrier; what an operator must set up differently has an event of its own in the log. */
function namingSetupFaults(carrier: Carrier, log: Logger): Carrier {
  return {
    ...carrier,
    async deliver(message, signal) {
      try {
        return await carrier.deliver(message, signal)
      } catch (error) {
        const { setup } = ensureDeliveryError(error).details
        if (setup) log({ level: 'error', event: setup, carrier: carrier.name, detail: describeError(error) })
        throw error
      }
    },
  }
}

const keyOf = (route: Route): string => JSON.stringify(route)

function addFallbacks(carriers: readonly Carrier[], log: Logger): Carrier {
  return fallbackCarrier(carriers, ATTEMPT_TIMEOUT_MS, ({ message, carrier, fault, error }) => {
    const why = { carrier, reason: fault, detail: describeError(error) }
    log({ level: 'warn', event: 'delivery.missed', ...messageLogFields(message), ...why })
  })
}

async function logUnreachable(carrier: Carrier, log: Logger): Promise<void> {
  try {
    await limitTime(CHECK_TIMEOUT_MS, [], async (signal) => await carrier.check?.(signal))
  } catch (error) {
    log({ level: 'warn', event: 'delivery.unreachable', carrier: carrier.name, detail: describeError(error) })
  }
}

/** Builds the carrier of a route. */
export function buildCarrier<By extends CarrierName>(
  { by, settings }: Route<By>,
  parts: CarrierParts,
): Carrier {
  return CARRIER_KINDS[by].build(settings, parts)
}

function buildForCheck<By extends CarrierName>({ by, settings }: Route<By>): Carrier | undefined {
  return CARRIER_KINDS[by].buildForCheck?.(settings)
}

/** A carrier for each distinct route whose connection can be checked. */
export function checkableCarriers(routes: Routes): Carrier[] {
  const distinct = new Map(
    Object.values(routes).flatMap((list) => list.map((route) => [keyOf(route), route])),
  )
  return [...distinct.values()].flatMap((route) => buildForCheck(route) ?? [])
}

/** The channels for which each setting about senders counts. */
const SENDER_CHANNELS: { readonly [Name in keyof Senders]-?: readonly Channel[] } = {
  emailFrom: ['email'],
  emailReplyTo: ['email'],
  smsFrom: ['sms'],
  messagingService: ['sms', 'whatsapp'],
  whatsappFrom: ['whatsapp'],
  whatsappTemplate: ['whatsapp'],
  whatsappVariables: ['whatsapp'],
  callFrom: ['call'],
}

/** The settings of an application that have no effect, and the configured carriers of their channels, which cannot use them. */
export function findUnusedSenders(routes: Routes, senders: Senders) {
  return (Object.keys(senders) as (keyof Senders)[]).flatMap((name) => {
    const channels = SENDER_CHANNELS[name]
    const configured = channels.flatMap((channel) => (routes[channel] ?? []).map(({ by }) => by))
    const isUsed = configured.some((by) => CARRIER_KINDS[by].senders.includes(name))
    return isUsed ? [] : [{ name, channels, configured: [...new Set(configured)] }]
  })
}
