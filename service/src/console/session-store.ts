import session, { type SessionData } from 'express-session'
import { textHash } from '../store/secrets/hash.js'
import { queryOne, type Store } from '../store/store.js'

type Done = (error?: unknown) => void

/**
 * Sessions in the service's database, PostgreSQL or PGlite. The id is stored as a hash, so that no one who reads the table can
 * continue a session. Requests do not extend a session: it ends when its cookie does.
 */
export class StoredSessions extends session.Store {
  private readonly store: Store
  private readonly lifetimeMs: number

  constructor(store: Store, lifetimeMs: number) {
    super()
    this.store = store
    this.lifetimeMs = lifetimeMs
  }

  override get(id: string, done: (error: unknown, session?: SessionData | null) => void): void {
    queryOne<{ data: string }>(
      this.store,
      'SELECT data FROM console_session WHERE id = $1 AND expires_at > $2',
      [textHash(id), Date.now()],
    ).then((row) => done(null, row ? (JSON.parse(row.data) as SessionData) : null), done)
  }

  override set(id: string, data: SessionData, done: Done = ignore): void {
    const expiresAt = Date.now() + this.lifetimeMs
    this.store
      .query(
        `INSERT INTO console_session (id, data, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET data = EXCLUDED.data`,
        [textHash(id), JSON.stringify(data), expiresAt],
      )
      .then(() => done(), done)
  }

  override destroy(id: string, done: Done = ignore): void {
    this.store.query('DELETE FROM console_session WHERE id = $1', [textHash(id)]).then(() => done(), done)
  }
}

function ignore(): void {}
