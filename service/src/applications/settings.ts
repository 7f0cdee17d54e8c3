import * as z from 'zod'
import {
  type Application,
  type Mode,
  NOTICES,
  OPTIONAL_METHODS,
  type OwnTexts,
  partitionOf,
  TIERS,
} from '../application.js'
import { isCountry } from '../contacts/phone.js'
import { LIMIT_NAMES, type LimitOptions, limitRules, limitsFrom } from '../limits.js'
import { isSupportedLanguage, SUPPORTED_LANGUAGES } from '../message-texts/catalogue.js'
import { faultsInOwnTexts } from '../message-texts/own-texts.js'
import { displayName } from './display-name.js'
import { DEFAULT_KEY_POLICY, keyPolicyFrom, keyRules, relyingPartyFrom } from './key-settings.js'
import { senderRules } from './sender-settings.js'

/** How an operator writes the empty list of countries, which serves all. */
export const ALL_COUNTRIES = 'all'

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
    .optional()
}

/** The settings of one application, all of them optional. */
export const settingsSchema = z.strictObject({
  /** The name in messages and authenticator apps, 1 to 40 characters. Defaults to the application's own name. */
  name: displayName('name').optional(),
  /** Host of its pages: an SMS then ends with the line from which browsers fill in the code. Defaults to none. */
  origin: originRule.optional(),
  /** Language of messages when the user's language is unknown. Defaults to `en`. */
  locale: z
    .string({ error: 'locale must be a language tag such as en' })
    .refine(isSupportedLanguage, { error: `locale must be one of ${SUPPORTED_LANGUAGES.join(', ')}` })
    .optional(),
  /** `enterprise` includes DUAL. Defaults to `standard`. */
  tier: z.enum(TIERS, { error: `tier must be ${TIERS.join(' or ')}` }).optional(),
  /** The methods that are switched on in addition to authenticator apps. Defaults to all. */
  methods: z
    .array(
      z.enum(OPTIONAL_METHODS, {
        error: `methods must be a list of ${OPTIONAL_METHODS.join(', ')}; authenticator apps are always on`,
      }),
    )
    .transform((methods) => OPTIONAL_METHODS.filter((method) => methods.includes(method)))
    .optional(),
  /** ISO 3166 codes of the countries whose phone numbers are served; an empty list serves all. Defaults to all. */
  countries: z
    .array(
      z
        .string()
        .refine(isCountry, { error: 'countries must be ISO codes of two capital letters, such as GB' }),
    )
    .transform((countries) => [...new Set(countries)].sort())
    .optional(),
  /** The price of a message to a phone by ISO code of the country, `*` for all others, in any currency. Defaults to none. */
  prices: z
    .record(
      z.string().refine((code) => code === '*' || isCountry(code)),
      z.number({ error: 'prices must be numbers above 0, such as GB:0.04' }).positive().max(1_000),
      {
        error: 'prices must be a list of countries as ISO codes, or * for all others, such as GB:0.04,*:0.20',
      },
    )
    .optional(),
  /** Ceiling of the prices of a UTC day's messages to phones. It needs `prices`. Defaults to none. */
  spendPerDay: ceiling('spendPerDay'),
  /** Ceiling of the prices of a UTC month's messages to phones. It needs `prices`. Defaults to none. */
  spendPerMonth: ceiling('spendPerMonth'),
  /** The account notices that are sent. Defaults to all. */
  notices: noticesRule.optional(),
  /** Own texts of messages by language, `{ de: { code: { text: '…' } } }`. Defaults to ours. */
  texts: z
    .unknown()
    .transform((given, context): OwnTexts => {
      const faults = faultsInOwnTexts(given)
      for (const message of faults) context.addIssue({ code: 'custom', message })
      // Without faults, it has this type.
      return faults.length > 0 ? z.NEVER : (given as OwnTexts)
    })
    .optional(),
  ...senderRules,
  ...keyRules,
  ...limitRules,
})

/** What is set for an application. */
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
    limits: limitsFrom({}),
    relyingParty: undefined,
    keyPolicy: DEFAULT_KEY_POLICY,
  }
}

/** The application as a key with this mode sees it, without a webhook: what is set, and the defaults for the rest. */
export function applicationFrom(
  name: string,
  mode: Mode,
  defaults: ApplicationDefaults,
  set: ApplicationSettings,
): Application {
  return {
    id: partitionOf(name, mode),
    mode,
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
    limits: limitsFrom(limitsIn(set), defaults.limits),
    relyingParty: relyingPartyFrom(set, defaults.relyingParty, set.name ?? defaults.name),
    keyPolicy: keyPolicyFrom(set, defaults.keyPolicy),
    texts: set.texts ?? {},
    webhookChannels: [],
  }
}

/** Reads settings as the database stores them. */
export function parseStoredSettings(json: string): ApplicationSettings {
  return settingsSchema.parse(JSON.parse(json))
}

function limitsIn(set: ApplicationSettings): LimitOptions {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, set[name]]))
}
