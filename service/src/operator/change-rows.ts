import type { Value } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'

/** A change that is one statement. */
export interface RowChange<Row> {
  /** The application that it changes, which must exist. Defaults to the whole service. */
  readonly application?: string
  /** Its name in the audit log, in dotted words: `key.revoked`. */
  readonly action: string
  /** The details in the audit log, which may depend on the rows that the statement returns. */
  readonly detail: string | ((rows: readonly Row[]) => string)
  readonly sql: string
  readonly values: readonly Value[]
  /** The error when the statement returns no row. Defaults to none. */
  readonly otherwise?: string
}

/** Makes a change that is one statement, and records it in the audit log. Resolves to the rows that the statement returns. */
export function changeRows<Row extends object = Record<string, Value>>(
  actor: Actor,
  { application = '', action, detail, sql, values, otherwise }: RowChange<Row>,
): Promise<readonly Row[]> {
  return changeWithAudit(actor, async (tx, record) => {
    if (application !== '') await mustExist(tx, application)
    const rows = await tx.query<Row>(sql, values)
    if (rows.length === 0 && otherwise !== undefined) throw new OperatorError(otherwise)
    record({ application, action, detail: typeof detail === 'string' ? detail : detail(rows) })
    return rows
  })
}
