import type { KeyObject } from 'node:crypto'
import type { Senders } from '../../accounts/application.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { withTimeLimit } from '../../telemetry/time.js'
import { ATTEMPT_TIMEOUT_MS, type Carrier } from '../delivery/carrier.js'
import { messageLogFields } from '../delivery/queued-message.js'
import type { Channel } from '../message.js'
import { sesCarrier, snsCarrier } from './aws.js'
import { type CarrierPauses, carrierPauses, fallbackCarrier, withBreaker } from './fallback.js'
import type { Inbox } from './inbox.js'
import { messageBirdCarrier } from './messagebird.js'
import type { Route, Routes } from './route.js'
import { smtpCarrier } from './smtp.js'
import { twilioCarrier } from './twilio.js'
import { vonageCarrier } from './vonage.js'
import { webhookCarrier } from './webhook.js'

const CHECK_TIMEOUT_MS = 10_000

interface Parts {
  readonly inbox: Inbox
  readonly webhookSecret: string | KeyObject
  readonly log: Logger
  /** Notes the pauses of the carriers. Defaults to pauses that are only logged. */
  readonly pauses?: CarrierPauses
  /** The address for Twilio's status callbacks. */
  readonly reportAddress?: string | undefined
  /** Whether a mail provider sends delivery reports. Defaults to `false`. */
  readonly mailReports?: boolean
}

/** Builds the carriers of all routes; equal routes share one carrier. */
export function buildCarriers(routes: Routes, parts: Parts) {
  const { pauses = carrierPauses(parts.log) } = parts
  const built = new Map<string, { readonly route: Route; readonly carrier: Carrier }>()
  const carrierOf = (route: Route): Carrier => {
    const key = JSON.stringify(route)
    const known = built.get(key) ?? { route, carrier: withBreaker(buildCarrier(route, parts), pauses.note) }
    built.set(key, known)
    return known.carrier
  }
  const entries = Object.entries(routes).map(([channel, list]) => {
    const [first, ...others] = list.map(carrierOf)
    return [channel, first && others.length > 0 ? withFallbacks([first, ...others], parts.log) : first]
  })
  return {
    /** The carrier of each channel that is served; a channel with several routes has a fallback carrier. */
    byChannel: Object.fromEntries(entries) as Readonly<Partial<Record<Channel, Carrier>>>,
    /** Checks the carriers whose address has `check=start`, and logs a warning for each that fails. */
    async check(): Promise<void> {
      const checked = [...built.values()].filter(({ route }) => 'check' in route && route.check)
      await Promise.all(checked.map(({ carrier }) => logUnreachable(carrier, parts.log)))
    },
    async close(): Promise<void> {
      await Promise.all([...built.values()].map(({ carrier }) => carrier.close?.()))
    },
  }
}

function withFallbacks(carriers: readonly Carrier[], log: Logger): Carrier {
  return fallbackCarrier(carriers, ATTEMPT_TIMEOUT_MS, ({ message, carrier, fault, error }) => {
    const why = { carrier, reason: fault, detail: describeError(error) }
    log({ level: 'warn', event: 'delivery.missed', ...messageLogFields(message), ...why })
  })
}

async function logUnreachable(carrier: Carrier, log: Logger): Promise<void> {
  try {
    await withTimeLimit(CHECK_TIMEOUT_MS, [], async (signal) => await carrier.check?.(signal))
  } catch (error) {
    log({ level: 'warn', event: 'delivery.unreachable', carrier: carrier.name, detail: describeError(error) })
  }
}

function buildCarrier(route: Route, parts: Parts): Carrier {
  switch (route.by) {
    case 'inbox':
      return parts.inbox
    case 'webhook':
      return webhookCarrier({ ...route.settings, secret: route.settings.secret ?? parts.webhookSecret })
    case 'ses':
      return { ...sesCarrier(route.settings), reports: parts.mailReports === true }
    case 'sns':
      return snsCarrier(route.settings)
    case 'vonage':
      return vonageCarrier(route.settings)
    case 'messagebird':
      return messageBirdCarrier(route.settings)
    case 'smtp':
      return { ...smtpCarrier(route.settings), reports: parts.mailReports === true }
    case 'twilio':
      return twilioCarrier(route.settings, parts.reportAddress)
  }
}

/** A carrier for each distinct route whose connection can be checked. */
export function checkableCarriers(routes: Routes): Carrier[] {
  const carriers = new Map<string, Carrier>()
  for (const route of Object.values(routes).flat()) {
    const key = JSON.stringify(route)
    if (carriers.has(key) || !('check' in route)) continue
    carriers.set(key, route.by === 'smtp' ? smtpCarrier(route.settings) : twilioCarrier(route.settings))
  }
  return [...carriers.values()]
}

interface Use {
  readonly channels: readonly Channel[]
  readonly carriers: readonly Route['by'][]
}

/** The carriers that can use each setting, and the channels for which they do. */
const USES: { readonly [Name in keyof Senders]-?: Use } = {
  emailFrom: { channels: ['email'], carriers: ['smtp', 'ses', 'webhook'] },
  emailReplyTo: { channels: ['email'], carriers: ['smtp', 'ses', 'webhook'] },
  smsFrom: { channels: ['sms'], carriers: ['twilio', 'sns', 'vonage', 'messagebird', 'webhook'] },
  messagingService: { channels: ['sms', 'whatsapp'], carriers: ['twilio'] },
  whatsappFrom: { channels: ['whatsapp'], carriers: ['twilio', 'webhook'] },
  whatsappTemplate: { channels: ['whatsapp'], carriers: ['twilio'] },
  whatsappVariables: { channels: ['whatsapp'], carriers: ['twilio'] },
  callFrom: { channels: ['call'], carriers: ['twilio', 'webhook'] },
}

/** The settings of an application that have no effect, and the configured carriers of their channels, which cannot use them. */
export function unusedSenders(routes: Routes, senders: Senders) {
  return (Object.keys(senders) as (keyof Senders)[]).flatMap((name) => {
    const { channels, carriers } = USES[name]
    const configured = channels.flatMap((channel) => (routes[channel] ?? []).map(({ by }) => by))
    const isUsed = configured.some((by) => carriers.includes(by))
    return isUsed ? [] : [{ name, channels, configured: [...new Set(configured)] }]
  })
}
