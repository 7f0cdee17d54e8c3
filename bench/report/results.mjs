import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { CASES } from '../cases.mjs'

const ORDER = Object.keys(CASES)
const FOLDER = new URL('../../test-output/bench/', import.meta.url)

/** Keeps the result of a case for the page, in place of an earlier one on the same Node major. */
export function saveResult(result) {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(new URL(`${result.name}.${result.major}.json`, FOLDER), JSON.stringify(result, null, 2))
}

/** The results that are kept, in the order of the cases. */
export function readResults() {
  mkdirSync(FOLDER, { recursive: true })
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')))
    .filter(({ name }) => name in CASES)
    .sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name))
}

/** The results of each case in the order of the first, with each row's results side by side, one for each major. */
export function byCase(results) {
  const majors = [...new Set(results.map(({ major }) => major))].sort((a, b) => a - b)
  const names = [...new Set(results.map(({ name }) => name))]
  return names.map((name) => {
    const ofCase = majors.map((major) =>
      results.find((result) => result.name === name && result.major === major),
    )
    const { title, meaning } = ofCase.find(Boolean)
    const keys = new Set(ofCase.flatMap((result) => (result ? result.rows.map(keyOf) : [])))
    const rows = [...keys].map((key) => {
      const byMajor = ofCase.map((result) => result?.rows.find((row) => keyOf(row) === key))
      const { what, against, ratio } = byMajor.find(Boolean)
      return {
        what,
        against,
        label: what,
        byMajor,
        isComparison: ratio !== undefined,
        hasTarget: byMajor.some((row) => row?.target !== undefined),
      }
    })
    return { name, title, meaning, rows }
  })
}

function keyOf({ what, against }) {
  return `${what} | ${against ?? ''}`
}
