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
  /** Only the changes of this operator. Defaults to all. */
  readonly actor?: string | undefined
  /** Only the actions that begin like this, such as `key`. Defaults to all. */
  readonly action?: string | undefined
  /** Only the changes at this time or later, in milliseconds since 1970. Defaults to all. */
  readonly from?: number | undefined
  /** Only the changes before this time, in milliseconds since 1970. Defaults to all. */
  readonly until?: number | undefined
  /** The maximum number of entries. */
  readonly limit: number
}

/** The latest changes, newest first. */
export async function listAudit({ store }: Actor, filter: AuditFilter): Promise<AuditEntry[]> {
  if (filter.application !== undefined) await mustExist(store, filter.application)
  const { application, actor, action, from, until, limit } = filter
  const conditions = [
    { sql: 'application = ', value: application },
    { sql: 'who = ', value: actor },
    { sql: 'starts_with(action, ', value: action, end: ')' },
    { sql: 'at >= ', value: from },
    { sql: 'at < ', value: until },
  ].flatMap(({ value, ...condition }) => (value === undefined ? [] : [{ value, ...condition }]))
  const where = conditions.map(({ sql, end = '' }, index) => `AND ${sql}$${index + 2}${end}`).join(' ')
  return store.lists.query<AuditEntry & Record<string, string | number>>(
    `SELECT at, who AS actor, application, action, detail FROM audit WHERE true ${where}
     ORDER BY position DESC LIMIT $1`,
    [limit, ...conditions.map(({ value }) => value)],
  )
}
