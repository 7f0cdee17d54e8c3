import { type DetailLine, oneLine } from './details.js'

/** How many characters are left at least of what is cut: six at each end, and the mark between them. */
const SHORTEST_CUT = 13

// Three segments of a text message hold 199 UTF-16 units in every alphabet, and the shortest text with a code takes at most 70.
const MOST_UNITS = 128

// Phones make a link of these between letters, as in an address, and the message comes from someone whom the user trusts.
const LINK = /(?<=[\p{L}\p{N}])([.:@/\u3002\uff0e])(?=[\p{L}/])/gu

const IDENTIFIER = /^[!-~]{14,}$/

/** Whether a word has a number, and is no identifier that mixes digits and letters, such as an IBAN. */
const hasNumber = (word = '') =>
  /\p{N}/u.test(word) && !(IDENTIFIER.test(word) && /\d.*[a-z]{2}.*\d/i.test(word))

/**
 * The lines that the code of a message approves, with free text and identifiers cut to these lengths, or to the shortest. Numbers and the words
 * beside them, such as a currency, are never cut (R146). No part is a link or begins a line with @.
 */
export function nameLines(
  lines: readonly DetailLine[],
  free = Number.POSITIVE_INFINITY,
  identifier = Number.POSITIVE_INFINITY,
): string[] {
  const lengths = { free, identifier, number: Number.POSITIVE_INFINITY }
  const quotePart = (text: string) =>
    splitParts(oneLine(text).replace(/^@+/, '').replace(LINK, '$1 '))
      .map(({ kind, words }) => cut(words.join(' '), lengths[kind]))
      .join(' ')
  return lines.map(({ label, value }) => `${quotePart(label)}: ${quotePart(value)}`)
}

/** The line that keeps these lines from fitting into a text message, if they do not. */
export function unfitLine(lines: readonly DetailLine[]): DetailLine | undefined {
  const shortest = nameLines(lines, 0, 0)
  if (shortest.join('\n').length <= MOST_UNITS) return undefined
  const longest = Math.max(...shortest.map(({ length }) => length))
  return lines.find((_, at) => shortest[at]?.length === longest)
}

function splitParts(text: string) {
  const words = text.split(' ')
  const parts: { kind: 'free' | 'identifier' | 'number'; words: string[] }[] = []
  for (const [at, word] of words.entries()) {
    const isBeside = word.length < SHORTEST_CUT && (hasNumber(words[at - 1]) || hasNumber(words[at + 1]))
    const kind = hasNumber(word) || isBeside ? 'number' : IDENTIFIER.test(word) ? 'identifier' : 'free'
    const last = parts.at(-1)
    if (last?.kind === 'free' && kind === 'free') last.words.push(word)
    else parts.push({ kind, words: [word] })
  }
  return parts
}

function cut(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= Math.max(length, SHORTEST_CUT)) return text
  const kept = Math.floor((Math.max(length, SHORTEST_CUT) - 1) / 2)
  return `${characters.slice(0, kept).join('')}…${characters.slice(-kept).join('')}`
}
