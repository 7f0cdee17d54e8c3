import { readFileSync, writeFileSync } from 'node:fs'
import { markdownTable } from './table.mjs'

const README = new URL('../../README.md', import.meta.url)
const PAGE = new URL('../performance.md', import.meta.url)
const BEGIN = '<!-- begin: written by npm run bench -->'
const END = '<!-- end: written by npm run bench -->'
const MAJORS = ['20', '24']

/**
 * What the README quotes: the row of the page, the words for it, and, if the row has another side, the words for that row and the name
 * that `guard.json` has for the comparison.
 */
const QUOTED = [
  {
    label: 'page behind `mfaSession` and `requireMfa`, verified session',
    what: 'A page behind the gate and a guard',
    other: 'The same page with Passport alone',
    name: 'page',
  },
  {
    label: '`POST /mfa/challenge`, a code by SMS',
    what: 'Having a code sent',
    other: 'The same in the least code by hand',
    name: 'challenge',
  },
  {
    label: '`POST /mfa/verify`, a right code',
    what: 'Checking a code, with a new session',
    other: 'The same check in the least code by hand',
    name: 'verify',
  },
  {
    label: 'service: verify on PostgreSQL',
    what: "The service's process, checking that code on PostgreSQL",
  },
  {
    label: 'service: verify on PGlite',
    what: 'The service, checking that code on PGlite, its database included',
  },
]

/**
 * What the README quotes from a page, for each row and Node major: `ours` and, if the row has another side, `theirs`, in
 * microseconds of processor time.
 */
export function quotesOf(page) {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes(' µs'))
    .map((line) => line.slice(2, -2).split(' | '))
  return QUOTED.flatMap(({ label, ...quoted }) => {
    const row = rows.find(([name]) => name.split('; ')[0] === label)
    return MAJORS.map((major, nth) => {
      // A comparison has both sides in one cell.
      const [ours, theirs] = (row?.[nth + 1] ?? '').split('; ')
      return { ...quoted, major, ours: micros(ours), ...(quoted.other && { theirs: micros(theirs) }) }
    })
  })
}

/** The figures that the README quotes from `bench/performance.md`: processor time in milliseconds. */
export function costs(page = readFileSync(PAGE, 'utf8')) {
  const quotes = quotesOf(page)
  const table = QUOTED.flatMap(({ what, other }) => {
    const row = (label, side) => [
      label,
      ...quotes.filter((quote) => quote.what === what).map((quote) => inMilliseconds(quote[side])),
    ]
    return [row(what, 'ours'), ...(other ? [row(other, 'theirs')] : [])]
  })
  const head = ['Processor time in milliseconds', ...MAJORS.map((major) => `Node ${major}`)]
  return `${markdownTable(head, table)}\n\nAll figures, when and how they were measured: [performance](bench/performance.md).`
}

function micros(text) {
  const found = /([\d,]+) µs/.exec(text ?? '')?.[1]
  if (!found) throw new Error(`bench/performance.md has no figure in µs where the README quotes one: ${text}`)
  return Number(found.replaceAll(',', ''))
}

function inMilliseconds(us) {
  return (Math.round(us / 10) / 100).toFixed(2)
}

/** Writes what Countersign costs, as `bench/performance.md` has it, into the README. */
export function quoteInReadme() {
  const text = readFileSync(README, 'utf8')
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  if (to < from) throw new Error(`README.md has no place for figures, between ${BEGIN} and ${END}.`)
  writeFileSync(README, `${text.slice(0, from)}\n${costs()}\n${text.slice(to)}`)
}
