import type { Store } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'

/** A migration that has been applied to the store. */
interface AppliedMigration {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly appliedAt: number
}

/** The applied migrations, in order. */
export async function listMigrations(store: Store): Promise<AppliedMigration[]> {
  const rows = await store.query<{ name: string; applied_at: number }>(
    'SELECT name, applied_at FROM migration ORDER BY name',
  )
  return rows.map((row) => ({ name: row.name, appliedAt: row.applied_at }))
}

/** Records in the audit log which migrations the operator has applied, if any. */
export async function recordMigrations(actor: Actor, applied: readonly AppliedMigration[]): Promise<void> {
  if (applied.length === 0) return
  const detail = applied.map(({ name }) => name).join(', ')
  await auditedChange(
    actor,
    async () => {},
    () => ({ application: '', action: 'store.migrated', detail }),
  )
}
