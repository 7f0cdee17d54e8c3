import { FaultsError } from '../configuration-error.js'

// PGlite's own types need the DOM's and Emscripten's: these are the few methods we call.

/** What runs statements: a database of PGlite, or a transaction in it. */
export interface PgliteClient {
  /** One statement with numbered parameters. */
  query<Row>(text: string, params?: unknown[]): Promise<{ rows: Row[] }>
  /** Several statements without parameters. */
  exec(text: string): Promise<unknown>
}

/** A database of PGlite. */
export interface PgliteDatabase extends PgliteClient {
  /** Fails when it cannot be opened. */
  readonly waitReady: Promise<void>
  /** All of it, or nothing. */
  transaction<T>(work: (tx: PgliteClient) => Promise<T>): Promise<T>
  /** Its data folder as a tar file. */
  dumpDataDir(compression: 'none'): Promise<Blob>
  close(): Promise<void>
}

/** What we use of `@electric-sql/pglite`. */
export interface PgliteModule {
  readonly PGlite: new (folder: string, options?: { readonly loadDataDir?: Blob }) => PgliteDatabase
}

/** Loads PGlite, which is an optional dependency. Throws a `FaultsError` when it is not installed. */
export async function loadPglite(): Promise<PgliteModule> {
  const name: string = '@electric-sql/pglite'
  try {
    return (await import(name)) as PgliteModule
  } catch (cause) {
    const fault =
      'The embedded database is not installed: install `@electric-sql/pglite`, or set `databaseUrl` (DATABASE_URL).'
    throw new FaultsError([fault], { cause })
  }
}
