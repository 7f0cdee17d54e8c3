import { readFileSync, writeFileSync } from 'node:fs'
import { byCase } from './results.mjs'
import { markdownTable } from './table.mjs'

const README = new URL('../../README.md', import.meta.url)
const BEGIN = '<!-- begin: written by npm run bench -->'
const END = '<!-- end: written by npm run bench -->'

/** What the README quotes: the case, the other side, and the words for both. */
const QUOTED = [
  ['page', 'passport.session() only', 'A page behind the gate, signed in', 'Passport alone'],
  ['verify', 'by hand with Passport', 'Checking a code, with a session at the end', 'the least code by hand'],
  [
    'app-code',
    'better-auth TOTP, memory adapter, signed in',
    'Checking the code of an authenticator app',
    'better-auth',
  ],
]

/** Writes how many requests Countersign answers for each one of the other side into the README. */
export function quoteInReadme(results) {
  const majors = [...new Set(results.map(({ major }) => major))].sort((a, b) => a - b)
  const cases = byCase(results)
  const rows = QUOTED.flatMap(([name, against, what, other]) => {
    const row = cases.find((one) => one.name === name)?.rows.find((one) => one.against === against)
    if (!row) return []
    return [[what, other, ...row.byMajor.map((one) => (one ? `${one.ratio.processor.toFixed(2)} ×` : '–'))]]
  })
  const head = ['Requests per second of one core', 'beside', ...majors.map((major) => `Node ${major}`)]
  const text = readFileSync(README, 'utf8')
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  if (to < from) throw new Error(`README.md has no place for figures, between ${BEGIN} and ${END}.`)
  const figures = `${markdownTable(head, rows)}\n\nAll figures, and how they are measured, are in \`bench/performance.md\` of the repository.`
  writeFileSync(README, `${text.slice(0, from)}\n${figures}\n${text.slice(to)}`)
}
