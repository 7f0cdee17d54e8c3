import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Duration, MfaOptions } from 'countersign'
import * as z from 'zod'

type Limits = NonNullable<MfaOptions['limits']>
/** A duration with a unit. */
type Unit = Exclude<Duration, number>

/** Whether the MFA service runs in another process or in this one. */
export type ServiceChoice =
  | {
      readonly kind: 'external'
      readonly baseUrl: string
      readonly apiKey: string
      readonly dialect: 'detect' | 'published' | 'countersign'
      readonly allowInsecureServiceUrl: boolean
    }
  | {
      readonly kind: 'embedded'
      /** The environment, for the service to read its own variables. */
      readonly env: Readonly<Record<string, string | undefined>>
    }

/** The configuration from the environment, with all defaults. */
export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  /** How many proxies in front of this process are trusted to forward the client address and scheme. */
  readonly trustedProxies: number
  readonly sessionSecret: string | undefined
  readonly redisUrl: string | undefined
  readonly databaseUrl: string | undefined
  /** Absolute path of the folder for data that is not in PostgreSQL. */
  readonly dataDir: string
  readonly service: ServiceChoice
  readonly limits: Limits
  readonly pendingLifetime: Duration | undefined
  /** The public address of the app, for links in account notices; without it they have no link. */
  readonly publicUrl: string | undefined
  /** How long a user who lost the authenticator app waits for the recovery of the account. */
  readonly recoveryWait: Duration
  /** How long a browser is not offered a passkey again after a sign-in with a code; absent if there is no offer. */
  readonly passkeyOffer: Duration | undefined
  /** The names of the users who may reset the accounts of others. */
  readonly staff: readonly string[]
  /** The names of the users who may sign in with a passkey or security key only. */
  readonly admins: readonly string[]
  /** The address of the identity provider for trying out, which is part of the app; absent in production. */
  readonly identityProvider: string | undefined
  /** How long a trusted device skips the second factor. */
  readonly trustMaxAge: Duration
  /** The largest age of a second factor for a new password or phone number. */
  readonly stepUpMaxAge: Duration
}

const DEFAULT_DATA_DIR = fileURLToPath(new URL('../../data', import.meta.url))

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: 'must be a whole number' })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `must be from ${min} to ${max}` })

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration with its unit, like `30s`, in this range. */
const duration = (min: Unit, max: Unit) => {
  const error = `must be a duration from ${min} to ${max}, like ${min}`
  const toMs = (text: string) => Number.parseInt(text, 10) * UNIT_MS[text.slice(-1) as keyof typeof UNIT_MS]
  return z
    .templateLiteral([z.number(), z.enum(['s', 'm', 'h', 'd'])], { error })
    .refine((text) => /^\d{1,6}[smhd]$/.test(text) && toMs(text) >= toMs(min) && toMs(text) <= toMs(max), {
      error,
    })
}

const secret = z
  .string()
  .min(32, { error: 'must have at least 32 characters, for example from `openssl rand -hex 32`' })

/** User names with commas between them. */
const names = (error: string) =>
  z
    .string()
    .regex(/^[\w-]+(,[\w-]+)*$/, { error })
    .transform((list) => list.split(','))

const environment = z
  .object({
    NODE_ENV: z
      .string()
      .refine((mode) => mode === 'production' || !/^\s*prod(uction)?\s*$/i.test(mode), {
        error:
          'must be production in lower case, because Express and other packages take every other spelling for development',
      })
      .optional(),
    HOST: z.string().default('127.0.0.1'),
    PORT: whole(0, 65_535).default(3000),
    PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must look like https://vault.example' }).optional(),
    TRUST_PROXY: whole(0, 10).default(0),
    SESSION_SECRET: secret.optional(),
    REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must look like redis://localhost:6379' }).optional(),
    DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'must look like postgres://user@localhost/vault' })
      .optional(),
    DATA_DIR: z.string().default(DEFAULT_DATA_DIR),

    MFA_BASE_URL: z.url({ protocol: /^https?$/, error: 'must look like https://mfa.example.com' }).optional(),
    MFA_API_KEY: z.string().optional(),
    MFA_DIALECT: z
      .enum(['detect', 'published', 'countersign'], {
        error: 'must be "detect", "published" or "countersign"',
      })
      .default('detect'),
    MFA_ALLOW_INSECURE_URL: z
      .enum(['true', 'false'], { error: 'must be "true" or "false"' })
      .default('false'),
    SERVICE_SECRET: secret.optional(),
    SERVICE_DELIVERY: z.string().default('inbox'),

    MFA_ATTEMPTS_PER_CHALLENGE: whole(3, 10).optional(),
    MFA_FAILURES_BEFORE_LOCK: whole(5, 10).optional(),
    MFA_FAILURES_BEFORE_DISABLE: whole(20, 100).optional(),
    MFA_LOCK_DURATION: duration('15m', '24h').optional(),
    MFA_SENDS_PER_TEN_MINUTES: whole(1, 5).optional(),
    MFA_SENDS_PER_DAY: whole(1, 10).optional(),
    MFA_RESEND_WAITS: z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(duration('20s', '1h')))
      .optional(),
    MFA_CODE_LIFETIME: duration('1m', '10m').optional(),
    MFA_PENDING_LIFETIME: duration('2m', '15m').optional(),
    MFA_TRUST_MAX_AGE: duration('1h', '30d').default('30d'),
    MFA_RECOVERY_WAIT: duration('1h', '7d').default('24h'),
    MFA_PASSKEY_OFFER: duration('1d', '365d').optional(),
    VAULT_STAFF: names('must be user names with commas, like alice,bob').optional(),
    VAULT_ADMINS: names('must be user names with commas, like kim').optional(),
    STEP_UP_MAX_AGE: duration('30s', '1d').default('5m'),
  })
  .superRefine((env, context) => {
    const fault = (name: keyof typeof env, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (env.MFA_BASE_URL && !env.MFA_API_KEY) fault('MFA_API_KEY', 'must be set together with MFA_BASE_URL')
    if (env.MFA_API_KEY && !env.MFA_BASE_URL) fault('MFA_BASE_URL', 'must be set together with MFA_API_KEY')
    if (env.NODE_ENV !== 'production') return
    if (!env.SESSION_SECRET) fault('SESSION_SECRET', 'must be set in production')
    if (env.MFA_BASE_URL) return
    if (!env.SERVICE_SECRET) fault('SERVICE_SECRET', 'must be set in production, unless MFA_BASE_URL is set')
    if (/\binbox\b/.test(env.SERVICE_DELIVERY)) {
      fault(
        'SERVICE_DELIVERY',
        'must name a carrier in production, like smtp://mail.example.com; the development inbox would show every code to everyone',
      )
    }
  })

/** The environment is invalid; `message` lists all faults. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`Vault cannot start with this environment:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/**
 * Reads the environment. An empty variable counts as not set.
 * @throws {ConfigError} with all faults.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`))
  }
  const vars = parsed.data
  const production = vars.NODE_ENV === 'production'
  const publicUrl = vars.PUBLIC_URL ?? localUrl(vars)
  return {
    production,
    host: vars.HOST,
    port: vars.PORT,
    trustedProxies: vars.TRUST_PROXY,
    sessionSecret: vars.SESSION_SECRET,
    redisUrl: vars.REDIS_URL,
    databaseUrl: vars.DATABASE_URL,
    // npm runs the scripts of a workspace in the workspace's folder; INIT_CWD is the folder where npm was started.
    dataDir: resolve(env.INIT_CWD ?? '.', vars.DATA_DIR),
    service:
      vars.MFA_BASE_URL && vars.MFA_API_KEY
        ? {
            kind: 'external',
            baseUrl: vars.MFA_BASE_URL,
            apiKey: vars.MFA_API_KEY,
            dialect: vars.MFA_DIALECT,
            allowInsecureServiceUrl: vars.MFA_ALLOW_INSECURE_URL === 'true',
          }
        : { kind: 'embedded', env },
    limits: {
      attemptsPerChallenge: vars.MFA_ATTEMPTS_PER_CHALLENGE,
      failuresBeforeLock: vars.MFA_FAILURES_BEFORE_LOCK,
      failuresBeforeDisable: vars.MFA_FAILURES_BEFORE_DISABLE,
      lockDuration: vars.MFA_LOCK_DURATION,
      sendsPerTenMinutes: vars.MFA_SENDS_PER_TEN_MINUTES,
      sendsPerDay: vars.MFA_SENDS_PER_DAY,
      resendWaits: vars.MFA_RESEND_WAITS,
      codeLifetime: vars.MFA_CODE_LIFETIME,
    },
    publicUrl,
    pendingLifetime: vars.MFA_PENDING_LIFETIME,
    trustMaxAge: vars.MFA_TRUST_MAX_AGE,
    recoveryWait: vars.MFA_RECOVERY_WAIT,
    passkeyOffer: vars.MFA_PASSKEY_OFFER,
    staff: vars.VAULT_STAFF ?? (production ? [] : ['alice', 'otto']),
    admins: vars.VAULT_ADMINS ?? (production ? [] : ['kim']),
    identityProvider: production || publicUrl === undefined ? undefined : `${publicUrl}/id`,
    stepUpMaxAge: vars.STEP_UP_MAX_AGE,
  }
}

/** The address of the app in development; in production it must be configured. */
function localUrl({ NODE_ENV, PORT }: { NODE_ENV?: string | undefined; PORT: number }): string | undefined {
  return NODE_ENV === 'production' || PORT === 0 ? undefined : `http://localhost:${PORT}`
}
