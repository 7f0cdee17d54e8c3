import { createHash, timingSafeEqual } from 'node:crypto'
import type { Application, Mode, OwnWebhook, Senders } from '../application.js'
import { describeError, type Logger } from '../log/logger.js'
import { queryOne, type Store } from '../store/store.js'
import { hashApiKey, isApiKey } from './api-key.js'
import { sendersIn } from './sender-settings.js'
import {
  type ApplicationDefaults,
  applicationDefaults,
  applicationFrom,
  parseStoredSettings,
} from './settings.js'

/** The application that the service's own options describe. */
export const DEFAULT_APPLICATION = 'default'

const CACHE_TTL_MS = 1_000
const HOUR_MS = 3_600_000

/** Finds applications. What it returns is at most a second old. */
export interface ApplicationDirectory {
  /** The application that an API key belongs to (R85, R86). */
  byKey(apiKey: string): Promise<Application | undefined>
  /** The application with this name, as its live keys see it. */
  byName(name: string): Promise<Application>
  /** How the messages of the application with this name are delivered. */
  deliveryOf(name: string): Promise<DeliverySettings>
  /** Makes this process read the application again. */
  forget(name: string): void
}

/** What an application sets about the delivery of its messages. */
interface DeliverySettings {
  readonly senders: Senders
  readonly webhook: OwnWebhook | undefined
  /** Whether any mailbox gets no more mail of the application, because its owner reported it as spam. */
  readonly hasComplaints: boolean
}

/** The settings of an application, made once for all requests until they are read again. */
interface Found {
  readonly delivery: DeliverySettings
  readonly application: Readonly<Record<Mode, Application>>
}

interface KeyRow {
  readonly application: string
  readonly id: string
  readonly mode: Mode
  readonly last_used_at: number | null
}

/** Finds applications in the store. */
export function applicationDirectory(parts: {
  readonly store: Store
  /** The values of the application `default` that are not set in the store. */
  readonly defaults: ApplicationDefaults
  /** A key of the application `default` in addition to those in the store. */
  readonly apiKey: string | undefined
  /** Whether test keys are accepted. */
  readonly acceptTestKeys: boolean
  readonly log: Logger
}): ApplicationDirectory {
  const { store, defaults, acceptTestKeys, log } = parts
  const optionKey = parts.apiKey === undefined ? undefined : sha256(parts.apiKey)
  const keys = ttlCache(CACHE_TTL_MS, findKey)
  const settings = ttlCache(CACHE_TTL_MS, findSettings)

  async function findKey(hash: string): Promise<KeyRow | undefined> {
    const row = await queryOne<KeyRow>(
      store,
      'SELECT application, id, mode, last_used_at FROM api_key WHERE hash = $1 AND revoked_at IS NULL',
      [hash],
    )
    if (row) recordUse(row)
    return row
  }

  /** To the hour, which is enough to find unused keys and costs one statement per hour. */
  function recordUse({ application, id, last_used_at }: KeyRow): void {
    const hour = Date.now() - (Date.now() % HOUR_MS)
    if (last_used_at !== null && last_used_at >= hour) return
    store
      .query('UPDATE api_key SET last_used_at = $3 WHERE application = $1 AND id = $2', [
        application,
        id,
        hour,
      ])
      .catch((error: unknown) => {
        log({ level: 'warn', event: 'key.last_used_not_recorded', application, detail: describeError(error) })
      })
  }

  async function findSettings(name: string): Promise<Found> {
    const row = await queryOne<{ settings: string; has_complaints: boolean } & WebhookRow>(
      store,
      `SELECT settings, ${WEBHOOK_COLUMNS},
         EXISTS (SELECT FROM mail_complaint WHERE mail_complaint.application = $1) AS has_complaints
       FROM application LEFT JOIN application_webhook USING (application) WHERE application = $1`,
      [name],
    )
    const set = parseStoredSettings(row?.settings ?? '{}')
    const webhook = webhookFrom(row)
    const base = name === DEFAULT_APPLICATION ? defaults : applicationDefaults(name)
    const withMode = (mode: Mode) => ({
      ...applicationFrom(name, mode, base, set),
      webhookChannels: webhook?.channels ?? [],
    })
    return {
      delivery: { senders: sendersIn(set), webhook, hasComplaints: row?.has_complaints ?? false },
      application: { live: withMode('live'), test: withMode('test') },
    }
  }

  async function find(name: string, mode: Mode): Promise<Application> {
    return (await settings.get(name)).application[mode]
  }

  return {
    async byKey(apiKey) {
      if (optionKey && timingSafeEqual(sha256(apiKey), optionKey)) return find(DEFAULT_APPLICATION, 'live')
      if (!isApiKey(apiKey)) return undefined
      const row = await keys.get(hashApiKey(apiKey))
      if (!row) return undefined
      if (row.mode === 'test' && !acceptTestKeys) {
        const reason = 'a test key in production; SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION=true accepts it'
        log({ level: 'warn', event: 'key.refused', application: row.application, reason })
        return undefined
      }
      return find(row.application, row.mode)
    },
    byName: (name) => find(name, 'live'),
    deliveryOf: async (name) => (await settings.get(name)).delivery,
    forget(name) {
      settings.delete(name)
      keys.deleteWhere((row) => row?.application === name)
    },
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The columns of an application's webhook in a statement that joins its table. */
export const WEBHOOK_COLUMNS = 'url, channels, sealed, former, former_until'

/** The row of an application's webhook; all columns are `null` when it has none. */
export interface WebhookRow {
  readonly url: string | null
  readonly channels: OwnWebhook['channels'] | null
  readonly sealed: string | null
  readonly former: string | null
  readonly former_until: number | null
}

/** The webhook in a row; `undefined` when there is none. */
export function webhookFrom(row: WebhookRow | undefined): OwnWebhook | undefined {
  if (!row?.url || !row.channels || !row.sealed) return undefined
  const { url, channels, sealed, former, former_until: formerUntil } = row
  return {
    url,
    channels,
    sealed,
    ...(former && formerUntil && { former: { sealed: former, until: formerUntil } }),
  }
}

/** A cache whose entries live for a fixed time. */
interface TtlCache<T> {
  /** The value for a key, loaded at most once within its lifetime. A failure is not cached. */
  get(key: string): Promise<T>
  delete(key: string): void
  /** Deletes the entries whose value matches, and those that are still being loaded. */
  deleteWhere(matches: (value: T) => boolean): void
}

interface Entry<T> {
  readonly expiresAt: number
  readonly loading: Promise<T>
  loaded?: { readonly value: T }
}

const MAX_ENTRIES = 10_000

/** Caches what `load` returns for `ttlMs`. `undefined` means that there is no value, and is not cached. */
function ttlCache<T>(ttlMs: number, load: (key: string) => Promise<T>): TtlCache<T> {
  const entries = new Map<string, Entry<T>>()

  function loadNow(key: string): Promise<T> {
    // The lifetime begins before loading: a change during loading must be seen in time too.
    const entry: Entry<T> = { expiresAt: performance.now() + ttlMs, loading: load(key) }
    if (entries.size >= MAX_ENTRIES) entries.clear()
    entries.set(key, entry)
    const drop = () => entries.get(key) === entry && entries.delete(key)
    entry.loading.then((value) => {
      if (value === undefined) drop()
      else entry.loaded = { value }
    }, drop)
    return entry.loading
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.expiresAt > performance.now() ? entry.loading : loadNow(key)
    },
    delete: (key) => void entries.delete(key),
    deleteWhere(matches) {
      for (const [key, entry] of entries) {
        if (!entry.loaded || matches(entry.loaded.value)) entries.delete(key)
      }
    },
  }
}
