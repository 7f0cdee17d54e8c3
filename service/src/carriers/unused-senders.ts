import type { Senders } from '../application.js'
import type { Channel } from '../delivery/message.js'
import type { Route, Routes } from './route.js'

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

/** A setting that has no effect, and the configured carriers of its channels, none of which can use it. */
export interface UnusedSender {
  readonly name: keyof Senders
  readonly channels: readonly Channel[]
  readonly configured: readonly Route['by'][]
}

/** The settings of an application that none of the carriers of their channels can use. */
export function unusedSenders(routes: Routes, senders: Senders): UnusedSender[] {
  return (Object.keys(senders) as (keyof Senders)[]).flatMap((name) => {
    const { channels, carriers } = USES[name]
    const configured = channels.flatMap((channel) => (routes[channel] ?? []).map(({ by }) => by))
    const isUsed = configured.some((by) => carriers.includes(by))
    return isUsed ? [] : [{ name, channels, configured: [...new Set(configured)] }]
  })
}
