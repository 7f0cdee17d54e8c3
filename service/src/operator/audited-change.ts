import type { Queries } from '../store/store.js'
import type { Actor } from './actor.js'

/** A change, as it is written to the audit log. An empty application stands for the whole service. */
export interface NewAuditEntry {
  readonly application: string
  /** In dotted words: `key.revoked`. */
  readonly action: string
  /** Further details, without secrets and full contacts. */
  readonly detail: string
}

/**
 * Makes a change and records it in the audit log, in one transaction; `entry` may depend on the result of `work`, and is
 * `undefined` when nothing changed.
 */
export async function auditedChange<T>(
  actor: Actor,
  work: (tx: Queries) => Promise<T>,
  entry: (result: T) => NewAuditEntry | undefined,
): Promise<T> {
  let changed: string | undefined
  const result = await actor.store.transaction(async (tx) => {
    const made = await work(tx)
    const written = entry(made)
    if (!written) return made
    const { application, action, detail } = written
    await tx.query('INSERT INTO audit (application, at, who, action, detail) VALUES ($1, $2, $3, $4, $5)', [
      application,
      Date.now(),
      actor.name,
      action,
      detail,
    ])
    changed = application
    return made
  })
  // Only after the commit does reading the application again show the change.
  if (changed) actor.onApplicationChanged(changed)
  return result
}
