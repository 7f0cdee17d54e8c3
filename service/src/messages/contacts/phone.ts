import { createRequire } from 'node:module'
import type { NumberType } from 'libphonenumber-js/max'

/** Why no message is sent to a phone number: it is `invalid`, of a `country` that is not served, or of a refused `type`. */
export interface PhoneRefusal {
  readonly because: 'invalid' | 'country' | 'type'
  /** A sentence without the number. */
  readonly detail: string
}

/** How a message reaches a phone. */
export type PhoneChannel = 'sms' | 'whatsapp' | 'call'

const SATELLITE = 'satellite and global numbers'
const LANDLINE = 'landlines'

// Numbers that cost the sender extra or belong to a switchboard: targets of SMS pumping, not of users who sign in.
const REFUSED_TYPES: Readonly<Partial<Record<NonNullable<NumberType>, string>>> = {
  PREMIUM_RATE: 'premium-rate numbers',
  TOLL_FREE: 'toll-free numbers',
  SHARED_COST: 'shared-cost numbers',
  PERSONAL_NUMBER: 'personal numbers, which forward to others',
  PAGER: 'pagers',
  UAN: 'company numbers',
  VOICEMAIL: 'voicemail numbers',
}

// Reserved by Ofcom for drama and examples: never assigned, and nobody earns anything by messages to them.
const FICTIONAL = /^\+44(7700900|2079460|1632960)\d{3}$/

/** Whether a number is reserved for examples: messages to it reach no phone and cost nothing. */
export function isFictional(phone: string): boolean {
  return FICTIONAL.test(phone)
}

/** Why messages by this channel to a number in E.164 form are refused (R103), if they are. An empty list of ISO codes serves all countries. */
export function refusePhone(
  phone: string,
  channel: PhoneChannel,
  countries: readonly string[] = [],
): PhoneRefusal | undefined {
  if (isFictional(phone)) return isServed('GB', countries) ? undefined : countryRefused
  const parsed = numbers().parsePhoneNumberFromString(phone, { extract: false })
  if (!parsed?.isValid() || parsed.number !== phone) {
    return { because: 'invalid', detail: 'The phone number is not assigned in any country.' }
  }
  // Numbers such as +881 (satellite) and +882 (international networks) belong to no country and cost the most.
  if (parsed.isNonGeographic()) return typeRefused(SATELLITE)
  if (!isServed(parsed.country, countries)) return countryRefused
  const type = parsed.getType()
  if (type === 'FIXED_LINE' && channel === 'sms') return typeRefused(LANDLINE)
  const refused = type && REFUSED_TYPES[type]
  return refused === undefined ? undefined : typeRefused(refused)
}

const countryRefused: PhoneRefusal = {
  because: 'country',
  detail: 'The phone number belongs to a country that this application does not serve.',
}

function typeRefused(what: string): PhoneRefusal {
  return { because: 'type', detail: `No messages are sent to ${what}.` }
}

function isServed(country: string | undefined, countries: readonly string[]): boolean {
  return countries.length === 0 || (country !== undefined && countries.includes(country))
}

const MAX_REMEMBERED = 1_000
const countries = new Map<string, string | undefined>()

/** The ISO code of a number's country; `undefined` when it belongs to none. */
export function findCountry(phone: string): string | undefined {
  if (isFictional(phone)) return 'GB'
  // One message asks several times, and parsing takes longer than everything else that is known of it.
  if (countries.has(phone)) return countries.get(phone)
  const country = numbers().parsePhoneNumberFromString(phone, { extract: false })?.country
  if (countries.size >= MAX_REMEMBERED) countries.clear()
  countries.set(phone, country)
  return country
}

/** Whether a text is the ISO 3166 code of a country with phone numbers. */
export function isCountry(code: string): boolean {
  return numbers().isSupportedCountry(code)
}

type Numbers = typeof import('libphonenumber-js/max')

let loaded: Numbers | undefined

/** The metadata of every country with its number types, which takes a while to load and which not every process needs. */
function numbers(): Numbers {
  loaded ??= createRequire(import.meta.url)('libphonenumber-js/max') as Numbers
  return loaded
}
