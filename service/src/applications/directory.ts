import { createHash, timingSafeEqual } from 'node:crypto'
import type { Application, Mode } from '../application.js'
import { describe, type Logger } from '../log/logger.js'
import { one, type Store } from '../store/store.js'
import { hashApiKey, isApiKey } from './api-key.js'
import { briefly } from './ttl-cache.js'
import { type ApplicationSettings, applicationFrom, type Base, newcomer, settingsSchema } from './settings.js'

/** The application that the environment describes. */
export const DEFAULT_APPLICATION = 'default'

const FRESH_MS = 1_000
const HOUR_MS = 3_600_000

/** Which applications there are, as everything that serves them knows it. At most a second old. */
export interface Directory {
  /** The application that an API key belongs to (R85, R86). */
  byKey(apiKey: string): Promise<Application | undefined>
  /** An application by its name, as its live keys see it. */
  byName(name: string): Promise<Application>
  /** What this process knows of an application is looked up again from now on. */
  forget(name: string): void
}

interface KeyRow {
  readonly application: string
  readonly id: string
  readonly mode: Mode
  readonly last_used_at: number | null
}

/** A directory over the store. */
export function directory(parts: {
  readonly store: Store
  /** What the application `default` is where the store says nothing. */
  readonly base: Base
  /** A key of the application `default` that is not in the store. */
  readonly apiKey: string | undefined
  /** Whether test keys are taken. */
  readonly testKeys: boolean
  readonly log: Logger
}): Directory {
  const { store, base, testKeys, log } = parts
  const given = parts.apiKey === undefined ? undefined : sha256(parts.apiKey)
  const keys = briefly(FRESH_MS, findKey)
  const settings = briefly(FRESH_MS, findSettings)

  async function findKey(hash: string): Promise<KeyRow | undefined> {
    const row = await one<KeyRow>(
      store,
      'SELECT application, id, mode, last_used_at FROM api_key WHERE hash = $1 AND revoked_at IS NULL',
      [hash],
    )
    if (row) noteUse(row)
    return row
  }

  /** By the hour is enough to find keys that nobody uses, and costs one statement an hour. */
  function noteUse({ application, id, last_used_at }: KeyRow): void {
    const hour = Date.now() - (Date.now() % HOUR_MS)
    if (last_used_at !== null && last_used_at >= hour) return
    store
      .query('UPDATE api_key SET last_used_at = $3 WHERE application = $1 AND id = $2', [
        application,
        id,
        hour,
      ])
      .catch((error: unknown) => {
        log({ level: 'warn', event: 'key.use_not_noted', application, detail: describe(error) })
      })
  }

  async function findSettings(name: string): Promise<ApplicationSettings> {
    const row = await one<{ settings: string }>(
      store,
      'SELECT settings FROM application WHERE application = $1',
      [name],
    )
    return settingsSchema.parse(JSON.parse(row?.settings ?? '{}'))
  }

  async function find(name: string, mode: Mode): Promise<Application> {
    const itsBase = name === DEFAULT_APPLICATION ? base : newcomer(name)
    return applicationFrom(name, mode, itsBase, await settings.get(name))
  }

  return {
    async byKey(apiKey) {
      if (given && timingSafeEqual(sha256(apiKey), given)) return find(DEFAULT_APPLICATION, 'live')
      if (!isApiKey(apiKey)) return undefined
      const row = await keys.get(hashApiKey(apiKey))
      if (!row) return undefined
      if (row.mode === 'test' && !testKeys) {
        const reason = 'a test key in production; SERVICE_ALLOW_TEST_KEYS_IN_PRODUCTION=true would take it'
        log({ level: 'warn', event: 'key.refused', application: row.application, reason })
        return undefined
      }
      return find(row.application, row.mode)
    },
    byName: (name) => find(name, 'live'),
    forget(name) {
      settings.forget(name)
      keys.forgetWhere((row) => row?.application === name)
    },
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
