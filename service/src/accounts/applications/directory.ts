import { timingSafeEqual } from 'node:crypto'
import type { Scope } from 'countersign/protocol'
import { getPartition, type Mode } from '../../store/partition.js'
import { sha256, textHash } from '../../store/secrets/hash.js'
import { queryOne, type Store } from '../../store/store.js'
import type { Logger } from '../../telemetry/log/logger.js'
import type { ApiCaller, Application, OwnWebhook } from '../application.js'
import { isApiKey } from './api-key.js'
import { type KeyUse, keyUses } from './key-use.js'
import { readSenders } from './sender-settings.js'
import {
  type ApplicationDefaults,
  applicationDefaults,
  completeApplication,
  parseStoredSettings,
} from './settings.js'

/** The application that the service's own options describe. */
export const DEFAULT_APPLICATION = 'default'

const CACHE_TTL_MS = 1_000

/** Creates an application unless it exists. Each is in the same table, so that it can have keys and settings. */
export async function insertApplication(store: Store, name: string): Promise<void> {
  await store.query(
    'INSERT INTO application (application, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [name, Date.now()],
  )
}

/** Finds applications. What it returns is at most a second old. */
export type ApplicationDirectory = ReturnType<typeof applicationDirectory>

type SettingsRow = WebhookRow & { readonly settings: string; readonly has_complaints: boolean }

interface KeyRow extends KeyUse {
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  readonly expires_at: number | null
}

/** Finds applications in the store. */
export function applicationDirectory(parts: {
  readonly store: Store
  /** The values of the application `default` where none are set in the store. */
  readonly defaults: ApplicationDefaults
  /** A key of the application `default` in addition to those in the store. */
  readonly apiKey: string | undefined
  readonly apiKeyScopes: readonly Scope[]
  readonly acceptTestKeys: boolean
  readonly log: Logger
}) {
  const { store, defaults, apiKeyScopes, acceptTestKeys, log } = parts
  const noteUse = keyUses(store, log)
  const optionKey = parts.apiKey === undefined ? undefined : sha256(parts.apiKey)
  const keys = ttlCache(CACHE_TTL_MS, findKey)
  const settings = ttlCache(CACHE_TTL_MS, findSettings)
  const described = new Map([[DEFAULT_APPLICATION, defaults]])

  async function findKey(hash: string): Promise<KeyRow | undefined> {
    return queryOne<KeyRow>(
      store,
      `SELECT application, id, mode, scopes, expires_at, last_used_at, networks FROM api_key
       WHERE hash = $1 AND revoked_at IS NULL`,
      [hash],
    )
  }

  /** Why a key is refused, with what to do; `undefined` if it is accepted. */
  function findRefusal({ mode, expires_at: expiresAt }: KeyRow): string | undefined {
    if (mode === 'test' && !acceptTestKeys) {
      return 'a test key in production; SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION=true accepts it'
    }
    return expiresAt !== null && expiresAt <= Date.now() ? 'an expired key; create a new one' : undefined
  }

  /** Finds the settings of an application. A row that has not changed since `former` was read is not parsed. */
  async function findSettings(name: string, former?: ReturnType<typeof buildSettings>) {
    const [row] = await store.query<SettingsRow>(
      `SELECT settings, ${WEBHOOK_COLUMNS},
         EXISTS (SELECT FROM mail_complaint WHERE mail_complaint.application = $1) AS has_complaints
       FROM application LEFT JOIN application_webhook USING (application) WHERE application = $1`,
      [name],
    )
    const text = JSON.stringify(row ?? {})
    return former?.text === text ? former : buildSettings(name, text, row)
  }

  function buildSettings(name: string, text: string, row: SettingsRow | undefined) {
    const set = parseStoredSettings(row?.settings ?? '{}')
    const webhook = readWebhook(row)
    const base = described.get(name) ?? applicationDefaults(name)
    const live = { ...completeApplication(name, base, set), webhookChannels: webhook?.channels ?? [] }
    const test: Application = { ...live, id: getPartition({ application: name, mode: 'test' }), mode: 'test' }
    return {
      text,
      /** With whether any mailbox gets no more mail of the application, because its owner reported it as spam. */
      delivery: { senders: readSenders(set), webhook, hasComplaints: row?.has_complaints ?? false },
      application: { live, test },
    }
  }

  async function find(name: string, mode: Mode): Promise<Application> {
    return (await settings.get(name)).application[mode]
  }

  return {
    /** The application that an API key belongs to (R85, R86), and what the key may do. `address` is where the request came from. */
    async byKey(apiKey: string, address?: string): Promise<ApiCaller | undefined> {
      if (optionKey && timingSafeEqual(sha256(apiKey), optionKey)) {
        const application = await find(DEFAULT_APPLICATION, 'live')
        return { application, key: 'SERVICE_API_KEY', scopes: apiKeyScopes, expiresAt: null }
      }
      if (!isApiKey(apiKey)) return undefined
      const row = await keys.get(textHash(apiKey))
      if (!row) return undefined
      const reason = findRefusal(row)
      if (reason) {
        log({ level: 'warn', event: 'key.refused', application: row.application, reason })
        return undefined
      }
      noteUse(row, address)
      return {
        application: await find(row.application, row.mode),
        key: row.id,
        scopes: row.scopes,
        expiresAt: row.expires_at,
      }
    },
    /** The application with this name, as its live keys see it. */
    byName: (name: string) => find(name, 'live'),
    /** How the messages of the application with this name are delivered. */
    deliveryOf: async (name: string) => (await settings.get(name)).delivery,
    /** Has the application with this name use these values where none are set in the store. */
    describe(name: string, values: ApplicationDefaults): void {
      described.set(name, values)
      settings.delete(name)
    },
    /** Makes this process read the application again. */
    forget(name: string): void {
      settings.delete(name)
      keys.deleteWhere((row) => row?.application === name)
    },
  }
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
export function readWebhook(row: WebhookRow | undefined): OwnWebhook | undefined {
  if (!row?.url || !row.channels || !row.sealed) return undefined
  const { url, channels, sealed, former, former_until: formerUntil } = row
  return {
    url,
    channels,
    sealed,
    ...(former && formerUntil && { former: { sealed: former, until: formerUntil } }),
  }
}

interface Entry<T> {
  readonly expiresAt: number
  readonly loading: Promise<T>
  loaded?: { readonly value: T }
}

const MAX_ENTRIES = 10_000

/** Caches what `load` returns for `ttlMs`. `undefined` means that there is no value, and is not cached. `load` gets the former value. */
function ttlCache<T>(ttlMs: number, load: (key: string, former?: T) => Promise<T>) {
  const entries = new Map<string, Entry<T>>()

  function loadNow(key: string): Promise<T> {
    // The lifetime begins before loading: a change during loading must be seen in time too.
    const expiresAt = performance.now() + ttlMs
    const entry: Entry<T> = { expiresAt, loading: load(key, entries.get(key)?.loaded?.value) }
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
    /** The value for a key, loaded at most once within its lifetime. A failure is not cached. */
    get(key: string): Promise<T> {
      const entry = entries.get(key)
      return entry && entry.expiresAt > performance.now() ? entry.loading : loadNow(key)
    },
    delete: (key: string) => void entries.delete(key),
    /** Deletes the entries whose value matches, and those that are still being loaded. */
    deleteWhere(matches: (value: T) => boolean): void {
      for (const [key, entry] of entries) {
        if (!entry.loaded || matches(entry.loaded.value)) entries.delete(key)
      }
    },
  }
}
