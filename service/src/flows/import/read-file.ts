import { jsonIn } from '../../telemetry/json.js'
import type { ImportedCodes } from './import-row.js'

/** A record of a file; `undefined` for one that cannot be read. */
export interface FileRecord {
  /** Its line, or its position in a JSON array, from 1. */
  readonly line: number
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** The records of a file: a JSON array, an object with `users`, lines of JSON, or CSV with a heading. `undefined` for anything else. */
export function recordsOf(text: string): readonly FileRecord[] | undefined {
  const content = text.replace(/^\ufeff/, '')
  // Without an end of line, an empty last cell could not be seen.
  if (!/^\s*[[{]/.test(content)) return csvRecords(content.endsWith('\n') ? content : `${content}\n`)
  const whole = jsonIn(content)
  if (Array.isArray(whole)) return whole.map(numbered)
  const users = objectIn(whole)?.users
  if (Array.isArray(users)) return users.map(numbered)
  return /^\s*\[/.test(content) ? undefined : jsonLines(content)
}

/** The value as an object, if it is one. */
export function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? Object.fromEntries(Object.entries(value)) : undefined
}

// Eight characters are enough where an account allows ten wrong codes before it is locked.
const READABLE_CODE = /^[0-9a-z]{8,64}$/i

/** Readable backup codes in a list, in JSON, or separated by commas or spaces. */
export function listedCodes(value: unknown): ImportedCodes | 'unverifiable' | undefined {
  const list = typeof value === 'string' ? (jsonIn(value) ?? value.split(/[\s,;]+/)) : value
  const codes = (Array.isArray(list) ? list : [list]).filter((code) => code !== undefined && code !== '')
  if (codes.length === 0) return undefined
  const plain = codes.map((code) => String(code).replace(/[\s-]+/g, ''))
  return plain.every((code) => READABLE_CODE.test(code)) ? { plain, sha512: [] } : 'unverifiable'
}

function numbered(value: unknown, index: number): FileRecord {
  return { line: index + 1, fields: objectIn(value) }
}

function jsonLines(text: string): FileRecord[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [{ line: index + 1, fields: objectIn(jsonIn(line)) }],
    )
}

interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

function csvRecords(text: string): FileRecord[] {
  const [heading, ...rows] = csvRows(text)
  if (!heading) return []
  const names = heading.cells.map((name) => name.trim())
  return rows.map(({ line, cells }) => ({
    line,
    fields:
      cells.length === names.length
        ? Object.fromEntries(names.map((name, column) => [name, cells[column]]))
        : undefined,
  }))
}

// A cell in quotes, in which quotes are doubled, or one without quotes; then the end of the cell or of the row (RFC 4180).
const CELL = /("(?:[^"]|"")*"|(?!")[^,\r\n]*)(,|\r?\n|$)/y

/** The rows of CSV (RFC 4180) with the lines in which they begin, without empty ones. */
function csvRows(text: string): CsvRow[] {
  const rows: CsvRow[] = []
  let cells: string[] = []
  let line = 1
  let begins = 1
  let isBroken = false
  for (let position = 0; position < text.length; ) {
    CELL.lastIndex = position
    const match = CELL.exec(text)
    // Text after a closing quote: the rest of the line cannot be read.
    const [whole, cell = '', end = ''] = match ?? [restOfLine(text, position)]
    isBroken ||= !match
    position += whole.length
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    line += whole.split('\n').length - 1
    if (end === ',') continue
    // No heading has no columns.
    if (isBroken || cells.some((one) => one !== '')) rows.push({ line: begins, cells: isBroken ? [] : cells })
    cells = []
    begins = line
    isBroken = false
  }
  return rows
}

function restOfLine(text: string, position: number): string {
  const end = text.indexOf('\n', position)
  return end < 0 ? text.slice(position) : text.slice(position, end + 1)
}
