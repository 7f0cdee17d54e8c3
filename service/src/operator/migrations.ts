import type { Store } from '../store/store.js'

/** A migration that the store has seen. */
interface AppliedMigration {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly appliedAt: number
}

/** The migrations of the store, in their order. */
export async function listMigrations(store: Store): Promise<AppliedMigration[]> {
  const rows = await store.query<{ name: string; applied_at: number }>(
    'SELECT name, applied_at FROM migration ORDER BY name',
  )
  return rows.map((row) => ({ name: row.name, appliedAt: row.applied_at }))
}
