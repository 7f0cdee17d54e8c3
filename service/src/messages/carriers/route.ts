import type { Channel } from '../message.js'
import type { SesSettings, SnsSettings } from './aws.js'
import type { MessageBirdSettings } from './messagebird.js'
import type { SmtpSettings } from './smtp.js'
import type { TwilioSettings } from './twilio.js'
import type { VonageSettings } from './vonage.js'
import type { WebhookSettings } from './webhook.js'

/** One configured carrier. `check`: whether its connection is checked when the service starts. */
export type Route =
  | { readonly by: 'inbox' }
  | { readonly by: 'smtp'; readonly settings: SmtpSettings; readonly check: boolean }
  | { readonly by: 'twilio'; readonly settings: TwilioSettings; readonly check: boolean }
  | { readonly by: 'ses'; readonly settings: SesSettings }
  | { readonly by: 'sns'; readonly settings: SnsSettings }
  | { readonly by: 'vonage'; readonly settings: VonageSettings }
  | { readonly by: 'messagebird'; readonly settings: MessageBirdSettings }
  | {
      readonly by: 'webhook'
      readonly settings: Omit<WebhookSettings, 'secret'> & { readonly secret?: string }
    }

/** The routes of each channel that is served, in the order in which they are tried. */
export type Routes = Readonly<Partial<Record<Channel, readonly Route[]>>>

/** Whether any channel is delivered to the development inbox. */
export function usesInbox(routes: Routes): boolean {
  return Object.values(routes).some((list) => list.some(({ by }) => by === 'inbox'))
}

/** The kinds of carriers of each channel, such as `email=smtp, sms=twilio|webhook`. */
export function describeRoutes(routes: Routes): string {
  return Object.entries(routes)
    .map(([channel, list]) => `${channel}=${list.map(({ by }) => by).join('|')}`)
    .join(', ')
}
