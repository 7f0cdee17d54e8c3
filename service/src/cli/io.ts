/** The environment and the output of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes results, one line or several. */
  out(text: string): void
  /** Writes remarks and errors for the operator. */
  err(text: string): void
  /** Asks the operator a question. Absent when nobody is at the terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** Options of every command. */
export interface CommonOptions {
  readonly json?: boolean
  /** The operator's name in the audit log. */
  readonly as?: string
}

/** Prints a result: as JSON with `--json`, else as text. */
export function print(io: Io, { json }: CommonOptions, result: unknown, text: () => string): void {
  io.out(json ? JSON.stringify(result, null, 2) : text())
}
