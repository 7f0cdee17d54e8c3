/** A column's value, the same from both databases: `bigint` columns arrive as numbers. */
export type Value = string | number | boolean | null | readonly string[] | readonly number[]

/** Runs PostgreSQL statements with `$1`-style parameters. */
export interface Queries {
  /** Runs one statement and returns its rows. */
  query<Row extends object = Record<string, Value>>(text: string, params?: readonly Value[]): Promise<Row[]>
}

/** Statements and transactions. A `StoreUnavailableError` says that the database cannot be used at the moment. */
export interface Transactions extends Queries {
  /** Runs `work` in a transaction, again when it conflicts with another one; when `work` throws, it is rolled back. */
  transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T>
}

/** How the service uses a PostgreSQL server. */
export interface PostgresLimits {
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
}

/** The connections of this process to its database. */
export interface ConnectionCounts {
  readonly used: number
  readonly idle: number
  /** Statements that wait for a free connection. */
  readonly waiting: number
  readonly max: number
}

/** Everything that must outlive the process (R28). PGlite and PostgreSQL understand the same SQL. */
export interface Store extends Transactions {
  /** The kind of database, for the log. */
  readonly name: 'pglite' | 'postgresql'
  /** The schema of the tables. Statements name tables without it, and the store adds it. */
  readonly schema: string
  /** The same database for background work: each statement may take minutes. */
  readonly background: Transactions
  /** Runs a script of several statements without parameters, for migrations. */
  script(tx: Queries, text: string): Promise<void>
  /** Counts the connections; absent where there is no pool. */
  connections?(): ConnectionCounts
  /** Reclaims the space of deleted rows and truncates the journal, where the database does not do so itself. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

/** The first row of a statement's result, if there is one. */
export async function queryOne<Row extends object>(
  queries: Queries,
  text: string,
  params: readonly Value[],
): Promise<Row | undefined> {
  const [row] = await queries.query<Row>(text, params)
  return row
}

/**
 * The condition that a column equals one of another row, for which PostgreSQL looks each row up by an index: `= ANY (ARRAY[…])` cannot
 * be the condition of a merge or hash join. With `=`, it reads the whole table for as long as it takes it for small.
 */
export const lookUpSql = (column: string, by: string): string => `${column} = ANY (ARRAY[${by}])`

/** A statement whose parameters have names, ready for `Queries.query`. */
export interface Statement<Parameters extends object> {
  /** The statement with `$1`-style parameters. It never changes, so that databases can keep it prepared. */
  readonly text: string
  /** The values of the parameters in the order of `text`. Members that the statement does not name are ignored. */
  values(parameters: Parameters): Value[]
  rows<Row extends object>(queries: Queries, parameters: Parameters): Promise<Row[]>
  first<Row extends object>(queries: Queries, parameters: Parameters): Promise<Row | undefined>
}

// `:name`, but not the cast `::text`.
const NAMED_PARAMETER = /(?<!:):([a-z]\w*)/gi

/** Numbers named parameters (`:account`), so that fragments can be composed without knowing each other's. Call it when the module loads. */
export function createStatement<Parameters extends { readonly [Name in keyof Parameters]: Value }>(
  sql: string,
): Statement<Parameters> {
  const names: string[] = []
  const text = sql.replace(NAMED_PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const values = (parameters: Parameters) =>
    names.map((name) => {
      const value = parameters[name as keyof Parameters]
      if (value === undefined) throw new TypeError(`The statement has no value for :${name}.`)
      return value
    })
  return {
    text,
    values,
    rows: (queries, parameters) => queries.query(text, values(parameters)),
    first: (queries, parameters) => queryOne(queries, text, values(parameters)),
  }
}

/** A store whose changes are part of a transaction that has begun. */
export function createStoreWithin(tx: Queries, store: Store): Store {
  return { ...store, query: tx.query.bind(tx), transaction: (work) => work(tx) }
}
