import { type QueryPool, withTable } from '../postgres-table.js'

/** A host's PostgreSQL, and the table in it that holds the counters. */
export interface PostgresPlace {
  readonly pool: QueryPool
  readonly tableName: string
}

/** As docs/options.md gives it to those who make their tables themselves. */
const tableOf = (name: string) =>
  `CREATE TABLE "${name}" (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`

/** The pool, with the table of the counters made when it is not there. */
export function withCounterTable({ pool, tableName }: PostgresPlace): QueryPool {
  return withTable(pool, tableName, tableOf(tableName))
}
