import { ConfigurationError } from '../configuration-error.js'

// PGlite's own types need those of the DOM and of Emscripten, so the few methods that we call are declared here.

/** Runs statements: a PGlite database, or a transaction in it. */
export interface PgliteClient {
  /** Runs one statement with numbered parameters. */
  query<Row>(text: string, params?: unknown[]): Promise<{ rows: Row[] }>
  /** Runs several statements without parameters. */
  exec(text: string): Promise<unknown>
}

/** A PGlite database. */
export interface PgliteDatabase extends PgliteClient {
  /** Resolves when the database is open; rejects when it cannot be opened. */
  readonly waitReady: Promise<void>
  /** Runs `work` in one transaction, which is rolled back when it throws. */
  transaction<T>(work: (tx: PgliteClient) => Promise<T>): Promise<T>
  /** The data folder as a tar file. */
  dumpDataDir(compression: 'none'): Promise<Blob>
  /** Closes the database and unlocks its folder. */
  close(): Promise<void>
}

/** The part of `@electric-sql/pglite` that is used. */
export interface PgliteModule {
  readonly PGlite: new (folder: string, options?: { readonly loadDataDir?: Blob }) => PgliteDatabase
}

/** Loads PGlite, an optional dependency. Throws a `ConfigurationError` when it is not installed. */
export async function loadPglite(): Promise<PgliteModule> {
  const name: string = '@electric-sql/pglite'
  try {
    return (await import(name)) as PgliteModule
  } catch (cause) {
    const fault =
      'The embedded database is not installed: install `@electric-sql/pglite`, or set `databaseUrl` (DATABASE_URL).'
    throw new ConfigurationError([fault], { cause })
  }
}
