import * as z from 'zod'
import { WARNING_CODES } from './diagnostics/warnings.js'
import { limitsSchema } from './limits/options.js'
import { callback, duration, hasFunctions, sitePath, wholeNumber } from './option-rules.js'
import type {
  KeyOptions,
  LanguageOptions,
  LoginOptions,
  MfaOptions,
  NoticeOptions,
  PageOptions,
} from './options.js'
import { AMR_VALUES } from './protocol/amr.js'
import { recoverySchema } from './recovery/options.js'
import { itemStoreConfig } from './stores/config.js'
import { readTexts } from './texts.js'
import { trustedDevicesSchema } from './trust/options.js'

/*
 * The rule and the default of each option but `service`, in the groups that an app writes them in.
 */

const docsText = 'must be the address of a page without #, like https://docs.example.com/mfa-errors'
const publicUrlText =
  'must be the https address of the app without a path, like https://app.example (http on this machine only)'

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname, search, hash, username } = new URL(url)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const isBare = pathname === '/' && search === '' && hash === '' && username === ''
  return isBare && (protocol === 'https:' || (protocol === 'http:' && isHere))
}

const urls = z.strictObject(
  {
    path: sitePath('/mfa')
      .regex(/[^/]$/, { error: 'must not end with a slash, and must not be the root of the site' })
      .default('/mfa'),
    pathPrefix: sitePath('/bank').regex(/[^/]$/, { error: 'must not end with a slash' }).default(''),
    publicUrl: z
      .string({ error: publicUrlText })
      .refine(isOrigin, { error: publicUrlText })
      .transform((url) => new URL(url).origin)
      .optional(),
    docsUrl: z
      .url({ protocol: /^https?$/, error: docsText })
      .regex(/^[^#]+$/, { error: docsText })
      .optional(),
  },
  { error: 'must be an object like { path: "/mfa" }' },
)

const login = z.strictObject(
  {
    signInPath: sitePath('/login').default('/login'),
    signOutPath: sitePath('/logout').default('/logout'),
    homePath: sitePath('/home').default('/'),
    pendingPaths: z.array(sitePath('/about'), { error: 'must be a list of paths' }).default([]),
    pendingLifetime: duration('2m', '15m', '10m').prefault('10m'),
    allowWeakFactorsToChangeFactors: z.boolean({ error: 'must be true or false' }).default(false),
    firstFactor: z.enum(AMR_VALUES, { error: 'must be a value of RFC 8176, like "pwd"' }).default('pwd'),
    passkeySignIn: callback<NonNullable<LoginOptions['passkeySignIn']>>('must be a function').optional(),
  } satisfies Record<keyof LoginOptions, z.ZodType>,
  { error: 'must be an object like { signInPath: "/login" }' },
)

const notices = z.strictObject(
  {
    onNotice: callback<NonNullable<NoticeOptions['onNotice']>>('must be a function').optional(),
    onCompromise: callback<NonNullable<NoticeOptions['onCompromise']>>('must be a function').optional(),
    store: itemStoreConfig.optional(),
  },
  { error: 'must be an object like { onNotice: (user, notice) => … }' },
)

const pages = z.strictObject(
  {
    stylesheet: sitePath('/mfa.css').optional(),
    logo: sitePath('/logo.svg').optional(),
    addFactorPath: sitePath('/account/phone').optional(),
    help: z
      .string({ error: 'must be text' })
      .min(1, { error: 'must not be empty' })
      .max(500, { error: 'must be at most 500 characters' })
      .optional(),
    preferred: callback<NonNullable<PageOptions['preferred']>>(
      'must be a function from a user to a factor’s id',
    ).optional(),
    render: callback<NonNullable<PageOptions['render']>>('must be a function that returns HTML').optional(),
  },
  { error: 'must be an object like { stylesheet: "/mfa.css" }' },
)

const texts = z.unknown().transform((given, context) => {
  const read = readTexts(given)
  if ('languages' in read) return read.languages
  for (const { path, message } of read.faults) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
  return z.NEVER
})

const languages = z.strictObject(
  {
    offer: z
      .array(z.string({ error: 'must be a language like nl' }), { error: 'must be a list like ["en", "de"]' })
      .min(2, { error: 'must contain at least two languages to choose from' })
      .optional(),
    remember: callback<NonNullable<LanguageOptions['remember']>>('must be a function').optional(),
    locale: callback<NonNullable<LanguageOptions['locale']>>(
      'must be a function from a request to a language',
    ).optional(),
    texts: texts.prefault({}),
  },
  { error: 'must be an object like { offer: ["en", "de"] }' },
)

const keys = z.strictObject(
  {
    offerPasskey: z.union([z.literal(false), duration('1h', '365d', '30d')]).default(false),
  } satisfies Record<keyof KeyOptions, z.ZodType>,
  { error: 'must be true, false, or an object like { offerPasskey: "30d" }' },
)

const diagnostics = z.union(
  [z.literal(false), z.strictObject({ ignore: z.array(z.enum(WARNING_CODES)).default([]) })],
  { error: 'must be false, or an object like { ignore: ["MFA_WARN_RESAVE"] }' },
)

/** The rules of all options but `service`. */
export const optionsSchema = z.strictObject({
  factors: callback<MfaOptions['factors']>('must be a function that lists a user’s second factors'),
  userId: callback<NonNullable<MfaOptions['userId']>>('must be a function from a user to an id').optional(),
  appContact: callback<NonNullable<MfaOptions['appContact']>>(
    'must be a function from a user to a contact',
  ).optional(),
  onAppEnrolled: callback<NonNullable<MfaOptions['onAppEnrolled']>>('must be a function').optional(),
  onAppRemoved: callback<NonNullable<MfaOptions['onAppRemoved']>>('must be a function').optional(),
  policy: callback<NonNullable<MfaOptions['policy']>>(
    'must be a function that returns "require", "skip" or { graceUntil }',
  ).optional(),
  callbackTimeout: duration('1s', '60s', '10s').prefault('10s'),
  maxConcurrentRequests: wholeNumber(16, 10_000, 'requests').default(256),
  onEvent: callback<NonNullable<MfaOptions['onEvent']>>('must be a function').optional(),
  logger: z
    .custom<NonNullable<MfaOptions['logger']>>((value) => hasFunctions(value, 'warn', 'error'), {
      error: 'must have the functions warn and error',
    })
    .default(console),
  appName: z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(60, { error: 'must have at most 60 characters' })
    .default('this site'),
  location: callback<NonNullable<MfaOptions['location']>>(
    'must be a function from a request to text',
  ).optional(),
  outage: z
    .enum(['closed', 'other-factor', 'backup-only'], {
      error: 'must be "closed", "other-factor" or "backup-only"',
    })
    .default('closed'),
  keys: z
    .union([z.boolean(), keys], { error: 'must be true, false, or an object like { offerPasskey: "30d" }' })
    .optional(),
  diagnostics: diagnostics.default({ ignore: [] }),
  urls: urls.prefault({}),
  login: login.prefault({}),
  limits: limitsSchema.prefault({}),
  trustedDevices: trustedDevicesSchema.optional(),
  notices: notices.prefault({}),
  recovery: recoverySchema.optional(),
  pages: pages.prefault({}),
  languages: languages.prefault({}),
})

/** The options with every default, in their groups. */
export type CompleteOptions = z.output<typeof optionsSchema>
