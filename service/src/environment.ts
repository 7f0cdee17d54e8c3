import { NOTICES, type Notice } from './application.js'
import { FaultsError } from './configuration-error.js'
import { limitsSchema } from './limits.js'
import { readOptions, type ServiceOptions } from './options.js'
import { developmentSecret } from './secrets/development-secret.js'

/** Which variable sets which limit. */
const LIMIT_VARIABLES = {
  codeDigits: 'SERVICE_CODE_DIGITS',
  codeLifeSeconds: 'SERVICE_CODE_LIFE_SECONDS',
  emailCodeLifeSeconds: 'SERVICE_EMAIL_CODE_LIFE_SECONDS',
  maxTries: 'SERVICE_MAX_TRIES',
  lockAfter: 'SERVICE_LOCK_AFTER',
  lockSeconds: 'SERVICE_LOCK_SECONDS',
  disableAfter: 'SERVICE_DISABLE_AFTER',
  resendSeconds: 'SERVICE_RESEND_SECONDS',
  sendsPer10Minutes: 'SERVICE_SENDS_PER_10_MIN',
  sendsPerDay: 'SERVICE_SENDS_PER_DAY',
  sendsPerDestinationHour: 'SERVICE_SENDS_PER_DESTINATION_HOUR',
  sendsPerClientHour: 'SERVICE_SENDS_PER_CLIENT_HOUR',
  sendsPerApplicationDay: 'SERVICE_SENDS_PER_APPLICATION_DAY',
  appStepsAhead: 'SERVICE_APP_STEPS_AHEAD',
  backupCodes: 'SERVICE_BACKUP_CODES',
  backupCodeLength: 'SERVICE_BACKUP_CODE_LENGTH',
} as const satisfies Record<keyof NonNullable<ServiceOptions['limits']>, string>

/** Which variable is given to which option as it is. */
const TEXT_VARIABLES = {
  databaseUrl: 'DATABASE_URL',
  apiKey: 'SERVICE_API_KEY',
  applicationName: 'SERVICE_APPLICATION_NAME',
  origin: 'SERVICE_ORIGIN',
  locale: 'SERVICE_LOCALE',
  webhookSecret: 'SERVICE_WEBHOOK_SECRET',
  publicUrl: 'SERVICE_PUBLIC_URL',
  metricsKey: 'SERVICE_METRICS_KEY',
  transcriber: 'SERVICE_TRANSCRIBER',
  transcriberKey: 'SERVICE_TRANSCRIBER_KEY',
} as const satisfies Partial<Record<keyof ServiceOptions, string>>

/** What an option is called by whoever sets variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...TEXT_VARIABLES,
  dataDir: 'DATA_DIR',
  secret: 'SERVICE_SECRET',
  previousSecrets: 'SERVICE_SECRET_PREVIOUS',
  delivery: 'SERVICE_DELIVERY',
  transcribeHosts: 'SERVICE_TRANSCRIBE_HOSTS',
}

// Stands for what is missing while the rest is looked at.
const ANY_SECRET = 'x'.repeat(32)
const ANY_DELIVERY = 'https://delivery.invalid'

type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says about a service. */
export interface ServiceEnvironment {
  /** For `createService`. */
  readonly options: ServiceOptions
  /** SERVICE_PORT. Defaults to 4000. */
  readonly port: number
  /** SERVICE_DRAIN_SECONDS: how long `/readyz` says no before the service stops taking requests. */
  readonly drainSeconds: number
  /** What the person who started the process should know, one sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Reads the variables of the service. Outside production a missing SERVICE_SECRET is made once and kept in the data
 * folder, and messages go to the development inbox. Throws a `FaultsError` with everything that is missing or wrong.
 */
export function readEnvironment(
  env: Environment,
  defaults: { readonly dataDir: string },
): ServiceEnvironment {
  const production = env.NODE_ENV === 'production'
  const dataDir = env.DATA_DIR || defaults.dataDir
  const faults: string[] = []
  const warnings: string[] = []
  const port = readPort(env.SERVICE_PORT || '4000', faults)
  const drainSeconds = readDrain(env.SERVICE_DRAIN_SECONDS || (production ? '5' : '0'), faults)
  const limits = readLimits(env, faults)
  const notices = readNotices(env.SERVICE_NOTICES, faults)
  const allowTestKeysInProduction = readSwitch(env, 'SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION', faults)
  if (production && !env.SERVICE_SECRET) {
    faults.push(
      'SERVICE_SECRET is missing: set it to 32 random bytes, for example from `openssl rand -base64 32`.',
    )
  }
  if (production && !env.SERVICE_DELIVERY) {
    faults.push(
      'SERVICE_DELIVERY is missing: say how messages leave, for example smtp://…?from=… or https://….',
    )
  }
  const given = Object.entries(TEXT_VARIABLES).map(([option, variable]) => [option, env[variable]])
  const options: ServiceOptions = {
    ...withoutEmpty(Object.fromEntries(given)),
    dataDir,
    secret: env.SERVICE_SECRET || ANY_SECRET,
    previousSecrets: readPrevious(env),
    delivery: env.SERVICE_DELIVERY || (production ? ANY_DELIVERY : 'inbox'),
    transcribeHosts: (env.SERVICE_TRANSCRIBE_HOSTS ?? '')
      .split(',')
      .map((host) => host.trim())
      .filter(Boolean),
    limits,
    ...(notices && { notices }),
    ...(allowTestKeysInProduction && { allowTestKeysInProduction }),
  }
  faults.push(...faultsOf(options))
  if (faults.length > 0) throw new FaultsError(faults)
  if (!env.SERVICE_SECRET) {
    warnings.push(
      `SERVICE_SECRET is not set: using one kept in ${dataDir}/secret, which is for development only.`,
    )
  }
  return { options: { ...options, ...readSecrets(env, dataDir) }, port, drainSeconds, warnings }
}

/** What is wrong with options, in the words of whoever set the variables. */
function faultsOf(options: ServiceOptions): readonly string[] {
  try {
    readOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof FaultsError)) throw error
    return error.faults.map((fault) => fault.replace(/^\w+/, (option) => VARIABLES[option] ?? option))
  }
}

/** The secret that is written with and those that are only read with. Without one, that of the data folder. */
export function readSecrets(
  env: Environment,
  dataDir: string,
): { readonly secret: string; readonly previousSecrets: string[] } {
  return { secret: env.SERVICE_SECRET || developmentSecret(dataDir), previousSecrets: readPrevious(env) }
}

function readPrevious(env: Environment): string[] {
  // A passphrase may hold a comma; in a list it is written as addresses write it.
  const previous = (env.SERVICE_SECRET_PREVIOUS ?? '')
    .split(',')
    .map((secret) => secret.trim().replaceAll('%2C', ','))
  return previous.filter((secret) => secret !== '')
}

function readPort(text: string, faults: string[]): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    faults.push('SERVICE_PORT must be a port number from 0 to 65535 (default 4000).')
  }
  return port
}

function readNotices(text: string | undefined, faults: string[]): Notice[] | undefined {
  if (!text) return undefined
  const given = text === 'none' ? [] : text.split(',').map((name) => name.trim())
  if (!given.every(isNotice)) {
    faults.push(`SERVICE_NOTICES must be "none", or of ${NOTICES.join(', ')} (default all).`)
  }
  return given.filter(isNotice)
}

function isNotice(name: string): name is Notice {
  return NOTICES.some((notice) => notice === name)
}

function readSwitch(env: Environment, variable: string, faults: string[]): boolean {
  const text = env[variable] || 'false'
  if (text !== 'true' && text !== 'false') faults.push(`${variable} must be true or false (default false).`)
  return text === 'true'
}

function readDrain(text: string, faults: string[]): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) > 60) {
    faults.push(
      'SERVICE_DRAIN_SECONDS must be a whole number of seconds from 0 to 60 (default 5 in production).',
    )
  }
  return Number(text)
}

function readLimits(env: Environment, faults: string[]): NonNullable<ServiceOptions['limits']> {
  const read = Object.entries(LIMIT_VARIABLES).flatMap(([name, variable]) => {
    const text = env[variable]
    if (!text) return []
    const rule = limitsSchema.shape[name as keyof typeof LIMIT_VARIABLES]
    const number = rule.safeParse(/^\d{1,9}$/.test(text) ? Number(text) : text)
    if (!number.success) faults.push(`${number.error.issues[0]?.message.replace(name, variable)}.`)
    return [[name, number.data]]
  })
  return Object.fromEntries(read)
}

function withoutEmpty<T extends Readonly<Record<string, string | undefined>>>(
  values: T,
): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [Name in keyof T]?: string
  }
}
