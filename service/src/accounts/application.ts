import type { DeliveredMethod, Granted, Method, Scope } from 'countersign/protocol'
import type { Mode } from '../store/partition.js'
import type { Limits } from './limits.js'

/** The methods that an application may use: `enterprise` includes DUAL. */
export const TIERS = ['standard', 'enterprise'] as const
type Tier = (typeof TIERS)[number]

/** The methods that an application can switch off. */
export const OPTIONAL_METHODS = [
  'app',
  'email',
  'sms',
  'whatsapp',
  'call',
  'dual',
  'security-key',
  'passkey',
] as const satisfies Method[]

/** The account notices that the service can send (R34, R61, R63). An application that notifies its users itself switches them off. */
export const NOTICES = [
  'locked',
  'app-bound',
  'backup-made',
  'backup-used',
  'factor-removed',
  'key-added',
  'key-removed',
  'key-counter',
  'key-synced',
] as const

/** The event that an account notice is about. */
export type Notice = (typeof NOTICES)[number]

/** A tenant of the service, as one of its API keys sees it. Every row, counter and key carries its id (R86). */
export interface Application {
  /** Its name; a test key sees `<name>/test`, which shares no data with the live keys. */
  readonly id: string
  readonly mode: Mode
  /** The name in messages and authenticator apps. */
  readonly name: string
  /** Host of the application's pages, for the last line of an SMS or an email, from which programs fill in the code. */
  readonly origin: string | undefined
  /** Language of messages when the user's language is unknown. */
  readonly locale: string
  readonly tier: Tier
  readonly methods: readonly Method[]
  /** ISO 3166 codes of the countries whose phone numbers are served; an empty list serves all. */
  readonly countries: readonly string[]
  readonly spending: Spending
  readonly notices: readonly Notice[]
  readonly limits: Limits
  /** The channels whose messages go to a webhook of its own. */
  readonly webhookChannels: OwnWebhook['channels']
  /** The relying party of its security keys and passkeys. Without one, it offers neither. */
  readonly relyingParty: RelyingPartySettings | undefined
  readonly keyPolicy: KeyPolicy
  /** Its own texts of messages, which replace ours. */
  readonly texts: OwnTexts
}

/** Who calls the API: the application that an API key belongs to, and what the key may do. */
export interface ApiCaller {
  readonly application: Application
  /** The id of the key; `SERVICE_API_KEY` for that of the options. */
  readonly key: string
  readonly scopes: readonly Scope[]
  /** When the key expires, in milliseconds since 1970; `null` if it does not. */
  readonly expiresAt: number | null
}

/** A relying party with everything that its operator set. */
export interface RelyingPartySettings extends Granted<'relyingParty'> {
  /** Origins of other sites that may use the keys in frames of ours. */
  readonly topOrigins: readonly string[]
}

/** The names of the algorithms of keys, in the order in which they are preferred. */
export const KEY_ALGORITHMS = ['EdDSA', 'ES256', 'ES384', 'ES512', 'RS256'] as const

/** Which keys an application accepts. */
export interface KeyPolicy {
  /** Whether a security key must verify the user, by PIN or biometrics. A passkey always must. */
  readonly userVerification: 'discouraged' | 'required'
  /** Whether keys that can be synced to other devices are refused. */
  readonly deviceBoundOnly: boolean
  /** `direct`: only authenticators whose manufacturer attests their model, with a certificate that leads to `metadata`. */
  readonly attestation: 'none' | 'direct'
  /** The accepted models by AAGUID; an empty list accepts all in `metadata`. It needs `direct`. */
  readonly authenticators: readonly string[]
  readonly metadata: readonly AuthenticatorModel[]
  readonly algorithms: readonly (typeof KEY_ALGORITHMS)[number][]
  /** The answer when a signature counter goes back: the key is refused, or accepted with a notice to the user. */
  readonly counter: 'refuse' | 'flag'
}

/** A model of authenticators, with the names of the FIDO Alliance's metadata statements. */
export interface AuthenticatorModel {
  readonly aaguid: string
  readonly description: string
  /** Certificates to which its attestations lead, as base64 of DER. */
  readonly attestationRootCertificates: readonly string[]
}

/** The cost of messages to phones, and how much may be spent on them, in the currency of the operator's carriers. */
interface Spending {
  /** The price of a message by ISO code of the country; `*` stands for all others. */
  readonly prices: Readonly<Record<string, number>>
  readonly perDay: number | undefined
  readonly perMonth: number | undefined
}

/** Who an application's messages come from. Whatever is not set, the carrier's own settings decide. */
export interface Senders {
  /** The sender of emails, such as `Vault <no-reply@vault.example>`. */
  readonly emailFrom?: string | undefined
  readonly emailReplyTo?: string | undefined
  /** The sender of SMS: a number, a short code or a name. */
  readonly smsFrom?: string | undefined
  /** The messaging service (`MG…`) of a gateway with Twilio's API. */
  readonly messagingService?: string | undefined
  readonly whatsappFrom?: string | undefined
  /** The approved template (`HX…`) of each language, `*` for all others. */
  readonly whatsappTemplate?: Readonly<Record<string, string>> | undefined
  /** The variables of the templates, with the placeholders `{code}` and `{minutes}`. */
  readonly whatsappVariables?: Readonly<Record<string, string>> | undefined
  readonly callFrom?: string | undefined
}

/** A webhook of an application's own, to which messages are delivered instead of to the carriers of the service. */
export interface OwnWebhook {
  readonly url: string
  readonly channels: readonly Exclude<DeliveredMethod, 'dual'>[]
  /** The secret that signs its requests, sealed. */
  readonly sealed: string
  /** The secret before that, which signs them too until this time, in milliseconds since 1970. */
  readonly former?: { readonly sealed: string; readonly until: number }
}

/** Texts by name, in groups as the texts of the messages are. */
export interface TextTree {
  readonly [name: string]: string | TextTree | undefined
}

/** An application's own texts of messages by language, `{ de: { code: { text: '…' } } }`. Ours apply for the rest. */
export type OwnTexts = Readonly<Record<string, TextTree | undefined>>

/** The application as messages mention it. */
export type Sender = Pick<Application, 'name' | 'origin'> & { readonly texts?: OwnTexts }
