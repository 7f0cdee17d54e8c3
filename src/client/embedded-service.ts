import { createRequire } from 'node:module'
import { ServiceError } from '../errors.js'
import type { Settings } from '../options/settings.js'
import { DEFAULT_USERS } from '../products.js'
import { KEY_VERBS } from '../protocol/key-verbs.js'
import type { DevelopmentInbox, KeyVerbs, MfaService } from '../protocol/service.js'
import { VERBS } from '../protocol/verbs.js'
import { COUNTERSIGN_CODES } from '../protocol/wire.js'
import { isPostgres, namedDatabase } from './named-database.js'

/*
 * The service of an app that names none: the installed @countersign/service, in this process. It is loaded when the app starts, and only
 * then, so that an app with another service does not pay for it.
 */

// A variable, because the compiler would look for declarations of a package that depends on this one.
const PACKAGE: string = '@countersign/service'

/** The data of the service in development. */
const DATA_DIR = '.data'

/** After a failed start, in milliseconds until a call tries again. */
const RETRY_MS = 5_000

type Environment = Readonly<Record<string, string | undefined>>

/** The exports used of the package. */
interface ServicePackage {
  readEnvironment(env: Environment, defaults: { readonly dataDir: string }): { readonly options: object }
  createService(options: object): Promise<RunningService>
  isServiceDatabase(databaseUrl: string): Promise<boolean>
}

interface RunningService extends RunningApplication {
  openApplication(name: string, described: object): Promise<RunningApplication>
}

/** The service as one of its applications sees it. */
interface RunningApplication {
  /** It has an inbox in development, unless messages go elsewhere. */
  readonly mfa: MfaService & { readonly keys: KeyVerbs; readonly inbox: DevelopmentInbox }
}

/** The service in this process. Its verbs wait for the start, and fail while it has failed. */
export interface EmbeddedService {
  readonly service: MfaService
  /** Starts it, under the name of the app. */
  start(settings: AppSettings): void
}

type AppSettings = Pick<Settings, 'appName' | 'logger' | 'urls' | 'users'>

/** Finds the application of a table of users, and starts the service first. */
type FindApplication = (settings: AppSettings | undefined) => Promise<RunningApplication>

let findApplication: FindApplication | undefined

/** The service of this process for one options object, or why it has none: one sentence for each thing that is missing. */
export function embeddedService(
  env: Environment = process.env,
): EmbeddedService | { readonly faults: readonly string[] } {
  const faults = listMissing(env)
  if (faults.length > 0) return { faults }
  // One for all options objects, because its data folder can be open only once.
  findApplication ??= readApplications(env)
  return embed(findApplication, env.NODE_ENV !== 'production' && !env.SERVICE_DELIVERY)
}

function listMissing(env: Environment): string[] {
  if (!isInstalled()) {
    return [
      `service is missing: install ${PACKAGE}, which then runs in this process, or give the address of a service, { baseUrl, apiKey }`,
    ]
  }
  if (env.NODE_ENV !== 'production') return []
  const remedies = {
    MFA_DATABASE_URL: 'set it to a PostgreSQL database, or DATA_DIR to a folder that is kept',
    SERVICE_SECRET: 'set it to 32 random bytes, for example from `openssl rand -base64 32`',
    SERVICE_DELIVERY: 'set it to how messages are sent, such as smtp://mail.example.com?from=mfa@example.com',
  }
  const ofApp = isPostgres(env.DATABASE_URL) ? env.DATABASE_URL : undefined
  const given: Environment = { ...env, MFA_DATABASE_URL: env.MFA_DATABASE_URL || env.DATA_DIR || ofApp }
  return Object.entries(remedies).flatMap(([name, remedy]) =>
    given[name] ? [] : [`service is missing, and ${name} for the service in this process: ${remedy}`],
  )
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

function readApplications(env: Environment): FindApplication {
  let running: Promise<RunningService> | undefined
  const opened = new Map<string, Promise<RunningApplication>>()

  const run = (settings: AppSettings | undefined): Promise<RunningService> => {
    running ??= load(env, settings).catch((cause: unknown) => {
      setTimeout(() => {
        running = undefined
      }, RETRY_MS).unref()
      settings?.logger.error(`countersign: ${FAILED}`, cause)
      throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', FAILED, { cause })
    })
    return running
  }
  const open = async (settings: AppSettings) =>
    (await run(settings)).openApplication(settings.users, readNames(settings))

  return (settings) => {
    // The application that the options of the service describe belongs to the default table.
    if (!settings || settings.users === DEFAULT_USERS) return run(settings)
    const { users } = settings
    const application = opened.get(users) ?? open(settings)
    opened.set(users, application)
    application.catch(() => opened.delete(users))
    return application
  }
}

function embed(find: FindApplication, isInbox: boolean): EmbeddedService {
  let under: AppSettings | undefined
  const run = () => find(under)
  const later = <Verbs>(verbs: object, of: (service: RunningApplication) => object) =>
    Object.fromEntries(
      Object.keys(verbs).map((name) => [
        name,
        async (request: unknown): Promise<unknown> => {
          const host = of(await run())
          return Reflect.apply(Reflect.get(host, name), host, [request])
        },
      ]),
    ) as Verbs

  const inbox: DevelopmentInbox = {
    messages: async () => (await run()).mfa.inbox.messages(),
    key: async () => (await run()).mfa.inbox.key(),
  }

  return {
    service: {
      ...later<MfaService>(VERBS, ({ mfa }) => mfa),
      keys: later<KeyVerbs>(KEY_VERBS, ({ mfa }) => mfa.keys),
      codes: COUNTERSIGN_CODES,
      started: run,
      ...(isInbox && { inbox }),
    },
    start(settings) {
      under = settings
      run().catch(() => {})
    },
  }
}

/** An origin, whose host the service accepts. */
const HOST = /^https?:\/\/([a-z\d.-]{0,99}[a-z\d])(?::\d+)?$/

const FAILED =
  'The MFA service in this process did not start, so nobody can sign in with a second factor. The cause says why; the next call after five seconds tries again.'

async function load(env: Environment, settings: AppSettings | undefined): Promise<RunningService> {
  const { createService, readEnvironment, isServiceDatabase }: ServicePackage = await import(PACKAGE)
  const warn = (message: string) => settings?.logger.warn(message)
  const dataDir = env.DATA_DIR || DATA_DIR
  const DATABASE_URL = await namedDatabase({ env, dataDir, isServiceDatabase, warn })
  // PORT belongs to the app.
  const { options } = readEnvironment({ ...env, DATABASE_URL, PORT: undefined }, { dataDir })
  return createService({ ...readDefaults(env, settings), ...options })
}

/** How messages name an app. The line for programs has no port, and cannot name an IPv6 address. */
function readNames(settings: AppSettings | undefined): object {
  const [, origin] = HOST.exec(settings?.urls.publicUrl ?? '') ?? []
  return { applicationName: settings?.appName.slice(0, 40), origin }
}

/** The settings that the variables of the service may replace. Keys work on the usual address in development, and programs fill in codes at `publicUrl`. */
function readDefaults(env: Environment, settings: AppSettings | undefined): object {
  const named = readNames(settings)
  if (env.NODE_ENV === 'production') return named
  const address = `http://localhost:${Number(env.PORT) || 3000}`
  const origins = URL.canParse(address) ? [new URL(address).origin] : []
  return { ...named, relyingParty: { id: 'localhost', origins } }
}
