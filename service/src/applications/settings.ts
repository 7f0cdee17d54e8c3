import * as z from 'zod'
import { type Application, type Mode, NOTICES, partitionOf, SWITCHED_METHODS, TIERS } from '../application.js'
import { isCountry } from '../contacts/phone.js'
import { type Limits, limitsSchema } from '../limits.js'
import { CATALOGUE } from '../message-texts/catalogue.js'

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** Whether an application may be called so: it stands in rows, logs and commands. */
export function isApplicationName(text: string): boolean {
  return NAME.test(text)
}

/** The name people know, in messages and authenticator apps; `field` is what the rule calls it. */
export function displayName(field: string) {
  return z
    .string({ error: `${field} must be text: the name people know` })
    .regex(/^[^\p{Cc}]{1,40}$/u, { error: `${field} must have 1 to 40 characters, no control characters` })
}

/** The host of an application's pages. */
export const originRule = z
  .string({ error: 'origin must be text: a host such as vault.example' })
  .regex(/^(?=.{1,100}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i, {
    error: 'origin must be a host such as vault.example, without https://, port or path',
  })

/** Which notices are written; the others are left to the app itself. */
export const noticesRule = z
  .array(z.enum(NOTICES, { error: `notices must be of ${NOTICES.join(', ')}` }), {
    error: 'notices must be a list',
  })
  .transform((notices) => NOTICES.filter((notice) => notices.includes(notice)))

type LimitRules = { [Name in keyof Limits]: z.ZodOptional<z.ZodInt> }
const limitRules = Object.fromEntries(
  // A default would be written down as if somebody had chosen it.
  Object.entries(limitsSchema.shape).map(([name, rule]) => [name, rule.unwrap().optional()]),
) as LimitRules

const languages = Object.keys(CATALOGUE)

/** What may be set for one application; all of it optional. */
export const settingsSchema = z.strictObject({
  /** How messages and authenticator apps call it. Defaults to the application's own name. */
  name: displayName('name').optional(),
  /** Host of its pages: an SMS then ends with the line that lets browsers fill in the code. */
  origin: originRule.optional(),
  /** Language of messages when the person's is not known. Defaults to `en`. */
  locale: z.enum(languages, { error: `locale must be one of ${languages.join(', ')}` }).optional(),
  /** `enterprise` includes DUAL. Defaults to `standard`. */
  tier: z.enum(TIERS, { error: `tier must be ${TIERS.join(' or ')}` }).optional(),
  /** The methods that are on besides authenticator apps. Defaults to all. */
  methods: z
    .array(
      z.enum(SWITCHED_METHODS, {
        error: `methods must be of ${SWITCHED_METHODS.join(', ')}; authenticator apps are always on`,
      }),
    )
    .transform((methods) => SWITCHED_METHODS.filter((method) => methods.includes(method)))
    .optional(),
  /** ISO 3166 codes of the countries whose numbers are sent to. Defaults to all. */
  countries: z
    .array(
      z.string().refine(isCountry, { error: 'countries must be ISO codes of two capital letters, like GB' }),
    )
    .transform((countries) => [...new Set(countries)].sort())
    .optional(),
  /** What is told to people besides codes. Defaults to all. */
  notices: noticesRule.optional(),
  ...limitRules,
})

/** What is set for an application. */
export type ApplicationSettings = z.output<typeof settingsSchema>

/** What an application is where nothing is set. */
export type Base = Omit<Application, 'id' | 'mode'>

/** What an application is that was just made. */
export function newcomer(name: string): Base {
  return {
    name,
    origin: undefined,
    locale: 'en',
    tier: 'standard',
    methods: SWITCHED_METHODS,
    countries: [],
    notices: NOTICES,
    limits: limitsSchema.parse({}),
  }
}

/** The application as a key of that mode sees it: what is set, and the base for the rest. */
export function applicationFrom(name: string, mode: Mode, base: Base, set: ApplicationSettings): Application {
  const { name: shown, origin, locale, tier, methods, countries, notices, ...limits } = set
  return {
    id: partitionOf(name, mode),
    mode,
    name: shown ?? base.name,
    origin: origin ?? base.origin,
    locale: locale ?? base.locale,
    tier: tier ?? base.tier,
    methods: methods ?? base.methods,
    countries: countries ?? base.countries,
    notices: notices ?? base.notices,
    limits: { ...base.limits, ...given(limits) },
  }
}

function given(limits: Partial<Record<keyof Limits, number | undefined>>): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
