import type { Database } from './database.js'

const TICKETS = 6
const WINDOW_MS = 60_000

/** Counts the tickets for live transcription, each of which keeps an engine of the service busy for minutes. */
export interface StreamTickets {
  /** Counts a ticket of the user. Returns the seconds until the next one; 0 if this one may be issued. */
  take(userId: number): Promise<number>
}

/** Counts in the database, which several processes share: a user gets 6 tickets a minute. One statement counts and decides. */
export function streamTicketsIn(db: Pick<Database, 'query'>): StreamTickets {
  return {
    async take(userId) {
      const now = Date.now()
      const { rows } = await db.query<{ count: number; since: Date }>(
        `INSERT INTO vault_stream_tickets AS t (user_id, count, since) VALUES ($1, 1, $2)
         ON CONFLICT (user_id) DO UPDATE SET
           count = CASE WHEN t.since <= $3 THEN 1 ELSE t.count + 1 END,
           since = CASE WHEN t.since <= $3 THEN excluded.since ELSE t.since END
         RETURNING count, since`,
        [userId, new Date(now), new Date(now - WINDOW_MS)],
      )
      const [row] = rows
      if (!row || row.count <= TICKETS) return 0
      return Math.max(1, Math.ceil((row.since.getTime() + WINDOW_MS - now) / 1000))
    },
  }
}
