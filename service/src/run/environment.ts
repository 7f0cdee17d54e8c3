import { readFileSync } from 'node:fs'
import { closestMatch } from 'leven'
import * as z from 'zod'
import { processSchema } from '../accounts/limits.js'
import { baseOf, ConfigurationError, listFaults, parseWritten } from '../process/configuration-error.js'
import { isProduction, productionFaults } from '../process/production.js'
import { developmentSecret } from '../store/secrets/keys.js'
import type { LogEvent } from '../telemetry/log/logger.js'
import { tryTo } from '../try-to.js'
import { optionsSchema, readOptions, type ServiceOptions } from './options.js'

// Take the place of missing values while the other options are validated.
const PLACEHOLDER_SECRET = 'stands for a secret that is missing'
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
  /** SERVICE_CONSOLE_HOST and SERVICE_CONSOLE_PORT: where the console listens. Defaults to the address of the API, which is `undefined`. */
  readonly consoleAddress: { readonly host: string | undefined; readonly port: number } | undefined
  /** SERVICE_LOG_LEVEL: the least urgent events that the log contains. Defaults to `info`. */
  readonly logLevel: LogEvent['level']
  /** SERVICE_DRAIN_DURATION: how long `/readyz` fails before the service stops accepting requests. Defaults to 5 s in production, else 0. */
  readonly drainMs: number
  /** The warnings for the operator, one sentence per entry. */
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
  const faults: string[] = [...productionFaults(env), ...unknownVariableFaults(env)]
  const own = readProcess(env, production, faults)
  if (production) faults.push(...listMissing(env))
  const options: ServiceOptions = {
    ...readVariables(env, own?.console ?? false, faults),
    dataDir,
    secret: env.SERVICE_SECRET || PLACEHOLDER_SECRET,
    delivery: env.SERVICE_DELIVERY || (production ? PLACEHOLDER_DELIVERY : 'inbox'),
    // Anyone who reaches the port reaches the metrics.
    ...(!isLoopback(own?.host) && { metricsWithoutKey: false }),
  }
  faults.push(...optionFaults(options))
  if (!own || faults.length > 0) throw new ConfigurationError([...new Set(faults)])
  const { host, port, consolePort, consoleHost = host, logLevel, drainDuration: drainMs } = own
  return {
    options: { ...options, ...readSecrets(env, dataDir) },
    host,
    port,
    consoleAddress: consolePort === undefined ? undefined : { host: consoleHost, port: consolePort },
    logLevel,
    drainMs,
    warnings: env.SERVICE_SECRET
      ? []
      : [`SERVICE_SECRET is not set: using the one in ${dataDir}/secret, which is for development only.`],
  }
}

function listMissing(env: Environment): string[] {
  return listFaults(
    !env.SERVICE_SECRET &&
      'SERVICE_SECRET is missing: set it to 32 random bytes, for example from `openssl rand -base64 32`.',
    !env.SERVICE_DELIVERY &&
      'SERVICE_DELIVERY is missing: set it to the address of a carrier, for example smtp://…?from=… or https://….',
  )
}

/** The options of the process alone; `undefined` when some are wrong. */
function readProcess(env: Environment, production: boolean, faults: string[]) {
  const own = {
    ...env,
    SERVICE_HOST: env.SERVICE_HOST || (production ? undefined : '127.0.0.1'),
    SERVICE_PORT: env.SERVICE_PORT || env.PORT,
    SERVICE_DRAIN_DURATION: env.SERVICE_DRAIN_DURATION || (production ? '5s' : '0s'),
  }
  const given = PROCESS_VARIABLES.flatMap((variable) => {
    const text = own[variable.name as keyof typeof own]
    return text ? [[variable.option, parseWritten(variable.rule, text)]] : []
  })
  const parsed = processSchema.safeParse(Object.fromEntries(given))
  const described = (parsed.error?.issues ?? []).map(({ message }) => describeVariable(`${message}.`))
  faults.push(
    ...described.map((fault) => (env.SERVICE_PORT ? fault : fault.replace(/^SERVICE_PORT/, 'PORT'))),
  )
  if (env.SERVICE_CONSOLE_HOST && !env.SERVICE_CONSOLE_PORT) {
    faults.push('SERVICE_CONSOLE_HOST needs SERVICE_CONSOLE_PORT.')
  }
  return parsed.data
}

/** The options that variables set. Their values are checked with all other options. */
function readVariables(env: Environment, hasConsole: boolean, faults: string[]): Partial<ServiceOptions> {
  const options: Record<string, unknown> = {}
  const groups: Record<string, Record<string, unknown>> = hasConsole
    ? { console: { trustedProxies: [] } }
    : {}
  for (const variable of OPTION_VARIABLES) {
    const text = env[variable.name]
    const [name = '', member] = variable.option.split('.')
    if (!text || (name === 'console' && !hasConsole)) continue
    if (member === undefined) options[name] = readValue(variable, text)
    else groups[name] = { ...groups[name], [member]: readValue(variable, text) }
  }
  const { relyingParty, ...others } = groups
  if (!relyingParty || relyingParty.id !== undefined) return { ...options, ...groups }
  faults.push(
    'SERVICE_RELYING_PARTY_ID is missing: set it to the domain that keys belong to, such as example.com.',
  )
  return { ...options, ...others }
}

function readValue({ option, rule }: Variable, text: string): unknown {
  // Anything but JSON is refused like every other wrong value.
  if (option === 'keyPolicy.metadata') return tryTo(() => JSON.parse(readFileSync(text, 'utf8'))) ?? null
  if (option === 'previousSecrets') return parsePreviousSecrets(text)
  if (option === 'notices' && text === 'none') return []
  const value = parseWritten(rule, text)
  return Array.isArray(value) ? value.filter((part) => part !== '') : value
}

/** The faults of the options, with the names of their variables. */
function optionFaults(options: ServiceOptions): readonly string[] {
  try {
    readOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.faults.map((fault) =>
      describeVariable(fault).replace(/^(SERVICE_NOTICES must be) a/, '$1 "none" or a'),
    )
  }
}

/** The current secret, by default the one in the data folder, and the former ones. */
export function readSecrets(
  env: Environment,
  dataDir: string,
): { readonly secret: string; readonly previousSecrets: string[] } {
  return {
    secret: env.SERVICE_SECRET || developmentSecret(dataDir),
    previousSecrets: parsePreviousSecrets(env.SERVICE_PREVIOUS_SECRETS ?? ''),
  }
}

function parsePreviousSecrets(text: string): string[] {
  // A secret may contain a comma, which the list percent-encodes.
  const previous = text.split(',').map((secret) => secret.trim().replaceAll('%2C', ','))
  return previous.filter((secret) => secret !== '')
}

/** Whether a service that listens on this host can only be reached from this machine. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** An environment variable of the service. */
export interface Variable {
  readonly name: string
  /** The option that it sets, such as `limits.codeLifetime`. */
  readonly option: string
  readonly rule: z.core.$ZodType
  /** The default in words, where it differs from the option's. */
  readonly usual?: string
  /** How its text is written, where the kind of value does not say so. */
  readonly form?: string
}

const PREFIX = 'SERVICE_'

/** Where a variable follows no rule: its name, which other programs also use, its default, or its form. */
const EXCEPTIONS: Readonly<Record<string, Partial<Pick<Variable, 'name' | 'usual' | 'form'>>>> = {
  databaseUrl: { name: 'DATABASE_URL' },
  dataDir: { name: 'DATA_DIR', usual: '`.data`' },
  secret: { usual: 'outside production, generated once and kept in `DATA_DIR/secret`' },
  apiKey: { usual: 'outside production, generated and printed at each start' },
  delivery: { usual: '`inbox` outside production' },
  inboxKey: { usual: 'generated once and kept in `DATA_DIR/inbox-key`' },
  previousSecrets: { form: 'Write a comma in a secret as `%2C`.' },
  notices: { form: '`none` is an empty list.' },
  'keyPolicy.metadata': { form: 'The variable has the path of a JSON file.' },
}

/** A function, and what follows from `SERVICE_HOST`. */
const WITHOUT_VARIABLE = ['logger', 'metricsWithoutKey']

/** `console.fourEyes` as `SERVICE_CONSOLE_FOUR_EYES`; limits lack their group: `SERVICE_CODE_LIFETIME`. */
function nameOf(option: string): string {
  const words = option.replace(/^limits\./, '').replace(/[A-Z]/g, '_$&')
  return PREFIX + words.replace('.', '_').toUpperCase()
}

function listVariables(shape: z.core.$ZodShape, owner = ''): Variable[] {
  return Object.entries(shape).flatMap(([name, rule]) => {
    const option = `${owner}${name}`
    const base = baseOf(rule)
    if (base instanceof z.ZodObject) return listVariables(base.shape, `${option}.`)
    return WITHOUT_VARIABLE.includes(option)
      ? []
      : [{ name: nameOf(option), option, rule, ...EXCEPTIONS[option] }]
  })
}

/** The variables of what only a process has. */
export const PROCESS_VARIABLES: readonly Variable[] = listVariables(processSchema.shape)

/** The variables of the options of `createService`. */
export const OPTION_VARIABLES: readonly Variable[] = listVariables(optionsSchema.shape)

/** The name of every variable. */
export const VARIABLE_NAMES: readonly string[] = [...PROCESS_VARIABLES, ...OPTION_VARIABLES].map(
  ({ name }) => name,
)

/** The sentence about an option, with the name of its variable. */
function describeVariable(fault: string): string {
  const all = [...PROCESS_VARIABLES, ...OPTION_VARIABLES]
  return fault.replace(
    /^[\w.]+/,
    (option) =>
      all.find((variable) => variable.option === option || variable.option === `limits.${option}`)?.name ??
      option,
  )
}

/** A fault for each variable that begins with `SERVICE_` and is not known, with the known name that it resembles. */
function unknownVariableFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !VARIABLE_NAMES.includes(name))
  return unknown.sort().map((name) => {
    // More changes would make a short name resemble everything.
    const maxDistance = Math.floor((name.length - PREFIX.length) / 3)
    const similar = closestMatch(name, VARIABLE_NAMES, { maxDistance })
    return `${name} is not a variable of the service${similar ? `: did you mean ${similar}?` : '.'}`
  })
}
