/** What a command reads and writes. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Results, one line or several. */
  out(text: string): void
  /** Remarks and errors for the person who typed the command. */
  err(text: string): void
}

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: boolean
  /** The operator's name in the audit log. */
  readonly as?: string
}

/** Prints a result: as JSON for programs, else as text for people. */
export function print(io: Io, { json }: CommonOptions, result: unknown, text: () => string): void {
  io.out(json ? JSON.stringify(result, null, 2) : text())
}
