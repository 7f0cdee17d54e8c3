import { KEY_ALGORITHMS, NOTICES, OPTIONAL_METHODS, TIERS } from '../../application.js'
import { LIMIT_NAMES, LIMIT_RANGES, type LimitName } from '../../limits.js'
import { SUPPORTED_LANGUAGES } from '../../message-texts/catalogue.js'
import { SETTING_NAMES } from '../../operator/parse-settings.js'

/** How a setting is shown and entered. */
export interface SettingField {
  readonly name: string
  readonly label: string
  /** What it does, with its default and allowed range. */
  readonly hint: string
  /** The values to choose from: one of them, or several with `isList`. */
  readonly choices?: readonly string[]
  readonly isList?: boolean
  /** Whether the value may have several lines. */
  readonly isLong?: boolean
}

/** A part of the page with settings. */
export interface SettingGroup {
  readonly title: string
  readonly fields: readonly SettingField[]
}

type Field = Omit<SettingField, 'name' | 'label'>

const GENERAL: Readonly<Record<string, Field>> = {
  name: {
    hint: 'The name in messages and authenticator apps, 1 to 40 characters. Default: the own name of the application.',
  },
  origin: {
    hint: 'Host of its pages, such as vault.example, for the line of an SMS from which browsers fill in the code. Default: none.',
  },
  locale: {
    hint: 'Language of messages when the language of the user is unknown. Default: en.',
    choices: SUPPORTED_LANGUAGES,
  },
  tier: { hint: 'enterprise includes DUAL. Default: standard.', choices: TIERS },
  methods: {
    hint: 'Weaker than authenticator apps, which are always on. Default: all.',
    choices: OPTIONAL_METHODS,
    isList: true,
  },
  notices: {
    hint: 'The account notices that the service sends. Default: all.',
    choices: NOTICES,
    isList: true,
  },
  texts: {
    hint: 'Texts of your own by language, as JSON: {"de": {"code": {"text": "…"}}}. Default: ours.',
    isLong: true,
  },
}

const PHONES: Readonly<Record<string, Field>> = {
  countries: {
    hint: 'ISO codes such as GB,DE: phone numbers of other countries are refused. "all" serves every country, which SMS pumping abuses. Default: all.',
  },
  prices: {
    hint: 'The price of a message to a phone by country, * for all others: GB:0.04,*:0.20. Default: none.',
  },
  spendPerDay: { hint: 'Ceiling of the prices of a UTC day. It needs prices. Default: none.' },
  spendPerMonth: { hint: 'Ceiling of the prices of a UTC month. It needs prices. Default: none.' },
}

const KEYS: Readonly<Record<string, Field>> = {
  relyingPartyId: {
    hint: 'The domain that security keys and passkeys belong to, such as example.com. Without it, none are offered. It cannot change later.',
  },
  relyingPartyName: { hint: 'The name that authenticators show. Default: the name of the application.' },
  relyingPartyOrigins: {
    hint: 'Origins of its pages: https://app.example.com. Default: https:// and the id.',
  },
  relatedOrigins: { hint: 'Origins of other sites that share the keys. Default: none.' },
  topOrigins: {
    hint: 'Origins of other sites whose pages may show its pages in a frame that uses keys. Default: none.',
  },
  keyUserVerification: {
    hint: 'Whether security keys must verify the user, too. Passkeys always must. Default: discouraged.',
    choices: ['discouraged', 'required'],
  },
  keyDeviceBoundOnly: {
    hint: 'Refuses keys that can be synced to other devices. Default: false.',
    choices: ['true', 'false'],
  },
  keyAttestation: {
    hint: 'direct accepts only authenticators whose manufacturer attests their model. It needs metadata. Default: none.',
    choices: ['none', 'direct'],
  },
  keyAuthenticators: { hint: 'AAGUIDs of the accepted models; needs direct. Default: all in the metadata.' },
  keyMetadata: {
    hint: 'Metadata statements of the FIDO Alliance, or the payload of its BLOB, as JSON. Default: none.',
    isLong: true,
  },
  keyAlgorithms: {
    hint: 'The accepted algorithms. Default: EdDSA, ES256 and RS256.',
    choices: KEY_ALGORITHMS,
    isList: true,
  },
  keyCounter: {
    hint: 'When a signature counter goes back: refuse the key, or flag it with a notice to the user. Default: refuse.',
    choices: ['refuse', 'flag'],
  },
}

const LIMIT_HINTS: Readonly<Record<LimitName, string>> = {
  codeDigits: 'Length of a code that is sent.',
  codeLifetime: 'How long a code sent to a phone is valid.',
  emailCodeLifetime: 'How long a code sent by email is valid.',
  attemptsPerChallenge: 'How many codes are checked for one challenge.',
  failuresBeforeLock: 'Wrong codes within 24 hours that lock an account.',
  lockDuration: 'The first lock; each further one lasts twice as long, up to 24 hours.',
  failuresBeforeDisable: 'Wrong codes since a factor was bound that disable it.',
  resendDelay: 'Wait before a code is sent again for the first time.',
  sendsPerTenMinutes: 'To one account in ten minutes.',
  sendsPerDay: 'To one account in 24 hours.',
  sendsPerDestinationHour: 'To one mailbox or phone number in an hour.',
  sendsPerClientHour: 'Requested from one client address in an hour.',
  sendsPerApplicationDay: 'Of the application in a UTC day.',
  sendsPerCountryHour: 'To the phones of one country in an hour.',
  sendsPerPrefixHour: 'To the phones of one prefix (10,000 numbers) in an hour.',
  minConversionPercent: 'Share of the codes sent to phones that must be typed; 0 switches this off.',
  untypedPerCountry: 'May stay untyped per country before the share counts.',
  untypedPerPrefix: 'May stay untyped per prefix before the share counts.',
  enrollmentLifetime: 'How long a new authenticator app waits for its first code.',
  appStepsAhead: 'Steps of 30 seconds by which an app may be ahead.',
  backupCodes: 'In a set of backup codes.',
  backupCodeLength: 'In a backup code, 5 bits each.',
  keysPerAccount: 'Security keys and passkeys of one account.',
}

function limitField(name: LimitName): Field {
  const { unit, min, max, default: initial } = LIMIT_RANGES[name]
  const [from, to, usual] = [min, max, initial].map((bound) => bound.toLocaleString('en'))
  const range = `${from} to ${to}${unit === 'ms' ? '' : ` ${unit}`}`
  return { hint: `${LIMIT_HINTS[name]} Allowed: ${range}. Default: ${usual}.` }
}

const LIMITS = Object.fromEntries(LIMIT_NAMES.map((name) => [name, limitField(name)]))
const KNOWN = { ...GENERAL, ...PHONES, ...KEYS, ...LIMITS }

/** Settings without a place of their own, such as the senders of carriers; operating.md describes them. */
const OTHERS = Object.fromEntries(
  SETTING_NAMES.filter((name) => !(name in KNOWN)).map((name) => [
    name,
    { hint: 'Default: that of the carrier or of the service.' },
  ]),
)

/** Every setting of an application, in groups. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  { title: 'General', fields: fieldsOf(GENERAL) },
  { title: 'Phone numbers and money', fields: fieldsOf(PHONES) },
  { title: 'Security keys and passkeys', fields: fieldsOf(KEYS) },
  { title: 'Codes and limits', fields: fieldsOf(LIMITS) },
  { title: 'Senders and more', fields: fieldsOf(OTHERS) },
]

function fieldsOf(group: Readonly<Record<string, Field>>): SettingField[] {
  return Object.entries(group).map(([name, field]) => ({ name, label: inWords(name), ...field }))
}

/** `sendsPerDay` as "Sends per day". */
function inWords(name: string): string {
  const words = name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^sms/, 'SMS')
    .replace(/^whatsapp/, 'WhatsApp')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
