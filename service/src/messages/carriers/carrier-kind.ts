import type { KeyObject } from 'node:crypto'
import type { Senders } from '../../accounts/application.js'
import { type Carrier, checkRecipient, type NamedCarrier } from '../delivery/carrier.js'
import type { Channel } from '../message.js'

/** The parts of the service that carriers are built with. */
export interface CarrierParts {
  readonly inbox: Carrier
  readonly webhookSecret: string | KeyObject
  /** The address for Twilio's status callbacks. */
  readonly reportAddress?: string | undefined
  /** Whether a mail provider sends delivery reports. Defaults to `false`. */
  readonly mailReports?: boolean
}

/** A fault of an address: the rest of a sentence that begins with the name of the carrier, such as ` needs a host`. */
export interface AddressFault {
  readonly fault: string
  /** Whether the address may serve other channels all the same. Defaults to `false`. */
  readonly isOfChannel?: true
}

/** A kind of carrier: what its addresses look like, which messages it delivers, and how it is built. */
export interface CarrierKind<Settings extends object> {
  /** The schemes of its addresses; none for the address that is one word. */
  readonly schemes: readonly string[]
  /** The form of its addresses, for documents and for messages about invalid ones. */
  readonly form: string
  /** The channels that it can serve. */
  readonly channels: readonly Channel[]
  /** The parameters of its addresses; absent if its addresses have parameters of their own. */
  readonly parameters?: readonly string[]
  /** Parameters with variable names. */
  readonly moreParameters?: { readonly pattern: RegExp; readonly form: string }
  /** The settings of an application that it uses. */
  readonly senders: readonly (keyof Senders)[]
  /** Where it puts the token that is the same for each attempt, and whether a second message is dropped by it: Markdown. */
  readonly repeats: { readonly token: string; readonly drops: string }
  /** Parses an address with a host and known parameters only. */
  parse(url: URL, channel: Channel): Settings | AddressFault
  build(settings: Settings, parts: CarrierParts): Carrier
  /** Builds it only to check its connection; absent if that cannot be checked. */
  buildForCheck?(settings: Settings): Carrier
  /** Where its requests go, to tell whether they are encrypted; absent if it has rules for that itself. */
  addressOf?(settings: Settings): string
}

interface GatewayKind<Settings extends object>
  extends Omit<CarrierKind<Settings>, 'schemes' | 'build' | 'buildForCheck' | 'addressOf'> {
  /** Whether delivery reports come. Defaults to never. */
  hasReports?(parts: CarrierParts): boolean
  /** Builds what hands a message over, once its recipient is checked. */
  buildDelivery(settings: Settings): Carrier['deliver']
}

/** The kind of a gateway with an HTTP API. `name` is its scheme, which with `+http` is unencrypted, and the usual name of its carriers. */
export function gatewayKind<Settings extends NamedCarrier & { readonly baseUrl: string }>(
  name: string,
  { hasReports, buildDelivery, ...kind }: GatewayKind<Settings>,
): CarrierKind<Settings> {
  return {
    ...kind,
    schemes: [name, `${name}+http`],
    addressOf: ({ baseUrl }) => baseUrl,
    build(settings, parts) {
      const deliver = buildDelivery(settings)
      return {
        name: settings.name ?? name,
        ...(hasReports && { reports: hasReports(parts) }),
        async deliver(message, signal) {
          checkRecipient(message)
          return deliver(message, signal)
        },
      }
    },
  }
}

/** A fault because a part of the address is missing. `{form}` stands for the form of the carrier's addresses. */
export function missing(part: string): AddressFault {
  return { fault: ` needs ${part}: {form}` }
}

/** The forms of a sender of text messages, for messages about invalid ones. */
export const SENDER =
  'the sender ?from=, a number such as +447700900123, a short code or a name of at most 11 letters'
