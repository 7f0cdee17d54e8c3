import { KEY_METHODS } from 'countersign/protocol'
import type { Application } from '../application.js'
import { relyingPartyOf, relyingPartyOption } from '../applications/key-settings.js'
import { applicationDefaults, applicationFrom } from '../applications/settings.js'
import { type Queries, queryOne } from '../store/store.js'
import { CONSOLE_APPLICATION } from './operator-account.js'

/** A count, and how long it still holds. */
interface Count {
  readonly count: number
  /** Milliseconds until it starts over at 0. */
  readonly msLeft: number
}

/** Counters of attempts at the console, in the service's database. It can be the plugin's option `limits.store`. */
export interface ConsoleCounters {
  /** Adds to the count in one step; when its window is over, a new one begins at 0. */
  add(key: string, by: 1 | -1, windowMs: number): Promise<Count>
  /** Reads the count without changing it. */
  read(key: string): Promise<Count>
  /** Sets the count and begins a window. */
  set(key: string, count: number, windowMs: number): Promise<void>
  /** Forgets the key. */
  remove(key: string): Promise<void>
}

interface Row {
  readonly count: number
  readonly ends_at: number
}

const NO_COUNT: Count = { count: 0, msLeft: 0 }

/** The counters in a store, shared by all processes of the service (R28). */
export function consoleCounters(store: Queries): ConsoleCounters {
  return {
    async add(key, by, windowMs) {
      const now = Date.now()
      const row = await queryOne<Row>(
        store,
        `INSERT INTO console_counter AS counted (key, count, ends_at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET
           count = CASE WHEN counted.ends_at <= $4 THEN EXCLUDED.count ELSE counted.count + EXCLUDED.count END,
           ends_at = CASE WHEN counted.ends_at <= $4 THEN EXCLUDED.ends_at ELSE counted.ends_at END
         RETURNING count, ends_at`,
        [key, by, now + windowMs, now],
      )
      return countFrom(row, now)
    },
    async read(key) {
      const row = await queryOne<Row>(store, 'SELECT count, ends_at FROM console_counter WHERE key = $1', [
        key,
      ])
      return countFrom(row, Date.now())
    },
    async set(key, count, windowMs) {
      await store.query(
        `INSERT INTO console_counter (key, count, ends_at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET count = EXCLUDED.count, ends_at = EXCLUDED.ends_at`,
        [key, count, Date.now() + windowMs],
      )
    },
    async remove(key) {
      await store.query('DELETE FROM console_counter WHERE key = $1', [key])
    },
  }
}

function countFrom(row: Row | undefined, now: number): Count {
  return row && row.ends_at > now ? { count: row.count, msLeft: row.ends_at - now } : NO_COUNT
}

/** The name of the console, on its pages and in authenticators. */
export const CONSOLE_NAME = 'Countersign console'

/**
 * The application of the operators. It has no row and no API keys, so nothing but the console can reach its accounts. Operators
 * can use security keys and passkeys if `url`, the public address of the console, is one whose pages may use them: https at a
 * domain, or http at localhost.
 */
export function consoleApplication(url: string | undefined): Application {
  const { hostname: id, origin } = new URL(url ?? 'https://0.0.0.0')
  const relyingParty = relyingPartyOption.safeParse({ id, origins: [origin] })
  const defaults = {
    ...applicationDefaults(CONSOLE_APPLICATION),
    name: CONSOLE_NAME,
    methods: KEY_METHODS,
    relyingParty: relyingPartyOf(relyingParty.data, CONSOLE_NAME),
  }
  return applicationFrom(CONSOLE_APPLICATION, 'live', defaults, {})
}
