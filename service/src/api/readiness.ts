import { clockDifferenceMs, MAX_CLOCK_DIFFERENCE_MS } from '../store/clock.js'
import { inspectMigrations, type MigrationState } from '../store/migrate.js'
import { StoreUnavailableError, type UnavailableReason } from '../store/outages.js'
import { missingPrivileges } from '../store/privileges.js'
import type { Store } from '../store/store.js'
import { describeError, type Logger } from '../telemetry/log/logger.js'

/** Shorter than two seconds, within which a load balancer must learn of an outage. */
const STORE_TIMEOUT_MS = 1_500

/** How long the store's answer is reused. */
const CACHE_MS = 1_000

const FAILURES: { readonly [Reason in UnavailableReason]?: string } = {
  read_only: 'is read-only',
  full: 'has no disk space left',
  forbidden: 'refuses the role',
}

/** Whether the service can accept requests, and the result of each check by its name. */
export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
  /** By how much the clock of the database is ahead of that of this machine; absent while the store does not answer. */
  readonly clockDifferenceMs?: number | undefined
}

/** Checks, at most once per second, that the store answers, is writable, migrated and grants all privileges, and that the service is not stopping. */
export function readinessCheck(parts: {
  readonly store: Store
  readonly log: Logger
  readonly isStopping: () => boolean
  /** Whether a write failed a moment ago because the disk is full. */
  readonly isFull: () => boolean
}): () => Promise<Readiness> {
  const queryStore = cache(() =>
    limitTime(probe(parts.store)).catch((error: unknown) => {
      parts.log({ level: 'warn', event: 'store.unavailable', detail: describeError(error) })
      return (error instanceof StoreUnavailableError && FAILURES[error.reason]) || 'does not answer'
    }),
  )
  return async () => {
    const found = await queryStore()
    const { differenceMs } = typeof found === 'string' ? {} : found
    const isOff = Math.abs(differenceMs ?? 0) >= MAX_CLOCK_DIFFERENCE_MS
    const seconds = Math.round((differenceMs ?? 0) / 1_000)
    const state = typeof found === 'string' ? found : 'ok'
    const checks = {
      store: (parts.isFull() && FAILURES.full) || state,
      migrations: typeof found === 'string' ? 'not known' : describeMigrations(found),
      process: parts.isStopping() ? 'shutting down' : 'ok',
    }
    const ready = Object.values(checks).every((result) => result === 'ok')
    // A wrong clock must not take all processes out at once.
    const clock = isOff && { clock: `warning: that of the database is ${seconds} s ahead` }
    return { ready, checks: { ...checks, ...clock }, clockDifferenceMs: differenceMs }
  }
}

function describeMigrations({ pending, fault }: MigrationState): string {
  return fault ?? (pending.length === 0 ? 'ok' : `${pending.length} not applied`)
}

/** How the store was migrated, and how much the clocks differ. Throws a `StoreUnavailableError` when the store could not be used. */
async function probe(store: Store) {
  const [migrations, missing, differenceMs] = await Promise.all([
    inspectMigrations(store, { probeWrites: true }),
    missingPrivileges(store),
    clockDifferenceMs(store),
  ])
  if (missing.length === 0) return { ...migrations, differenceMs }
  throw new StoreUnavailableError('forbidden', { cause: new Error(missing.join(', ')) })
}

/** Shares one call among concurrent callers, and reuses its result until it is a second old. */
function cache<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  let loadedAt: number | undefined
  return () => {
    // In both directions, since the clock may be set back.
    const isOld = loadedAt !== undefined && Math.abs(Date.now() - loadedAt) >= CACHE_MS
    if (!loading || isOld) {
      loadedAt = undefined
      loading = load().finally(() => {
        loadedAt = Date.now()
      })
    }
    return loading
  }
}

async function limitTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The store did not respond in time.')), STORE_TIMEOUT_MS)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
