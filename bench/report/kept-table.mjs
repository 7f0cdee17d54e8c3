import { existsSync, readFileSync } from 'node:fs'
import { markdownTable } from './table.mjs'

const words = process.argv.slice(2)
const isChosen = (name) => words.length === 0 || words.some((word) => name.includes(word))

/**
 * The table of a page, whose rows begin with a name each. Names that contain a word of the command line are measured by `measureOne`, all of
 * them without words; the others keep their rows.
 */
export async function keptTable(file, head, names, measureOne) {
  const former = new Map(formerRows(file, head).map((row) => [row[0], row]))
  const rows = []
  for (const name of names) {
    const row = isChosen(name) ? await measureOne(name) : former.get(name)
    if (row && isChosen(name)) console.log(row.join(' | '))
    if (row) rows.push(row)
  }
  return markdownTable(head, rows)
}

function formerRows(file, head) {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  const from = lines.findIndex((line) => line.startsWith(`| ${head.slice(0, 3).join(' | ')}`))
  if (from < 0) return []
  const rows = lines.slice(from + 2)
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => line.slice(2, -2).split(' | '))
}
