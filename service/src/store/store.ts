/** One column's value as both databases give it: `bigint` columns arrive as numbers. */
export type Value = string | number | boolean | null | readonly string[] | readonly number[]

/** Runs one statement of PostgreSQL's SQL with `$1`-style parameters. */
export interface Queries {
  /** The rows that the statement returns. */
  query<Row extends object = Record<string, Value>>(text: string, params?: readonly Value[]): Promise<Row[]>
}

/** Where everything that must outlive the process is kept (R28). PGlite and PostgreSQL speak the same SQL. */
export interface Store extends Queries {
  /** What it is, for the log: `pglite` or `postgresql`. */
  readonly name: 'pglite' | 'postgresql'
  /** Runs `work` in one transaction; a throw rolls it back and is passed on. */
  transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T>
  /** Runs a script of several statements without parameters, for migrations. */
  script(tx: Queries, text: string): Promise<void>
  /** Gives back the room of what was deleted and shortens the journal, where the database does not do so itself. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

/** The first row, if there is one. */
export async function one<Row extends object>(
  queries: Queries,
  text: string,
  params: readonly Value[],
): Promise<Row | undefined> {
  const [row] = await queries.query<Row>(text, params)
  return row
}
