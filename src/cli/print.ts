import type { CommandIo } from './command-io.js'

const WIDTH = 80
const RED = /^(BYPASS|BROKEN)/gm

/** Prints a text for a reader: with lines of at most 80 columns, which go on below their last column, and red faults on a terminal. */
export function print(text: string, { out, isTerminal, env }: CommandIo): void {
  const lines = text.split('\n').flatMap((line) => fold(line))
  const folded = lines.join('\n')
  out(isTerminal && !env.NO_COLOR ? folded.replace(RED, '\u001b[31m$1\u001b[39m') : folded)
}

function fold(line: string): string[] {
  if (line.length <= WIDTH) return [line]
  const column = Math.max(
    ...[...line.slice(0, WIDTH / 2).matchAll(/ {2,}|^/g)].map(({ index, 0: gap }) => index + gap.length),
  )
  const indent = ' '.repeat(column)
  const lines: string[] = []
  let rest = line
  while (rest.length > WIDTH) {
    const space = rest.lastIndexOf(' ', WIDTH)
    // A word that is longer than a line stays whole, so that an address can be copied.
    const end = space > indent.length ? space : rest.indexOf(' ', WIDTH)
    if (end < 0) break
    lines.push(rest.slice(0, end))
    rest = indent + rest.slice(end + 1)
  }
  return [...lines, rest]
}
