import * as z from 'zod'
import { type ServiceSettings, serviceAddress } from './client/address.js'
import { WARNING_CODES } from './diagnostics/warnings.js'
import { OptionsError } from './errors.js'
import { limitsSchema } from './limits/options.js'
import { callback, hasFunctions, onlyGiven, wholeNumber } from './option-rules.js'
import type { LanguageOptions, MfaOptions } from './options.js'
import { AMR_VALUES } from './protocol/amr.js'
import type { MfaService } from './protocol/service.js'
import { readTexts } from './texts.js'
import { storeConfig, trustedDevicesSchema } from './trust/options.js'

const MINUTE_MS = 60_000

function sitePath(example: string) {
  const error = `must be a path on this site, like ${example}`
  return z.string({ error }).regex(/^\/(?![/\\])[^\s?#\\]*$/, { error })
}

const docsText = 'must be the address of a page without #, like https://docs.example.com/mfa-errors'
const diagnosticsText = 'must be false, or an object like { ignore: ["MFA_WARN_RESAVE"] }'
const diagnosticsSchema = z.union(
  [
    z.literal(false),
    z.strictObject({
      ignore: z.array(z.enum(WARNING_CODES)).default([]),
    }),
  ],
  { error: diagnosticsText },
)

const publicUrlText =
  'must be the https address of the app without a path, like https://app.example (http on this machine alone)'

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname, search, hash, username } = new URL(url)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const isBare = pathname === '/' && search === '' && hash === '' && username === ''
  return isBare && (protocol === 'https:' || (protocol === 'http:' && isHere))
}

const textsSchema = z.unknown().transform((given, context) => {
  const read = readTexts(given)
  if ('languages' in read) return read.languages
  for (const { path, message } of read.faults) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
  return z.NEVER
})

const languagesSchema = z.strictObject({
  offer: z
    .array(z.string({ error: 'must be a language like nl' }), { error: 'must be a list like ["en", "de"]' })
    .min(2, { error: 'must name two languages at least, or there is nothing to choose' }),
  remember: callback<NonNullable<LanguageOptions['remember']>>('must be a function').optional(),
})

const schema = z.strictObject({
  factors: callback<MfaOptions['factors']>('must be a function that lists a user’s second factors'),
  userId: callback<NonNullable<MfaOptions['userId']>>('must be a function from a user to an id').optional(),
  appContact: callback<NonNullable<MfaOptions['appContact']>>(
    'must be a function from a user to a contact',
  ).optional(),
  policy: callback<NonNullable<MfaOptions['policy']>>(
    'must be a function that answers "require", "skip" or { graceUntil }',
  ).optional(),
  onAppEnrolled: callback<NonNullable<MfaOptions['onAppEnrolled']>>('must be a function').optional(),
  onEvent: callback<NonNullable<MfaOptions['onEvent']>>('must be a function').optional(),
  firstFactor: z
    .enum(AMR_VALUES, {
      error: 'must be a value of RFC 8176, like "pwd"',
    })
    .default('pwd'),
  appName: z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(60, { error: 'must have at most 60 characters' })
    .default('this site'),
  path: sitePath('/mfa')
    .regex(/[^/]$/, { error: 'must not end with a slash, and must not be the whole site' })
    .default('/mfa'),
  pathPrefix: sitePath('/bank').regex(/[^/]$/, { error: 'must not end with a slash' }).default(''),
  signInPath: sitePath('/login').default('/login'),
  signOutPath: sitePath('/logout').default('/logout'),
  homePath: sitePath('/home').default('/'),
  open: z.array(sitePath('/about'), { error: 'must be a list of paths' }).default([]),
  pendingLoginMs: wholeNumber(2 * MINUTE_MS, 15 * MINUTE_MS, 'milliseconds').default(10 * MINUTE_MS),
  codeLifeMs: wholeNumber(MINUTE_MS, 10 * MINUTE_MS, 'milliseconds').default(5 * MINUTE_MS),
  limits: limitsSchema.prefault({}),
  docsUrl: z
    .url({ protocol: /^https?$/, error: docsText })
    .regex(/^[^#]+$/, { error: docsText })
    .optional(),
  outage: z
    .enum(['closed', 'other-factor', 'backup-only'], {
      error: 'must be "closed", "other-factor" or "backup-only"',
    })
    .default('closed'),
  trustedDevices: trustedDevicesSchema.optional(),
  onNotice: callback<NonNullable<MfaOptions['onNotice']>>('must be a function').optional(),
  onCompromise: callback<NonNullable<MfaOptions['onCompromise']>>('must be a function').optional(),
  publicUrl: z
    .string({ error: publicUrlText })
    .refine(isOrigin, { error: publicUrlText })
    .transform((url) => new URL(url).origin)
    .optional(),
  noticeStore: storeConfig.optional(),
  place: callback<NonNullable<MfaOptions['place']>>('must be a function from a request to text').optional(),
  diagnostics: diagnosticsSchema.default({ ignore: [] }),
  stylesheet: sitePath('/mfa.css').optional(),
  help: z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(500, { error: 'must be at most 500 characters' })
    .optional(),
  preferred: callback<NonNullable<MfaOptions['preferred']>>(
    'must be a function from a user to a factor’s id',
  ).optional(),
  render: callback<NonNullable<MfaOptions['render']>>('must be a function that returns HTML').optional(),
  locale: callback<NonNullable<MfaOptions['locale']>>(
    'must be a function from a request to a language',
  ).optional(),
  languages: languagesSchema.optional(),
  texts: textsSchema.prefault({}),
  logger: z
    .custom<NonNullable<MfaOptions['logger']>>((value) => hasFunctions(value, 'warn', 'error'), {
      error: 'must have the functions warn and error',
    })
    .default(console),
})

/** The complete options, as our own code reads them. */
export type Settings = Readonly<z.output<typeof schema>> & { readonly service: MfaService | ServiceSettings }

/**
 * Checks the options and fills in every default.
 * @throws {OptionsError} with all faults together, each with its remedy (R18).
 */
export function readOptions(options: unknown): Settings {
  const { service, ...rest } = asObject(options)
  const theirs = readService(service)
  const ours = schema.safeParse(onlyGiven(rest))
  const faults = [
    ...('faults' in theirs ? theirs.faults : []),
    ...(ours.success ? together(ours.data) : tell(ours.error, [])),
  ]
  if (!ours.success || 'faults' in theirs || faults.length > 0) throw new OptionsError(faults)
  return { ...ours.data, service: theirs.service }
}

/** What is wrong only in company. */
function together(given: z.output<typeof schema>): string[] {
  const { publicUrl, trustedDevices, noticeStore, path, pathPrefix } = given
  return [
    ...(publicUrl && !trustedDevices && !noticeStore
      ? ['publicUrl puts links into notices, and these have to be kept: give noticeStore, or trustedDevices']
      : []),
    ...(path.startsWith(`${pathPrefix}/`)
      ? []
      : [`path must be as a browser sees it, with pathPrefix: ${pathPrefix}${path}`]),
    ...languageFaults(given),
  ]
}

function languageFaults({ languages, texts, locale }: z.output<typeof schema>): string[] {
  if (!languages) return []
  const unknown = languages.offer.filter((tag) => !Object.hasOwn(texts, tag.toLowerCase()))
  return [
    ...unknown.map(
      (tag) => `languages.offer names ${tag}, which the pages do not speak; give its words in texts`,
    ),
    ...(new Set(languages.offer.map((tag) => tag.toLowerCase())).size < languages.offer.length
      ? ['languages.offer names a language twice']
      : []),
    ...(languages.remember && !locale
      ? ['languages.remember keeps the choice, and nothing finds it again: give locale as well']
      : []),
  ]
}

const VERBS = ['send', 'verify', 'enrollApp', 'sendBackupCodes', 'transcribe'] as const

/**
 * Checks the address of a service and fills in every default.
 * @throws {OptionsError} with all faults together, each with its remedy (R18).
 */
export function readServiceAddress(given: unknown): ServiceSettings {
  const address = serviceAddress.safeParse(onlyGiven(asObject(given)))
  if (!address.success) throw new OptionsError(tell(address.error, []))
  return address.data
}

/** The option `service`: an object that speaks for a service, or the address of one. */
function readService(
  given: unknown,
): { readonly service: Settings['service'] } | { readonly faults: readonly string[] } {
  const object = typeof given === 'object' && given !== null ? given : {}
  const missing = VERBS.filter((verb) => typeof Reflect.get(object, verb) !== 'function')
  if (missing.length === 0) return { service: given as MfaService }
  if (missing.length < VERBS.length) {
    return {
      faults: [`service must have the functions ${VERBS.join(', ')}; it lacks ${missing.join(' and ')}`],
    }
  }
  if (given !== undefined && object !== given) {
    return { faults: ['service must be { baseUrl, apiKey } or an object that speaks for a service'] }
  }
  const address = serviceAddress.safeParse(onlyGiven(asObject(object)))
  return address.success ? { service: address.data } : { faults: tell(address.error, ['service']) }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function tell(error: z.ZodError, above: readonly string[]): string[] {
  return error.issues.flatMap((issue) => {
    const name = [...above, ...issue.path.map(String)]
    if (issue.code !== 'unrecognized_keys') return `${name.join('.')} ${issue.message}`
    return issue.keys.map((key) => `${[...name, key].join('.')} is not an option; is it misspelt?`)
  })
}
