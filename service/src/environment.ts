import { NOTICES, type Notice } from './application.js'
import { ConfigurationError } from './configuration-error.js'
import { KEY_VARIABLES, readKeyVariables } from './key-variables.js'
import { unknownVariableFaults } from './known-variables.js'
import { isDurationLimit, LIMIT_NAMES, LIMIT_RANGES, type LimitName, limitRange } from './limits.js'
import { LOG_LEVELS, type LogEvent } from './log/logger.js'
import { readOptions, type ServiceOptions } from './options.js'
import { PROCESS_LIMITS, readProcessLimits } from './process-limits.js'
import { isProduction, productionFaults } from './production.js'
import { developmentSecret } from './secrets/development-secret.js'

/** The variable of each limit. Those of durations are in seconds. */
const LIMIT_VARIABLES: Readonly<Record<LimitName, string>> = {
  codeDigits: 'SERVICE_CODE_DIGITS',
  codeLifetime: 'SERVICE_CODE_LIFE_SECONDS',
  emailCodeLifetime: 'SERVICE_EMAIL_CODE_LIFE_SECONDS',
  attemptsPerChallenge: 'SERVICE_MAX_TRIES',
  failuresBeforeLock: 'SERVICE_LOCK_AFTER',
  lockDuration: 'SERVICE_LOCK_SECONDS',
  failuresBeforeDisable: 'SERVICE_DISABLE_AFTER',
  resendDelay: 'SERVICE_RESEND_SECONDS',
  sendsPerTenMinutes: 'SERVICE_SENDS_PER_10_MIN',
  sendsPerDay: 'SERVICE_SENDS_PER_DAY',
  sendsPerDestinationHour: 'SERVICE_SENDS_PER_DESTINATION_HOUR',
  sendsPerClientHour: 'SERVICE_SENDS_PER_CLIENT_HOUR',
  sendsPerApplicationDay: 'SERVICE_SENDS_PER_APPLICATION_DAY',
  sendsPerCountryHour: 'SERVICE_SENDS_PER_COUNTRY_HOUR',
  sendsPerPrefixHour: 'SERVICE_SENDS_PER_PREFIX_HOUR',
  minConversionPercent: 'SERVICE_MIN_CONVERSION_PERCENT',
  untypedPerCountry: 'SERVICE_UNTYPED_PER_COUNTRY',
  untypedPerPrefix: 'SERVICE_UNTYPED_PER_PREFIX',
  enrollmentLifetime: 'SERVICE_ENROLLMENT_LIFE_SECONDS',
  appStepsAhead: 'SERVICE_APP_STEPS_AHEAD',
  backupCodes: 'SERVICE_BACKUP_CODES',
  backupCodeLength: 'SERVICE_BACKUP_CODE_LENGTH',
  keysPerAccount: 'SERVICE_KEYS_PER_ACCOUNT',
}

/** The options whose value is the text of a variable. */
const TEXT_VARIABLES = {
  databaseUrl: 'DATABASE_URL',
  databaseReadUrl: 'DATABASE_READ_URL',
  apiKey: 'SERVICE_API_KEY',
  applicationName: 'SERVICE_APPLICATION_NAME',
  origin: 'SERVICE_ORIGIN',
  locale: 'SERVICE_LOCALE',
  homeCountry: 'SERVICE_HOME_COUNTRY',
  webhookSecret: 'SERVICE_WEBHOOK_SECRET',
  publicUrl: 'SERVICE_PUBLIC_URL',
  metricsKey: 'SERVICE_METRICS_KEY',
  sesTopic: 'SERVICE_SES_TOPIC',
  sendgridVerificationKey: 'SERVICE_SENDGRID_VERIFICATION_KEY',
  transcriber: 'SERVICE_TRANSCRIBER',
  transcriberKey: 'SERVICE_TRANSCRIBER_KEY',
  liveTranscriber: 'SERVICE_LIVE_TRANSCRIBER',
  liveTranscriberKey: 'SERVICE_LIVE_TRANSCRIBER_KEY',
} as const satisfies Partial<Record<keyof ServiceOptions, string>>

/** The variable of each option, for messages. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...TEXT_VARIABLES,
  dataDir: 'DATA_DIR',
  secret: 'SERVICE_SECRET',
  previousSecrets: 'SERVICE_SECRET_PREVIOUS',
  delivery: 'SERVICE_DELIVERY',
  transcribeHosts: 'SERVICE_TRANSCRIBE_HOSTS',
  'console.url': 'SERVICE_CONSOLE_URL',
  'console.trustedProxies': 'SERVICE_CONSOLE_TRUSTED_PROXIES',
}

/** The variables that this file reads itself. */
const OTHER_VARIABLES = [
  'SERVICE_HOST',
  'SERVICE_PORT',
  'SERVICE_LOG_LEVEL',
  'SERVICE_DRAIN_SECONDS',
  'SERVICE_NOTICES',
  'SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION',
  'SERVICE_CONSOLE',
  'SERVICE_CONSOLE_FOUR_EYES',
  'SERVICE_CONSOLE_HOST',
  'SERVICE_CONSOLE_PORT',
  'SERVICE_CONSOLE_TRUSTED_PROXIES',
  'SERVICE_CONSOLE_URL',
]

const KNOWN_VARIABLES: readonly string[] = [
  ...Object.values(LIMIT_VARIABLES),
  ...Object.values(PROCESS_LIMITS).map(({ variable }) => variable),
  ...Object.values(VARIABLES),
  ...Object.values(KEY_VARIABLES),
  ...OTHER_VARIABLES,
]

// Take the place of missing values while the other options are validated.
const PLACEHOLDER_SECRET = 'x'.repeat(32)
const PLACEHOLDER_DELIVERY = 'https://delivery.invalid'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration of a service in environment variables. */
export interface ServiceEnvironment {
  /** The options for `createService`. */
  readonly options: ServiceOptions
  /** SERVICE_HOST, the address to listen on. Defaults to 127.0.0.1, in production to every address, which is `undefined`. */
  readonly host: string | undefined
  /** SERVICE_PORT, else PORT. Defaults to 4000. */
  readonly port: number
  /**
   * SERVICE_CONSOLE_HOST and SERVICE_CONSOLE_PORT: where the console listens. Defaults to the address of the API, which is
   * `undefined`.
   */
  readonly consoleAddress: { readonly host: string | undefined; readonly port: number } | undefined
  /** SERVICE_LOG_LEVEL: the least urgent events that the log contains. Defaults to `info`. */
  readonly logLevel: LogEvent['level']
  /**
   * SERVICE_DRAIN_SECONDS in milliseconds: how long `/readyz` reports that the service is not ready before it stops
   * accepting requests. Defaults to 5 s in production, else 0.
   */
  readonly drainMs: number
  /** What the operator should know, one sentence per entry. */
  readonly warnings: readonly string[]
}

/**
 * Reads the environment variables of the service. Outside production, a missing SERVICE_SECRET is created once and kept
 * in the data folder, and messages go to the development inbox. Throws a `ConfigurationError` that lists everything that
 * is missing or wrong.
 */
export function readEnvironment(
  env: Environment,
  defaults: { readonly dataDir: string },
): ServiceEnvironment {
  const production = isProduction(env)
  const dataDir = env.DATA_DIR || defaults.dataDir
  const faults: string[] = [...productionFaults(env), ...unknownVariableFaults(env, KNOWN_VARIABLES)]
  const warnings: string[] = []
  const host = readHost(env.SERVICE_HOST || (production ? undefined : '127.0.0.1'), faults)
  const portVariable = env.SERVICE_PORT || !env.PORT ? 'SERVICE_PORT' : 'PORT'
  const port = readPort(portVariable, env[portVariable] || '4000', faults)
  const consoleAddress = readConsoleAddress(env, host, faults)
  const consoleOptions = readConsole(env, faults)
  const logLevel = readLogLevel(env.SERVICE_LOG_LEVEL || 'info', faults)
  const drainMs = readDrain(env.SERVICE_DRAIN_SECONDS || (production ? '5' : '0'), faults) * 1000
  const limits = readLimits(env, faults)
  const processLimits = readProcessLimits(env, faults)
  const notices = readNotices(env.SERVICE_NOTICES, faults)
  const allowTestKeysInProduction = readSwitch(env, 'SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION', faults)
  if (production && !env.SERVICE_SECRET) {
    faults.push(
      'SERVICE_SECRET is missing: set it to 32 random bytes, for example from `openssl rand -base64 32`.',
    )
  }
  if (production && !env.SERVICE_DELIVERY) {
    faults.push(
      'SERVICE_DELIVERY is missing: set it to the address of a carrier, for example smtp://…?from=… or https://….',
    )
  }
  const texts = Object.entries(TEXT_VARIABLES).map(([option, variable]) => [option, env[variable]])
  const options: ServiceOptions = {
    ...withoutEmpty(Object.fromEntries(texts)),
    dataDir,
    secret: env.SERVICE_SECRET || PLACEHOLDER_SECRET,
    previousSecrets: readPreviousSecrets(env),
    delivery: env.SERVICE_DELIVERY || (production ? PLACEHOLDER_DELIVERY : 'inbox'),
    transcribeHosts: (env.SERVICE_TRANSCRIBE_HOSTS ?? '')
      .split(',')
      .map((host) => host.trim())
      .filter(Boolean),
    ...readKeyVariables(env, faults),
    limits,
    ...processLimits,
    ...(notices && { notices }),
    ...(allowTestKeysInProduction && { allowTestKeysInProduction }),
    ...(consoleOptions && { console: consoleOptions }),
    // Anyone who reaches the port reaches the metrics.
    ...(!isLoopback(host) && { metricsWithoutKey: false }),
  }
  faults.push(...optionFaults(options))
  if (faults.length > 0) throw new ConfigurationError([...new Set(faults)])
  if (!env.SERVICE_SECRET) {
    warnings.push(
      `SERVICE_SECRET is not set: using the one in ${dataDir}/secret, which is for development only.`,
    )
  }
  return {
    options: { ...options, ...readSecrets(env, dataDir) },
    host,
    port,
    consoleAddress,
    logLevel,
    drainMs,
    warnings,
  }
}

/** What is wrong with the options, with the names of their variables. */
function optionFaults(options: ServiceOptions): readonly string[] {
  try {
    readOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.faults.map((fault) => fault.replace(/^[\w.]+/, variableOf))
  }
}

function variableOf(option: string): string {
  return { ...VARIABLES, ...KEY_VARIABLES }[option] ?? option
}

/** The current secret, by default the one in the data folder, and the former ones. */
export function readSecrets(
  env: Environment,
  dataDir: string,
): { readonly secret: string; readonly previousSecrets: string[] } {
  return {
    secret: env.SERVICE_SECRET || developmentSecret(dataDir),
    previousSecrets: readPreviousSecrets(env),
  }
}

function readPreviousSecrets(env: Environment): string[] {
  // A secret may contain a comma, which the list percent-encodes.
  const previous = (env.SERVICE_SECRET_PREVIOUS ?? '')
    .split(',')
    .map((secret) => secret.trim().replaceAll('%2C', ','))
  return previous.filter((secret) => secret !== '')
}

function readPort(variable: string, text: string, faults: string[]): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    faults.push(`${variable} must be a port number from 0 to 65535 (default 4000).`)
  }
  return port
}

function readHost(text: string | undefined, faults: string[]): string | undefined {
  if (text !== undefined && !isHost(text)) {
    faults.push('SERVICE_HOST must be an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::.')
  }
  return text
}

function isHost(text: string): boolean {
  return /^[A-Za-z0-9.:%_-]{1,255}$/.test(text)
}

/** Whether a service that listens on this host can only be reached from this machine. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function readLogLevel(text: string, faults: string[]): LogEvent['level'] {
  const level = LOG_LEVELS.find((name) => name === text)
  if (!level) faults.push(`SERVICE_LOG_LEVEL must be ${LOG_LEVELS.join(', ')} (default info).`)
  return level ?? 'info'
}

function readNotices(text: string | undefined, faults: string[]): Notice[] | undefined {
  if (!text) return undefined
  const names = text === 'none' ? [] : text.split(',').map((name) => name.trim())
  if (!names.every(isNotice)) {
    faults.push(`SERVICE_NOTICES must be "none" or a list of ${NOTICES.join(', ')} (default: all).`)
  }
  return names.filter(isNotice)
}

function isNotice(name: string): name is Notice {
  return NOTICES.some((notice) => notice === name)
}

function readSwitch(env: Environment, variable: string, faults: string[]): boolean {
  const text = env[variable] || 'false'
  if (text !== 'true' && text !== 'false') faults.push(`${variable} must be true or false (default false).`)
  return text === 'true'
}

/** The options of the console, unless it is off. */
function readConsole(env: Environment, faults: string[]): ServiceOptions['console'] {
  const isOn = readSwitch(env, 'SERVICE_CONSOLE', faults)
  if (!isOn) return undefined
  const { SERVICE_CONSOLE_URL: url, SERVICE_CONSOLE_TRUSTED_PROXIES: proxies = '' } = env
  const trustedProxies = proxies
    .split(',')
    .map((proxy) => proxy.trim())
    .filter(Boolean)
  const fourEyes = readSwitch(env, 'SERVICE_CONSOLE_FOUR_EYES', faults)
  return { ...(url && { url }), trustedProxies, ...(fourEyes && { fourEyes }) }
}

function readConsoleAddress(env: Environment, host: string | undefined, faults: string[]) {
  const { SERVICE_CONSOLE_HOST: ownHost, SERVICE_CONSOLE_PORT: port } = env
  if (!port) {
    if (ownHost) faults.push('SERVICE_CONSOLE_HOST needs SERVICE_CONSOLE_PORT.')
    return undefined
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    faults.push('SERVICE_CONSOLE_PORT must be a port number from 0 to 65535 (default: that of the API).')
  }
  if (ownHost && !isHost(ownHost)) {
    faults.push('SERVICE_CONSOLE_HOST must be an address of this machine, such as 127.0.0.1.')
  }
  return { host: ownHost || host, port: Number(port) }
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
  const limits = LIMIT_NAMES.flatMap((name) => {
    const variable = LIMIT_VARIABLES[name]
    const text = env[variable]
    if (!text) return []
    const range = limitRange(name)
    const isDuration = isDurationLimit(name)
    const factor = isDuration ? 1000 : 1
    const value = Number(text) * factor
    if (!/^\d{1,9}$/.test(text) || value < range.min || value > range.max) {
      const unit = isDuration ? 'seconds' : LIMIT_RANGES[name].unit
      const [min, max, initial] = [range.min, range.max, range.default].map((bound) => bound / factor)
      faults.push(`${variable} must be a whole number of ${unit} from ${min} to ${max} (default ${initial}).`)
      return []
    }
    return [[name, value]]
  })
  return Object.fromEntries(limits)
}

function withoutEmpty<T extends Readonly<Record<string, string | undefined>>>(
  values: T,
): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [Name in keyof T]?: string
  }
}
