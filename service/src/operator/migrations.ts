import type { Store } from '../store/store.js'
import { change, type Desk } from './actor.js'

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

/** Writes down which migrations the operator has applied, if any. */
export async function noteMigrations(desk: Desk, applied: readonly AppliedMigration[]): Promise<void> {
  if (applied.length === 0) return
  const detail = applied.map(({ name }) => name).join(', ')
  await change(
    desk,
    async () => {},
    () => ({ application: '', action: 'store.migrated', detail }),
  )
}
