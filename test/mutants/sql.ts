/** A change of a statement in SQL: the part of its text that is replaced. */
export interface SqlChange {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly change: string
}

const SQL = /\b(?:SELECT|UPDATE|DELETE FROM|INSERT INTO|WHERE|IS NULL|IS NOT NULL|AND)\b/
/** The words that end an operand, where no parenthesis is open. */
const ENDS =
  /^(?:AND|OR|RETURNING|ORDER|LIMIT|GROUP|FOR|UNION|THEN|ELSE|END|WHEN|SET|VALUES|ON|SELECT|FROM|WHERE|JOIN|LEFT|USING|AS)\b/

/** The changes of a text that is SQL: each operand of a condition taken as true or false, and the bounds of comparisons moved. */
export function sqlChanges(source: string): SqlChange[] {
  const text = withoutExpressions(source)
  if (!SQL.test(text)) return []
  const changes: SqlChange[] = []
  for (const { 0: word, index } of text.matchAll(/\b(?:WHERE|AND|OR)\b|(?<=\()(?=[^()]*?\s(?:AND|OR)\s)/g)) {
    const isSum =
      word === 'OR' || (word === '' && /^[^()]*?\s(AND|OR)\s/.exec(text.slice(index))?.[1] === 'OR')
    if (word === 'AND' && /\bBETWEEN\s+\S+\s+$/.test(text.slice(0, index))) continue
    const from = index + word.length + (/^\s*/.exec(text.slice(index + word.length))?.[0].length ?? 0)
    const to = endOfOperand(text, from)
    const operand = source.slice(from, to)
    if (operand === '' || /^(?:SELECT|CONFLICT)\b/.test(operand)) continue
    const value = isSum ? 'FALSE' : 'TRUE'
    changes.push({ from, to, text: value, change: `${operand} → ${value}` })
  }
  for (const { 0: sign, index } of text.matchAll(/(?<=[\w)\]}] )(?:<=|>=|<|>)(?= )/g)) {
    const other = sign.length === 2 ? sign.slice(0, 1) : `${sign}=`
    const around = source.slice(Math.max(0, index - 15), index + 15)
    changes.push({ from: index, to: index + sign.length, text: other, change: `${around} → ${other}` })
  }
  return changes
}

/** The text with each expression in it as long as before, but without words of SQL: those are changed by themselves. */
function withoutExpressions(text: string): string {
  let depth = 0
  let out = ''
  for (const char of text) {
    if (char === '}') depth = Math.max(0, depth - 1)
    out += depth > 0 ? 'x'.repeat(char.length) : char
    if (char === '{' && (depth > 0 || out.endsWith('${'))) depth++
  }
  return out
}

function endOfOperand(text: string, from: number): number {
  let depth = 0
  let at = from
  for (; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '(' || char === '{' || char === '[') depth++
    else if (char === ')' || char === '}' || char === ']') {
      if (--depth < 0) break
    } else if (depth === 0) {
      if (char === ',' || char === ';' || char === '`') break
      if (/\W/.test(text.charAt(at - 1)) && ENDS.test(text.slice(at))) break
    }
  }
  // The quote that ends a text.
  if (at === text.length && /['"`]$/.test(text)) at--
  return from + text.slice(from, at).trimEnd().length
}
