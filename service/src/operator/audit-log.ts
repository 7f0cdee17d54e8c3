import type { Value } from '../store/store.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'

/** A change in the audit log. */
export interface AuditEntry {
  /** Identifies the entry. */
  readonly id: string
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  /** The name of the operator who made it. */
  readonly actor: string
  /** The application that was changed; empty for the whole service. */
  readonly application: string
  /** The action, in dotted words: `key.revoked`. */
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
  /** Only the changes before this entry, by its id: the last one of a list, for the next. Defaults to all. */
  readonly before?: string | undefined
  /** The maximum number of entries. */
  readonly limit: number
}

const COLUMNS = 'at, who AS actor, application, action, detail, position'

// Two conditions, so that an index finds where the list begins.
const BEFORE = (id: string) => `at <= (SELECT at FROM audit WHERE position = ${id})
  AND (position < ${id} OR at < (SELECT at FROM audit WHERE position = ${id}))`

// Each action is found by the one before it: there are a few dozen, and each has its entries in the order of an index.
const ACTIONS = (beginning: string) => `WITH RECURSIVE known (action) AS (
    (SELECT action FROM audit ORDER BY action LIMIT 1)
    UNION ALL SELECT (SELECT action FROM audit WHERE audit.action > known.action ORDER BY action LIMIT 1) FROM known
    WHERE known.action IS NOT NULL
  )
  SELECT action FROM known WHERE starts_with(action, ${beginning})`

/** Lists entries of the audit log, the newest first. */
export async function listAudit({ store }: Actor, filter: AuditFilter): Promise<AuditEntry[]> {
  if (filter.application !== undefined) await mustExist(store, filter.application)
  const { application, actor, action, from, until, before, limit } = filter
  const values: Value[] = [limit]
  const addCondition = (value: Value | undefined, sql: (parameter: string) => string) =>
    value === undefined ? [] : [sql(`$${values.push(value)}`)]
  const conditions = [
    ...addCondition(application, (parameter) => `application = ${parameter}`),
    ...addCondition(actor, (parameter) => `who = ${parameter}`),
    ...addCondition(from, (parameter) => `at >= ${parameter}`),
    ...addCondition(until, (parameter) => `at < ${parameter}`),
    ...addCondition(before, BEFORE),
  ]
  const isOfOne = application !== undefined || actor !== undefined
  const [beginning] = addCondition(action, (parameter) => parameter)
  const selectLatestSql = (more: readonly string[]) =>
    `SELECT ${COLUMNS} FROM audit WHERE ${['true', ...conditions, ...more].join(' AND ')}
     ORDER BY at DESC, position DESC LIMIT $1`
  // Entries of one application or operator are filtered; all entries are found by their actions.
  const found =
    beginning === undefined || isOfOne
      ? selectLatestSql(beginning === undefined ? [] : [`starts_with(action, ${beginning})`])
      : `SELECT entry.* FROM (${ACTIONS(beginning)}) AS known,
         LATERAL (${selectLatestSql(['audit.action = known.action'])}) AS entry ORDER BY at DESC, position DESC LIMIT $1`
  const rows = await store.query<Omit<AuditEntry, 'id'> & { readonly position: number }>(found, values)
  return rows.map(({ position, ...entry }) => ({ id: String(position), ...entry }))
}
