/** The streams that a command reads and writes. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads standard input until its end. */
  readonly stdin: () => Promise<string>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Whether a reader sees what is printed at once, in color. Defaults to no. */
  readonly isTerminal?: boolean
}
