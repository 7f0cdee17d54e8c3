import type { Actor } from './actor.js'
import { mustExist } from './applications.js'

/** A change in the audit log. */
export interface AuditEntry {
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  /** The name of the operator who made it. */
  readonly actor: string
  /** The application that was changed; empty for the whole service. */
  readonly application: string
  /** What was done, in dotted words: `key.revoked`. */
  readonly action: string
  /** Further details, without secrets and full contacts. */
  readonly detail: string
}

/** Which audit entries are listed. */
export interface AuditFilter {
  /** Only the changes to this application. Defaults to all. */
  readonly application?: string | undefined
  /** The maximum number of entries. */
  readonly limit: number
}

/** The latest changes, newest first. */
export async function listAudit({ store }: Actor, filter: AuditFilter): Promise<AuditEntry[]> {
  if (filter.application !== undefined) await mustExist(store, filter.application)
  return store.lists.query<AuditEntry & Record<string, string | number>>(
    `SELECT at, who AS actor, application, action, detail FROM audit
     ${filter.application === undefined ? '' : 'WHERE application = $2'} ORDER BY position DESC LIMIT $1`,
    [filter.limit, ...(filter.application === undefined ? [] : [filter.application])],
  )
}
