import * as z from 'zod'
import { COUNTERSIGN, type Dialect, dialectSchema, PUBLISHED } from './client/dialect.js'
import { OptionsError } from './errors.js'
import type { MfaOptions } from './options.js'
import type { MfaService } from './protocol/service.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

// A function's parameters cannot be checked when the app starts; that it is one can.
const callback = <Callback>(remedy: string) =>
  z.custom<Callback>((value) => typeof value === 'function', { error: remedy })

const wholeNumber = (min: number, max: number, unit: string) => {
  const error = `must be a whole number of ${unit} from ${min} to ${max}`
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

const sitePath = z
  .string({ error: 'must be a path on this site, like /login' })
  .regex(/^\/(?![/\\])[^\s?#\\]*$/, { error: 'must be a path on this site, like /login' })

const serviceObject = z.custom<MfaService>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    ['send', 'verify', 'enrollApp', 'sendBackupCodes'].every(
      (verb) => typeof Reflect.get(value, verb) === 'function',
    ),
)

const partialDialect = dialectSchema.partial().extend({
  paths: dialectSchema.shape.paths.partial().optional(),
  sendTypes: dialectSchema.shape.sendTypes.partial().optional(),
  backupTypes: dialectSchema.shape.backupTypes.partial().optional(),
})

const dialect = z.union([z.enum(['published', 'countersign']), partialDialect], {
  error: 'must be "published", "countersign" or an object with the parts that differ (see docs/dialect.md)',
})

const serviceAddress = z
  .strictObject({
    baseUrl: z.url({
      protocol: /^https?$/,
      error: 'must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)',
    }),
    apiKey: z
      .string({ error: 'must be the API key of the MFA service (is MFA_API_KEY set?)' })
      .min(16, { error: 'must have at least 16 characters; give the whole API key' })
      .regex(/^[\x21-\x7e]+$/, {
        error: 'must be one line without spaces; was a line break copied with it?',
      }),
    dialect: dialect.default('published'),
    timeoutMs: wholeNumber(100, 10_000, 'milliseconds').default(5_000),
    maxConnections: wholeNumber(1, 1_024, 'connections').default(64),
    allowInsecureServiceUrl: z.boolean({ error: 'must be true or false' }).default(false),
  })
  .superRefine((address, context) => {
    const url = new URL(address.baseUrl)
    const fault = (message: string) => context.addIssue({ code: 'custom', path: ['baseUrl'], message })
    if (url.username || url.password)
      fault('must not hold a user name or password; the key belongs in apiKey')
    if (url.search || url.hash) fault('must end with its path: remove what follows ? or #')
    if (url.protocol === 'http:' && !isLoopback(url.hostname) && !address.allowInsecureServiceUrl) {
      fault(
        `must be https (got http://${url.host}). If that network is yours and trusted, set allowInsecureServiceUrl: true`,
      )
    }
  })
  .transform(({ dialect, baseUrl, ...rest }) => ({
    ...rest,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    dialect: completeDialect(dialect),
  }))

const limits = z.strictObject({
  redis: z
    .custom<object>((value) => typeof value === 'object' && value !== null, {
      error: 'must be a connected client of the "redis" package',
    })
    .optional(),
  triesPerChallenge: wholeNumber(3, 10, 'tries').default(5),
  failuresBeforeLock: wholeNumber(5, 10, 'failures').default(10),
  lockMs: wholeNumber(15 * MINUTE_MS, 24 * HOUR_MS, 'milliseconds').default(30 * MINUTE_MS),
  sendsPerTenMinutes: wholeNumber(1, 5, 'messages').default(5),
  sendsPerDay: wholeNumber(1, 10, 'messages').default(10),
  resendWaitsSeconds: z
    .array(wholeNumber(20, 3_600, 'seconds'), { error: 'must be a list of seconds like [30, 60, 120]' })
    .min(1, { error: 'must name at least one wait, like [30]' })
    .default([30, 60, 120]),
})

const schema = z.strictObject({
  factors: callback<MfaOptions['factors']>('must be a function that lists a user’s second factors'),
  userId: callback<NonNullable<MfaOptions['userId']>>('must be a function from a user to an id').optional(),
  appContact: callback<NonNullable<MfaOptions['appContact']>>(
    'must be a function from a user to a contact',
  ).optional(),
  onAppEnrolled: callback<NonNullable<MfaOptions['onAppEnrolled']>>('must be a function').optional(),
  onEvent: callback<NonNullable<MfaOptions['onEvent']>>('must be a function').optional(),
  firstFactor: z
    .enum(['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'], {
      error: 'must be a value of RFC 8176, like "pwd"',
    })
    .default('pwd'),
  appName: z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(60)
    .default('this site'),
  path: sitePath
    .regex(/[^/]$/, { error: 'must not end with a slash, and must not be the whole site' })
    .default('/mfa'),
  signInPath: sitePath.default('/login'),
  signOutPath: sitePath.default('/logout'),
  homePath: sitePath.default('/'),
  open: z.array(sitePath, { error: 'must be a list of paths' }).default([]),
  halfLoginMs: wholeNumber(2 * MINUTE_MS, 15 * MINUTE_MS, 'milliseconds').default(10 * MINUTE_MS),
  codeLifeMs: wholeNumber(MINUTE_MS, 10 * MINUTE_MS, 'milliseconds').default(5 * MINUTE_MS),
  limits: limits.prefault({}),
  render: callback<NonNullable<MfaOptions['render']>>('must be a function that returns HTML').optional(),
  locale: callback<NonNullable<MfaOptions['locale']>>(
    'must be a function from a request to a language',
  ).optional(),
  logger: z
    .custom<NonNullable<MfaOptions['logger']>>(
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        typeof Reflect.get(value, 'warn') === 'function' &&
        typeof Reflect.get(value, 'error') === 'function',
      { error: 'must have the functions warn and error' },
    )
    .default(console),
})

/** The complete options, as our own code reads them. */
export type Settings = Readonly<z.output<typeof schema>> & {
  readonly service: MfaService | Readonly<z.output<typeof serviceAddress>>
}

/** A checked address of a service. */
export type ServiceSettings = Readonly<z.output<typeof serviceAddress>>

/**
 * Checks the options and fills in every default.
 * @throws {OptionsError} with all faults together, each with its remedy (R18).
 */
export function readOptions(options: unknown): Settings {
  const given = typeof options === 'object' && options !== null ? options : {}
  const { service, ...rest } = { service: undefined, ...given }
  const ours = schema.safeParse(withoutUndefined(rest))
  const isObject = serviceObject.safeParse(service).success
  const theirs = isObject ? undefined : serviceAddress.safeParse(withoutUndefined(service ?? {}))
  const faults = [
    ...(theirs?.success === false ? tell(theirs.error, ['service']) : []),
    ...(ours.success ? [] : tell(ours.error, [])),
  ]
  if (!ours.success || theirs?.success === false) throw new OptionsError(faults)
  return { ...ours.data, service: theirs ? theirs.data : (service as unknown as MfaService) }
}

function tell(error: z.ZodError, above: readonly string[]): string[] {
  return error.issues.map((issue) => {
    const name = [...above, ...issue.path.map(String)].join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys
        .map((key) => `${name ? `${name}.` : ''}${key} is not an option; is it misspelt?`)
        .join('; ')
    }
    return `${name} ${issue.message}`
  })
}

// "Not given" and "given as undefined" are the same to somebody who reads an environment variable.
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined))
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function completeDialect(given: z.output<typeof dialect>): Dialect {
  if (given === 'published') return PUBLISHED
  if (given === 'countersign') return COUNTERSIGN
  return {
    ...PUBLISHED,
    ...given,
    paths: { ...PUBLISHED.paths, ...given.paths },
    sendTypes: { ...PUBLISHED.sendTypes, ...given.sendTypes },
    backupTypes: { ...PUBLISHED.backupTypes, ...given.backupTypes },
  } as Dialect
}
