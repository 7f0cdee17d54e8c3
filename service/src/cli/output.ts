import { InvalidArgumentError, Option } from 'commander'
import { OperatorError } from '../operator/audited-change.js'

/** The environment and the output of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes results, one line or several. */
  out(text: string): void
  /** Writes remarks and errors for the operator. */
  err(text: string): void
  /** Asks the operator a question. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** Options of every command. */
export interface CommonOptions {
  readonly json?: boolean
  /** The operator's name in the audit log. */
  readonly as?: string
}

/** The output of a command. */
export interface Printed {
  /** The result for programs, with `--json`. */
  readonly result: unknown
  /** The same for people. */
  readonly text: string
  /** A remark beside the text. Defaults to none. */
  readonly hint?: string | undefined
  /** Remarks that are printed with `--json` too. Default to none. */
  readonly remarks?: readonly (string | false)[]
  /** Why the command failed although it has a result. Defaults to success. */
  readonly failure?: string | false
}

/** Prints a result: as JSON with `--json`, else as text. Throws an `OperatorError` when it is a failure. */
export function print(io: Io, { json }: CommonOptions, { result, text, hint, ...more }: Printed): void {
  io.out(json ? JSON.stringify(result, null, 2) : text)
  for (const remark of [!json && hint, ...(more.remarks ?? [])]) if (remark) io.err(remark)
  if (more.failure) throw new OperatorError(more.failure)
}

/** A column of a list: a member of its rows, and its heading where that is not the name of the member in words. */
type Column<Row> = (keyof Row & string) | readonly [keyof Row & string, heading: string]

/** A list, with a column for each of these members. */
export function printList<Row extends object>(
  rows: readonly Row[],
  ...columns: readonly Column<Row>[]
): Printed & { readonly result: readonly Row[] } {
  return { result: rows, text: formatTable(rows, ...columns) }
}

/** The text of a list. Members that end in `At`, `Until` or `Since` are times. */
export function formatTable<Row extends object>(
  rows: readonly Row[],
  ...columns: readonly Column<Row>[]
): string {
  const formatWords = (member: string) =>
    member.replace(/At$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const named = columns.map((column) =>
    typeof column === 'string' ? ([column, formatWords(column)] as const) : column,
  )
  const headings = named.map(([, heading]) => heading)
  return table(
    headings,
    rows.map((row) => named.map(([member]) => formatCell(member, row[member]))),
  )
}

function formatCell(member: string, value: unknown): Cell {
  if (typeof value === 'number') return /(?:^at|At|Until|Since)$/.test(member) ? new Date(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String((Array.isArray(value) ? value.join(',') : value) ?? '') || null
}

/** The content of a cell; times are `Date`s. */
export type Cell = string | number | Date | null | undefined

/** Rows under their headings, in columns separated by two spaces; numbers are right-aligned. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows.map((row) => row.map(showCell))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))))
  return lines
    .map((line, index) =>
      line
        .map((text, column) => {
          const gap = ' '.repeat((widths[column] ?? 0) - width(text))
          return index > 0 && typeof rows[index - 1]?.[column] === 'number' ? gap + text : text + gap
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values, one pair per line. */
export function pairs(entries: readonly (readonly [string, Cell])[]): string {
  const widest = Math.max(...entries.map(([name]) => width(name)))
  return entries.map(([name, value]) => `${name.padEnd(widest)}  ${showCell(value)}`.trimEnd()).join('\n')
}

function showCell(cell: Cell): string {
  if (cell instanceof Date) return `${cell.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  // Control characters in names must not affect the terminal.
  return String(cell ?? '–').replace(/\p{Cc}/gu, '\ufffd')
}

function width(text: string): number {
  return [...text].length
}

/** `--limit`, for commands that list something. */
export function limitOption(about = 'the maximum number of entries', max = 99_999): Option {
  const read = (text: string) => {
    if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`It must be a number from 1 to ${max}.`)
  }
  return new Option('--limit <n>', about).argParser(read).default(50)
}
