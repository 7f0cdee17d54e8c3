import { mustExist } from './applications.js'
import type { Desk } from './actor.js'

/** One change, as the audit log keeps it. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly who: string
  /** Empty: the service as a whole. */
  readonly application: string
  readonly action: string
  readonly detail: string
}

/** Who changed what, newest first; of one application when it is named. */
export async function listAudit(
  desk: Desk,
  filter: { readonly application?: string | undefined; readonly most: number },
): Promise<AuditEntry[]> {
  if (filter.application !== undefined) await mustExist(desk.store, filter.application)
  return desk.store.query<AuditEntry & Record<string, string | number>>(
    `SELECT at, who, application, action, detail FROM audit
     WHERE $1::text IS NULL OR application = $1 ORDER BY position DESC LIMIT $2`,
    [filter.application ?? null, filter.most],
  )
}
