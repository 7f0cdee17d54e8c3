import { ALL_TABLES, nameIn } from './privileges.js'

// Texts, quoted names, comments, words, and any other character.
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|[a-z_]\w*|\S/gi
const COMMENT = /^(?:--|\/\*)/

const OWN = new Set(ALL_TABLES)

const BEFORE_TABLE = new Set(['FROM', 'JOIN', 'INTO', 'UPDATE', 'USING', 'TABLE', 'TRUNCATE', 'EXISTS'])

/** The words that begin and end a list of tables with commas between them. */
const LIST_BEGINS = new Set(['FROM', 'USING', 'UPDATE'])
const LIST_ENDS = new Set(
  'SELECT SET WHERE GROUP HAVING ORDER LIMIT FOR RETURNING VALUES UNION INTERSECT EXCEPT'.split(' '),
)

/** `IS DISTINCT FROM`, `FOR UPDATE` and `DO UPDATE`, after which no table is named. */
const OTHER_USES = new Set(['DISTINCT FROM', 'FOR UPDATE', 'KEY UPDATE', 'DO UPDATE'])

// A part of a statement with the name of a table would be taken for the table.
const PART = /^\s+AS\s+(?:(?:NOT\s+)?MATERIALIZED\s+)?\(/i

/**
 * Returns a function that puts the schema before each table of the service that a statement names. Statements are written without it,
 * because an older database and the embedded one have their tables in another schema; a search path would be lost in a pooler.
 */
export function qualifier(schema: string): (sql: string) => string {
  const prefix = nameIn(schema, '')
  // The service has a fixed number of statements.
  const known = new Map<string, string>()
  return (sql) => {
    const qualified = known.get(sql) ?? qualify(sql, prefix)
    known.set(sql, qualified)
    return qualified
  }
}

function qualify(sql: string, prefix: string): string {
  // Whether a comma separates tables, for each parenthesis that is open.
  const lists = [false]
  let previous = ''
  return sql.replace(TOKENS, (token, offset: number) => {
    if (COMMENT.test(token)) return token
    const isTable = previous === ',' ? lists.at(-1) === true : BEFORE_TABLE.has(previous)
    const word = token.toUpperCase()
    previous = OTHER_USES.has(`${previous} ${word}`) ? '' : word
    if (word === '(') lists.push(false)
    if (word === ')') lists.pop()
    if (LIST_BEGINS.has(previous)) lists[lists.length - 1] = true
    if (LIST_ENDS.has(word)) lists[lists.length - 1] = false
    if (!OWN.has(token)) return token
    const rest = sql.slice(offset + token.length)
    if (PART.test(rest))
      throw new TypeError(`A part of a statement must not be named like a table: ${token}.`)
    return isTable && !rest.startsWith('.') ? prefix + token : token
  })
}
