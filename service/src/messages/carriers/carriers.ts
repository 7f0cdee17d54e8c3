import type { CarrierKind } from './carrier-kind.js'
import { inbox } from './inbox.js'
import { messagebird } from './messagebird.js'
import { plivo } from './plivo.js'
import { ses } from './ses.js'
import { smtp } from './smtp.js'
import { sns } from './sns.js'
import { twilio } from './twilio.js'
import { vonage } from './vonage.js'
import { webhook } from './webhook.js'

/** The kinds of carriers, by the names that delivery states, settings and the log give them. */
const CARRIERS = { smtp, twilio, ses, sns, vonage, messagebird, plivo, webhook, inbox }

/** The name of a kind of carrier, such as `twilio`. */
export type CarrierName = keyof typeof CARRIERS

type SettingsOf<By extends CarrierName> =
  (typeof CARRIERS)[By] extends CarrierKind<infer Settings> ? Settings : never

/** The kind of carrier with each name. */
export const CARRIER_KINDS: { readonly [By in CarrierName]: CarrierKind<SettingsOf<By>> } = CARRIERS

/** The names of all kinds of carriers, in the order in which documents list them. */
export const CARRIER_NAMES = Object.keys(CARRIERS) as CarrierName[]

/** One configured carrier. `check`: whether its connection is checked when the service starts. */
export type Route<By extends CarrierName = CarrierName> = {
  readonly [Name in By]: {
    readonly by: Name
    readonly settings: SettingsOf<Name>
    readonly check?: boolean
  }
}[By]
