import type { Database } from './database.js'

const FAILURES = 20
const WINDOW_MS = 15 * 60_000

/** Wrong passwords, counted for each name and address together. */
export interface SignInFailures {
  /** Seconds to wait before another password is looked at; 0 when it may be now. */
  waitSeconds(username: string, address: string): Promise<number>
  note(username: string, address: string): Promise<void>
  forget(username: string, address: string): Promise<void>
}

/**
 * Counts in the database: 20 wrong passwords in 15 minutes, then a wait for the rest of them. Guesses that arrive
 * together may overshoot by as many as are being checked at once, which the cost of scrypt keeps small; counting
 * before checking would instead turn away people who sign in on several devices at once.
 */
export function signInFailuresIn(db: Database): SignInFailures {
  return {
    async waitSeconds(username, address) {
      const { rows } = await db.query<{ count: number; since: Date }>(
        'SELECT count, since FROM vault_sign_in_failures WHERE who = $1',
        [key(username, address)],
      )
      const row = rows[0]
      if (!row || row.count < FAILURES) return 0
      return Math.max(0, Math.ceil((row.since.getTime() + WINDOW_MS - Date.now()) / 1000))
    },

    async note(username, address) {
      const now = Date.now()
      await db.query(
        `INSERT INTO vault_sign_in_failures AS f (who, count, since) VALUES ($1, 1, $2)
         ON CONFLICT (who) DO UPDATE SET
           count = CASE WHEN f.since < $3 THEN 1 ELSE f.count + 1 END,
           since = CASE WHEN f.since < $3 THEN excluded.since ELSE f.since END`,
        [key(username, address), new Date(now), new Date(now - WINDOW_MS)],
      )
    },

    async forget(username, address) {
      await db.query('DELETE FROM vault_sign_in_failures WHERE who = $1', [key(username, address)])
    },
  }
}

function key(username: string, address: string): string {
  return `${address} ${username.normalize('NFKC').trim().toLowerCase().slice(0, 100)}`
}
