import type { Server } from 'node:http'
import { join } from 'node:path'
import type { CountersignService } from '@countersign/service'
import { RedisStore } from 'connect-redis'
import { createMfa, mfaClient } from 'countersign'
import { createSpeechClient } from 'countersign/speech'
import { createClient } from 'redis'
import type { Config } from './config.js'
import type { Inbox, VaultContext } from './context.js'
import { embeddedService } from './embedded-service.js'
import { companyClient } from './identity-provider.js'
import { mfaOptions } from './mfa.js'
import type { SeedContext } from './seed.js'
import { seedAppCodes } from './seed-apps.js'
import { SEED_USERS } from './seed-users.js'
import { appSecretsIn } from './store/app-secrets.js'
import { type Database, pgliteDatabase, postgresDatabase } from './store/database.js'
import { ledgerIn } from './store/ledger.js'
import { type Messages, messagesIn } from './store/messages.js'
import { secretFromFile } from './store/secret-file.js'
import { signInFailuresIn } from './store/sign-in-failures.js'
import { streamTicketsIn } from './store/stream-tickets.js'
import { createTables } from './store/tables.js'
import { usersIn } from './store/users.js'

/** Everything that the configuration requires, opened. */
export interface OpenVault {
  readonly context: VaultContext
  readonly seeding: SeedContext
  /** Accepts the streams of the embedded service on the server of the app. */
  attach(server: Server): void
  /** Ends these streams, for which `server.close` would wait. */
  closeStreams(): void
  /** Closes sockets and files and releases locks. */
  close(): Promise<void>
}

/** Opens stores and service. If one of them fails, those that were opened before are closed again. */
export async function openVault(config: Config): Promise<OpenVault> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const part of opened.splice(0).reverse()) await part()
  }
  try {
    const db = await openDatabase(config)
    opened.push(() => db.close())
    await createTables(db)
    const users = usersIn(db)
    const ledger = ledgerIn(db)
    const messages = messagesIn(db)

    const service = await openService(config)
    if (service) opened.push(() => service.close())
    const client = service?.mfa ?? closedWith(opened, mfaClient(addressOf(config)))
    const transcriber = service?.mfa ?? closedWith(opened, createSpeechClient(addressOf(config)))
    const redis = config.redisUrl === undefined ? undefined : await openRedis(config.redisUrl)
    if (redis) opened.push(() => redis.close())

    const context: VaultContext = {
      config,
      users,
      ledger,
      signInFailures: signInFailuresIn(db),
      mfa: createMfa(mfaOptions(config, service?.mfa ?? addressOf(config), users, { db, redis, messages })),
      codes: client,
      transcriber,
      streamTickets: streamTicketsIn(db),
      keys: client.keys,
      streamOrigin: service
        ? undefined
        : addressOf(config).baseUrl?.replace(/^http/, 'ws').replace(/\/$/, ''),
      sessionSecret: config.sessionSecret ?? (await secretFromFile(join(config.dataDir, 'session-secret'))),
      sessionStore: redis && new RedisStore({ client: redis, prefix: 'vault:session:' }),
      inbox: service && inboxOf(service, messages),
      seedUsers: config.production ? [] : SEED_USERS,
      company: config.identityProvider === undefined ? undefined : companyClient(),
    }
    const external = service ? undefined : { mfa: client, secrets: appSecretsIn(config.dataDir) }
    return {
      context,
      seeding: { seedUsers: SEED_USERS, users, ledger, service, external },
      attach: (server) => service?.attach(server),
      closeStreams: () => service?.closeStreams(),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function openDatabase({ databaseUrl, dataDir }: Config): Promise<Database> {
  return databaseUrl === undefined ? pgliteDatabase(join(dataDir, 'vault')) : postgresDatabase(databaseUrl)
}

/** The development inbox, if the service has one, together with the messages that Vault sends itself. */
export function inboxOf({ inbox }: CountersignService, messages: Messages): Inbox | undefined {
  return (
    inbox && {
      async messages(filter) {
        const [fromService, fromVault] = await Promise.all([inbox.messages(filter), messages.list(filter)])
        const own = fromVault.map((message) => ({
          channel: message.to.startsWith('+') ? 'sms' : 'email',
          ...message,
        }))
        return [...fromService, ...own].sort((one, other) => other.at.localeCompare(one.at))
      },
      apps: seedAppCodes,
      key: inbox.key,
    }
  )
}

async function openService(config: Config): Promise<CountersignService | undefined> {
  const { service } = config
  return service.kind === 'embedded' ? embeddedService(service, config) : undefined
}

function addressOf({ service }: Config) {
  if (service.kind === 'embedded') throw new Error('The service in this process has no address.')
  const { kind: _, ...address } = service
  return address
}

function closedWith<Client extends { close(): Promise<void> }>(
  opened: (() => Promise<unknown>)[],
  client: Client,
): Client {
  opened.push(() => client.close())
  return client
}

async function openRedis(url: string) {
  const client = createClient({ url })
  // Without a listener, a lost connection would end the process.
  client.on('error', (error: unknown) => console.warn(`Redis: ${String(error)}`))
  await client.connect()
  return client
}
