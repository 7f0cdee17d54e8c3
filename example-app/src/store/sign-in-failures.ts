import type { Database } from './database.js'

const FAILURES = 20
const WINDOW_MS = 15 * 60_000

/** Counts wrong passwords for each user name and client address. */
export interface SignInFailures {
  /** Seconds until another password is checked; 0 if one can be checked now. */
  waitSeconds(username: string, address: string): Promise<number>
  /** Counts a wrong password. */
  record(username: string, address: string): Promise<void>
  /** Forgets the wrong passwords after a correct one. */
  forget(username: string, address: string): Promise<void>
}

/**
 * Counts in the database: after 20 wrong passwords within 15 minutes, no more are checked until the 15 minutes are over.
 * Concurrent guesses can exceed the limit by the number that is checked at once, which the cost of scrypt keeps small.
 * Counting before checking would instead refuse users who sign in on several devices at once.
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

    async record(username, address) {
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
