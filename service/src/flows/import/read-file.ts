import { isDeepStrictEqual } from 'node:util'
import { readJson } from '../../json.js'
import { AMBIGUOUS, parseExactJson } from './exact-json.js'
import type { ImportedCodes } from './import-row.js'

/** A record of a file; `undefined` for one that cannot be read. */
export interface FileRecord {
  /** Its line, or its position in a JSON array, from 1. */
  readonly line: number
  /** Its fields by their `fieldName`; two of one name that differ are `AMBIGUOUS`. */
  readonly fields: Readonly<Record<string, unknown>> | undefined
  /** The realm of Keycloak that it is from. */
  readonly realm?: unknown
}

/** The name of a field without what systems write differently: case, spaces, dashes and underscores. */
export function fieldName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** The records of a file: JSON in a list, in objects around it or in lines, or CSV with a heading. `undefined` for anything else. */
export function readRecords(file: string | Uint8Array): readonly FileRecord[] | undefined {
  const content = decodeText(file).replace(/^\ufeff/, '')
  if (content.includes('\0')) return undefined
  if (!/^\s*[[{]/.test(content)) return csvRecords(content.replace(/\r\n?/g, '\n'))
  const whole = parseExactJson(content)
  if (whole === undefined) return /^\s*\[/.test(content) ? undefined : jsonLines(content)
  return listItems(whole).map(({ value, realm }, index) => ({
    line: index + 1,
    fields: jsonFields(value),
    realm,
  }))
}

/** The text of a file in UTF-8, or in UTF-16 with its mark, also where a program has read that as UTF-8. */
function decodeText(file: string | Uint8Array): string {
  if (typeof file !== 'string') {
    const mark = Buffer.from(file.subarray(0, 2)).toString('hex')
    return new TextDecoder({ fffe: 'utf-16le', feff: 'utf-16be' }[mark]).decode(file)
  }
  const ascii = file.replace(/^\ufffd\ufffd/, '').replaceAll('\0', '')
  return file.length === 2 * ascii.length + 2 && /^\p{ASCII}*$/u.test(ascii) ? ascii : file
}

/** The records in JSON, with their realms: of a list, of `users` in one or several realms, or of an only list in an object. */
function listItems(json: unknown): readonly { readonly value: unknown; readonly realm?: unknown }[] {
  if (Array.isArray(json)) return json.flatMap(listItems)
  const object = readObject(json) ?? {}
  const list = Object.keys(object).length === 1 ? Object.values(object)[0] : object.users
  return Array.isArray(list) ? list.map((value) => ({ value, realm: object.realm })) : [{ value: json }]
}

function jsonFields(value: unknown): FileRecord['fields'] {
  const object = readObject(value)
  // Django's dumpdata has the columns of a `model` in an object of their own, where the user is no `user_id`.
  const row = object && 'model' in object ? readObject(object.fields) : undefined
  return object && createFields(Object.entries(row ? { user_id: row.user, ...row } : object))
}

function createFields(named: readonly (readonly [string, unknown])[]): FileRecord['fields'] {
  const fields = new Map<string, unknown>()
  for (const [written, value] of named) {
    const name = fieldName(written)
    const isSame = !fields.has(name) || isDeepStrictEqual(fields.get(name), value)
    if (name !== '') fields.set(name, isSame ? value : AMBIGUOUS)
  }
  return Object.fromEntries(fields)
}

/** The value as an object, if it is one. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? Object.fromEntries(Object.entries(value)) : undefined
}

// Eight characters are enough where an account allows ten wrong codes before it is locked.
const READABLE_CODE = /^[0-9a-z]{8,64}$/i

/** Readable backup codes in a list, in JSON, or separated by commas or spaces. */
export function readListedCodes(value: unknown): ImportedCodes | 'unverifiable' | undefined {
  const list = typeof value === 'string' ? (readJson(value) ?? value.split(/[\s,;]+/)) : value
  const codes = (Array.isArray(list) ? list : [list]).filter((code) => code !== undefined && code !== '')
  if (codes.length === 0) return undefined
  const plain = codes.map((code) => String(code).replace(/[\s-]+/g, ''))
  return plain.every((code) => READABLE_CODE.test(code)) ? { plain, sha512: [] } : 'unverifiable'
}

function jsonLines(text: string): FileRecord[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [{ line: index + 1, fields: jsonFields(parseExactJson(line)) }],
    )
}

interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

function csvRecords(text: string): FileRecord[] {
  const all = csvRows(text)
  // The line by which Excel is told the separator.
  const isDeclared = /^sep=/i.test(all[0]?.cells[0] ?? '')
  const [{ cells: names } = { cells: [] }, ...rows] = all.slice(isDeclared ? 1 : 0)
  return rows.map(({ line, cells }) => ({
    line,
    fields:
      cells.length === names.length ? createFields(names.map((name, nth) => [name, cells[nth]])) : undefined,
  }))
}

/** The rows of CSV (RFC 4180) with the lines in which they begin, without empty ones. */
function csvRows(given: string): CsvRow[] {
  // Without an end of line, an empty last cell could not be seen.
  const text = given.endsWith('\n') ? given : `${given}\n`
  const separator = findSeparator(text)
  // A cell in quotes, in which quotes are doubled, or one without quotes; then the end of the cell or of the row.
  const next = new RegExp(`(?: *"((?:[^"]|"")*)" *|((?! *")[^${separator}\\n]*))([${separator}\\n])`, 'y')
  const rows: CsvRow[] = []
  let cells: string[] = []
  let line = 1
  let begins = 1
  let isBroken = false
  for (let position = 0; position < text.length; ) {
    next.lastIndex = position
    const match = next.exec(text)
    // Text after a closing quote: the rest of the line cannot be read.
    const [whole, quoted, plain = '', end] = match ?? [restOfLine(text, position)]
    isBroken ||= !match
    position += whole.length
    const cell = quoted?.replaceAll('""', '"') ?? plain
    // Excel is kept from taking a text for a number by a formula.
    cells.push(cell.replace(/^="([^"]*)"$/, '$1'))
    line += whole.split('\n').length - 1
    if (end === separator) continue
    // No heading has no columns.
    if (isBroken || cells.some((cell) => cell !== ''))
      rows.push({ line: begins, cells: isBroken ? [] : cells })
    cells = []
    begins = line
    isBroken = false
  }
  return rows
}

/** The separator that the first line has most of. */
function findSeparator(text: string): string {
  const count = (separator: string) => (/.*\S.*/.exec(text)?.[0] ?? '').split(separator).length
  return [',', ';', '\t', '|'].reduce((best, other) => (count(other) > count(best) ? other : best))
}

function restOfLine(text: string, position: number): string {
  const end = text.indexOf('\n', position)
  return end < 0 ? text.slice(position) : text.slice(position, end + 1)
}
