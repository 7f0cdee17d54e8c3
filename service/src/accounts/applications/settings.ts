import * as z from 'zod'
import { isCountry } from '../../messages/contacts/phone.js'
import { isSupportedLanguage, SUPPORTED_LANGUAGES } from '../../messages/texts/catalogue.js'
import { findFaultsInOwnTexts } from '../../messages/texts/own-texts.js'
import { baseOf, listChoices } from '../../process/configuration-error.js'
import { getPartition } from '../../store/partition.js'
import { type Application, NOTICES, OPTIONAL_METHODS, type OwnTexts, TIERS } from '../application.js'
import { completeLimits, limitRules, limitText } from '../limits.js'
import { DEFAULT_KEY_POLICY, keyPolicyFrom, keyRules, mergeRelyingParty } from './key-settings.js'
import { senderRules } from './sender-settings.js'
import { displayName, findText, type SettingText, setting } from './setting-text.js'

/** How an operator writes the empty list of countries, which serves all. */
export const ALL_COUNTRIES = 'all'

/** The name of the application `default` in messages, until it has one. */
export const UNNAMED = 'Countersign'

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** Whether an application can have this name, which appears in rows, logs and commands. */
export function isApplicationName(text: string): boolean {
  return NAME.test(text)
}

/** The rule for the host of an application's pages. */
export const originRule = z
  .string({ error: 'origin must be text: a host such as vault.example' })
  .regex(/^(?=.{1,100}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i, {
    error: 'origin must be a host such as vault.example, without https://, port or path',
  })

/** The rule for the account notices that are sent. */
export const noticesRule = z
  .array(z.enum(NOTICES, { error: `notices must be a list of ${NOTICES.join(', ')}` }), {
    error: 'notices must be a list',
  })
  .transform((notices) => NOTICES.filter((notice) => notices.includes(notice)))

function ceiling(name: string) {
  return z
    .number({ error: `${name} must be an amount of money above 0, such as 50` })
    .positive({ error: `${name} must be an amount of money above 0, such as 50` })
    .max(1_000_000_000, { error: `${name} must be at most 1000000000` })
}

const generalRules = {
  name: setting(displayName('name'), {
    hint: 'The name in messages and authenticator apps, 1 to 40 characters.',
    usual: 'the own name of the application',
  }),
  origin: setting(originRule, {
    hint: 'Host of its pages, such as vault.example, for the line of an SMS or an email from which programs fill in the code.',
    usual: 'none',
  }),
  locale: setting(
    z
      .string({ error: 'locale must be a language tag such as en' })
      .refine(isSupportedLanguage, { error: `locale must be one of ${SUPPORTED_LANGUAGES.join(', ')}` }),
    {
      hint: 'Language of messages when the language of the user is unknown.',
      usual: 'en',
      choices: SUPPORTED_LANGUAGES,
    },
  ),
  tier: setting(z.enum(TIERS, { error: `tier must be ${TIERS.join(' or ')}` }), {
    hint: 'enterprise includes DUAL.',
    usual: 'standard',
  }),
  methods: setting(
    z
      .array(
        z.enum(OPTIONAL_METHODS, {
          error: `methods must be a list of ${OPTIONAL_METHODS.join(', ')}`,
        }),
      )
      .transform((methods) => OPTIONAL_METHODS.filter((method) => methods.includes(method))),
    { hint: 'The methods that are on.', usual: 'all' },
  ),
  notices: setting(noticesRule, { hint: 'The account notices that the service sends.', usual: 'all' }),
  texts: setting(
    z.unknown().transform((given, context): OwnTexts => {
      const faults = findFaultsInOwnTexts(given)
      for (const message of faults) context.addIssue({ code: 'custom', message })
      // Without faults, it has this type.
      return faults.length > 0 ? z.NEVER : (given as OwnTexts)
    }),
    {
      hint: 'Texts of your own by language, as JSON: {"de": {"code": {"text": "…"}}}.',
      usual: 'ours',
    },
  ),
}

const phoneRules = {
  countries: setting(
    z
      .array(
        z
          .string()
          .refine(isCountry, { error: 'countries must be ISO codes of two capital letters, such as GB' }),
      )
      .transform((countries) => [...new Set(countries)].sort()),
    {
      hint: 'ISO codes such as GB,DE: phone numbers of other countries are refused. "all" serves every country, which SMS pumping abuses.',
      usual: 'all',
    },
  ),
  prices: setting(
    z.record(
      z.string().refine((code) => code === '*' || isCountry(code)),
      z.number({ error: 'prices must be numbers above 0, such as GB:0.04' }).positive().max(1_000),
      {
        error: 'prices must be a list of countries as ISO codes, or * for all others, such as GB:0.04,*:0.20',
      },
    ),
    {
      hint: 'The price of a message to a phone by country, * for all others: GB:0.04,*:0.20.',
      usual: 'none',
    },
  ),
  spendPerDay: setting(ceiling('spendPerDay'), {
    hint: 'Ceiling of the prices of a UTC day. It needs prices.',
    usual: 'none',
  }),
  spendPerMonth: setting(ceiling('spendPerMonth'), {
    hint: 'Ceiling of the prices of a UTC month. It needs prices.',
    usual: 'none',
  }),
}

/** The settings of one application, all of them optional. Limits are described in `limits.ts`. */
export const settingsSchema = z.strictObject({
  ...generalRules,
  ...phoneRules,
  ...senderRules,
  ...keyRules,
  ...limitRules,
})

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(settingsSchema.shape)

/** The rule of a setting; `undefined` for any other name. */
export function settingRule(name: string): z.core.$ZodType | undefined {
  return Object.entries(settingsSchema.shape).find(([other]) => other === name)?.[1]
}

/** A setting as people see it. */
export interface SettingDescription extends SettingText {
  readonly name: string
  /** The range of a limit. */
  readonly allowed?: string
  /** Whether it is a list of values. */
  readonly isList: boolean
  /** Whether the value is JSON, which may have several lines. */
  readonly isLong: boolean
}

function describe([name, rule]: [string, z.core.$ZodType]): SettingDescription {
  const text = limitText(name) ?? findText(rule)
  if (!text) throw new TypeError(`the setting ${name} has no text`)
  return { name, ...listChoices(rule), isLong: baseOf(rule) instanceof z.ZodUnknown, ...text }
}

/** Every setting, in groups that fit the screen of a phone. */
export const SETTING_GROUPS: readonly {
  readonly title: string
  readonly settings: readonly SettingDescription[]
}[] = Object.entries({
  'Name and language': ['name', 'origin', 'locale', 'texts'],
  'Methods and notices': ['tier', 'methods', 'notices'],
  'Phone numbers and money': Object.keys(phoneRules),
  'Site of security keys and passkeys': [
    'relyingPartyId',
    'relyingPartyName',
    'relyingPartyOrigins',
    'relatedOrigins',
    'topOrigins',
  ],
  'Accepted security keys': ['keyUserVerification', 'keyDeviceBoundOnly', 'keyAttestation', 'keyCounter'],
  'Models of security keys': ['keyAuthenticators', 'keyMetadata', 'keyAlgorithms', 'keysPerAccount'],
  Codes: ['codeDigits', 'codeLifetime', 'emailCodeLifetime'],
  'Authenticator apps and backup codes': [
    'enrollmentLifetime',
    'appStepsAhead',
    'backupCodes',
    'backupCodeLength',
  ],
  'Wrong codes': ['attemptsPerChallenge', 'failuresBeforeLock', 'lockDuration', 'failuresBeforeDisable'],
  'Messages to one user': ['resendDelay', 'sendsPerTenMinutes', 'sendsPerDay', 'sendsPerDestinationHour'],
  'Messages of the application': [
    'sendsPerClientHour',
    'sendsPerApplicationDay',
    'phoneSendsPercent',
    'sendsPerCountryHour',
    'sendsPerPrefixHour',
  ],
  'SMS pumping': ['minConversionPercent', 'untypedPerCountry', 'untypedPerPrefix'],
  'Senders of email and text messages': ['emailFrom', 'emailReplyTo', 'smsFrom', 'messagingService'],
  'Senders of WhatsApp messages and calls': [
    'whatsappFrom',
    'whatsappTemplate',
    'whatsappVariables',
    'callFrom',
  ],
}).map(([title, names]) => ({
  title,
  settings: Object.entries(settingsSchema.shape)
    .filter(([name]) => names.includes(name))
    .map(describe),
}))

/** The effect of a setting, with its allowed range and default. */
export function wholeHint({ hint, allowed, usual }: SettingDescription): string {
  return `${hint}${allowed ? ` Allowed: ${allowed}.` : ''} Default: ${usual}.`
}

/** The settings of an application. */
export type ApplicationSettings = z.output<typeof settingsSchema>

/** The values of everything that is not set. */
export type ApplicationDefaults = Omit<Application, 'id' | 'mode' | 'texts' | 'webhookChannels'>

/** The values of a new application. */
export function applicationDefaults(name: string): ApplicationDefaults {
  return {
    name,
    origin: undefined,
    locale: 'en',
    tier: 'standard',
    methods: OPTIONAL_METHODS,
    countries: [],
    spending: { prices: {}, perDay: undefined, perMonth: undefined },
    notices: NOTICES,
    limits: completeLimits({}),
    relyingParty: undefined,
    keyPolicy: DEFAULT_KEY_POLICY,
  }
}

/** The application as its live keys see it, without a webhook: what is set, and the defaults for the rest. */
export function completeApplication(
  name: string,
  defaults: ApplicationDefaults,
  set: ApplicationSettings,
): Application {
  return {
    id: getPartition({ application: name, mode: 'live' }),
    mode: 'live',
    name: set.name ?? defaults.name,
    origin: set.origin ?? defaults.origin,
    locale: set.locale ?? defaults.locale,
    tier: set.tier ?? defaults.tier,
    methods: set.methods ?? defaults.methods,
    countries: set.countries ?? defaults.countries,
    spending: {
      prices: set.prices ?? defaults.spending.prices,
      perDay: set.spendPerDay ?? defaults.spending.perDay,
      perMonth: set.spendPerMonth ?? defaults.spending.perMonth,
    },
    notices: set.notices ?? defaults.notices,
    limits: completeLimits(set, defaults.limits),
    relyingParty: mergeRelyingParty(set, defaults.relyingParty, set.name ?? defaults.name),
    keyPolicy: keyPolicyFrom(set, defaults.keyPolicy),
    texts: set.texts ?? {},
    webhookChannels: [],
  }
}

// A process of a later release may have stored settings that this one does not know.
const storedSchema = settingsSchema.loose()

/** Reads settings as the database stores them. */
export function parseStoredSettings(json: string): ApplicationSettings {
  return storedSchema.parse(JSON.parse(json))
}
