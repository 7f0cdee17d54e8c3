import { createHash } from 'node:crypto'
import pg from 'pg'

const INT8: number = 20
const INT8_ARRAY: number = 1016

/** The parsers of column values: `bigint` columns arrive as numbers. */
export function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8) return Number
  if (oid === INT8_ARRAY) {
    const parse = pg.types.getTypeParser(oid, 'text')
    return (text: string) => (parse(text) as string[]).map(Number)
  }
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}

const names = new Map<string, string>()

/** The name under which a statement is prepared. */
export function statementName(text: string): string {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}
