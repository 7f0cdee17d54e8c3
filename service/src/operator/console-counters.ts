import type { Application } from '../accounts/application.js'
import { createRelyingParty, relyingPartyOption } from '../accounts/applications/key-settings.js'
import { KEPT_METHODS } from '../accounts/applications/offered-methods.js'
import { applicationDefaults, completeApplication } from '../accounts/applications/settings.js'
import type { Queries } from '../store/store.js'
import { CONSOLE_APPLICATION } from './operator-account.js'

/** Counters of passwords and requests at the console, in the service's database. */
export type ConsoleCounters = ReturnType<typeof consoleCounters>

/** The counters in a store, shared by all processes of the service (R28). */
export function consoleCounters(store: Queries) {
  return {
    /** Counts once more in one step, and returns the new count; when its window is over, a new one begins at 0. */
    async add(key: string, windowMs: number): Promise<number> {
      const now = Date.now()
      const [row] = await store.query<{ readonly count: number }>(
        `INSERT INTO console_counter AS counted (key, count, ends_at) VALUES ($1, 1, $2)
         ON CONFLICT (key) DO UPDATE SET
           count = CASE WHEN counted.ends_at <= $3 THEN 1 ELSE counted.count + 1 END,
           ends_at = CASE WHEN counted.ends_at <= $3 THEN EXCLUDED.ends_at ELSE counted.ends_at END
         RETURNING count`,
        [key, now + windowMs, now],
      )
      return row?.count ?? 1
    },
    /** Forgets the key. */
    async remove(key: string): Promise<void> {
      await store.query('DELETE FROM console_counter WHERE key = $1', [key])
    },
  }
}

/** Where the plugin keeps the limits of operators: the option `limits.store`. */
export function consoleLimits(store: Queries) {
  return {
    async read(key: string): Promise<string | undefined> {
      const [row] = await store.query<{ readonly limits: string }>(
        'SELECT limits FROM console_counter WHERE key = $1 AND ends_at > $2',
        [key, Date.now()],
      )
      return row?.limits
    },
    async replace(key: string, before: string | undefined, after: string, lifeMs: number): Promise<boolean> {
      const now = Date.now()
      const [row] = await store.query(
        before === undefined
          ? `INSERT INTO console_counter AS kept (key, limits, ends_at) VALUES ($1, $2, $3)
             ON CONFLICT (key) DO UPDATE SET limits = EXCLUDED.limits, ends_at = EXCLUDED.ends_at
             WHERE kept.ends_at <= $4 RETURNING key`
          : `UPDATE console_counter SET limits = $2, ends_at = $3
             WHERE key = $1 AND limits = $5 AND ends_at > $4 RETURNING key`,
        [key, after, now + lifeMs, now, ...(before === undefined ? [] : [before])],
      )
      return row !== undefined
    },
  }
}

/** The name of the console, on its pages and in authenticators. */
export const CONSOLE_NAME = 'Countersign console'

/** The application of the operators, without row and API keys. Security keys and passkeys work if `url` is https at a domain, or http at localhost. */
export function consoleApplication(url: string | undefined): Application {
  const { hostname: id, origin } = new URL(url ?? 'https://0.0.0.0')
  const relyingParty = relyingPartyOption.safeParse({ id, origins: [origin] })
  const defaults = {
    ...applicationDefaults(CONSOLE_APPLICATION),
    name: CONSOLE_NAME,
    methods: KEPT_METHODS,
    relyingParty: createRelyingParty(relyingParty.data, CONSOLE_NAME),
  }
  return completeApplication(CONSOLE_APPLICATION, defaults, {})
}
