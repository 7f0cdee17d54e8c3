import { readFileSync, writeFileSync } from 'node:fs'
import { markdownTable } from './table.mjs'

const README = new URL('../../README.md', import.meta.url)
const PAGE = new URL('../performance.md', import.meta.url)
const BEGIN = '<!-- begin: written by npm run bench -->'
const END = '<!-- end: written by npm run bench -->'
const MAJORS = ['20', '24']

/** What the README quotes: the row of the page, the words for it, and those for the other side, if the row has one. */
const QUOTED = [
  [
    'page behind `mfaSession` and `requireMfa`, verified session',
    'A page behind the gate and a guard',
    'Passport alone',
  ],
  ['`POST /mfa/challenge`, a code by SMS', 'Having a code sent', 'the least code by hand'],
  ['`POST /mfa/verify`, a right code', 'Checking a code, with a new session', 'the least code by hand'],
  ['service: verify on PostgreSQL', "The service's process, checking that code on PostgreSQL"],
  ['service: verify on PGlite', 'The service, checking that code on PGlite, its database included'],
]

/** The figures that the README quotes from `bench/performance.md`: processor time in milliseconds. */
export function costs(page = readFileSync(PAGE, 'utf8')) {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes(' µs'))
    .map((line) => line.slice(2, -2).split(' | '))
  const table = QUOTED.map(([label, what, other]) => {
    const found = rows.filter(([name]) => withoutNote(name) === label)
    return [
      other ? `${what}; ${other}` : what,
      ...MAJORS.map((major, nth) => (other ? besideIt(found, major) : alone(found, major, nth))),
    ]
  })
  const head = ['Processor time in milliseconds', ...MAJORS.map((major) => `Node ${major}`)]
  return `${markdownTable(head, table)}\n\nAll figures, when and how they were measured: [performance](bench/performance.md).`
}

/** A comparison has a line for each major. */
function besideIt(rows, major) {
  const [, , ours, theirs] = rows.find(([, of]) => of === major) ?? []
  // Work that is added takes time: a lower figure is the noise of the machine.
  return micros(ours) > micros(theirs) ? `${inMilliseconds(ours)}; ${inMilliseconds(theirs)}` : '–'
}

/** A comparison has a line for each major, and a figure a column. */
function alone(rows, major, nth) {
  const line = rows.find(([, of]) => of === major)
  return inMilliseconds(line ? line[2] : rows[0]?.[nth + 1])
}

const withoutNote = (name) => name.replace(/ \([^)]*\)$/, '')

function micros(text) {
  const found = /([\d,]+) µs/.exec(text ?? '')?.[1]
  if (!found) throw new Error(`bench/performance.md has no figure in µs where the README quotes one: ${text}`)
  return Number(found.replaceAll(',', ''))
}

function inMilliseconds(text) {
  return (Math.round(micros(text) / 10) / 100).toFixed(2)
}

/** Writes what Countersign costs, as `bench/performance.md` has it, into the README. */
export function quoteInReadme() {
  const text = readFileSync(README, 'utf8')
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  if (to < from) throw new Error(`README.md has no place for figures, between ${BEGIN} and ${END}.`)
  writeFileSync(README, `${text.slice(0, from)}\n${costs()}\n${text.slice(to)}`)
}
