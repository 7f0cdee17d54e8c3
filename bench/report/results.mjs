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
