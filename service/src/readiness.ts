import type { Readiness } from './http/routes/health.js'
import { describe, type Logger } from './log/logger.js'
import { pendingMigrations } from './store/migrate.js'
import type { Store } from './store/store.js'

const ANSWER_WITHIN_MS = 2_000

/** How long what the store answered is told again. */
const REMEMBERED_MS = 1_000

/**
 * Looks whether the service may be given work: the store answers, is migrated, and nobody is shutting down. The store
 * is asked once a second at most, however often it is looked.
 */
export function readinessOf(parts: {
  readonly store: Store
  readonly log: Logger
  readonly isStopping: () => boolean
}): () => Promise<Readiness> {
  const askStore = remembered(() =>
    within(pendingMigrations(parts.store)).catch((error: unknown) => {
      parts.log({ level: 'warn', event: 'store.unavailable', detail: describe(error) })
      return undefined
    }),
  )
  return async () => {
    const pending = await askStore()
    const checks = {
      store: pending ? 'ok' : 'does not answer',
      migrations: !pending ? 'not known' : pending.length === 0 ? 'ok' : `${pending.length} not applied`,
      process: parts.isStopping() ? 'shutting down' : 'ok',
    }
    return { ready: Object.values(checks).every((found) => found === 'ok'), checks }
  }
}

/** Asks once for all who want to know at the same moment, and anew when the answer is a second old. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  let answeredAt: number | undefined
  return () => {
    // In both directions, since a clock may be set back.
    const isOld = answeredAt !== undefined && Math.abs(Date.now() - answeredAt) >= REMEMBERED_MS
    if (!answer || isOld) {
      answeredAt = undefined
      answer = ask().finally(() => {
        answeredAt = Date.now()
      })
    }
    return answer
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('It did not answer in time.')), ANSWER_WITHIN_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
