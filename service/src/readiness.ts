import type { Readiness } from './http/health.js'
import { describe, type Logger } from './log.js'
import { pendingMigrations } from './store/migrate.js'
import type { Store } from './store/store.js'

const ANSWER_WITHIN_MS = 2_000

/** Looks whether the service may be given work: the store answers, is migrated, and nobody is shutting down. */
export function readinessOf(parts: {
  readonly store: Store
  readonly log: Logger
  readonly isStopping: () => boolean
}): () => Promise<Readiness> {
  return async () => {
    const pending = await within(pendingMigrations(parts.store)).catch((error: unknown) => {
      parts.log({ level: 'warn', event: 'store.unavailable', detail: describe(error) })
      return undefined
    })
    const checks = {
      store: pending ? 'ok' : 'does not answer',
      migrations: !pending ? 'not known' : pending.length === 0 ? 'ok' : `${pending.length} not applied`,
      process: parts.isStopping() ? 'shutting down' : 'ok',
    }
    return { ready: Object.values(checks).every((found) => found === 'ok'), checks }
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('It did not answer in time.')), ANSWER_WITHIN_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
