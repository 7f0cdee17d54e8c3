import { describe, expect, it } from 'vitest'
import { everyCase } from './kit/every-case.js'
import { readSource, sourcesIn } from './layering/scan.js'

const OWN = 'test/skipped.test.ts'
const tests = ['test', 'service/test', 'example-app/test']
  .flatMap((folder) => sourcesIn(folder))
  .filter(({ path }) => path !== OWN && !path.includes('node_modules'))

/** The reasons that keep tests from running. A program that is missing is a reason, and is passed: `test.skip(missing, () => {})`. */
const REFUSED = [
  // Only some tests, or none yet.
  /\b(?:it|test|describe)\b[\w.]*\.(?:only|todo)\b.*/g,
  /\b[fx](?:it|test|describe)\(.*/g,
  // Skipped by its title alone, in every case, or by an option.
  /\b(?:it|test|describe)\b[\w.]*\.skip(?:\.each|\()\s*['"`].*/g,
  /\b(?:it|test|describe)\b[\w.]*\.skip\.each\b.*/g,
  /\.(?:skipIf|runIf)\(\s*(?:true|false|\d|['"`]|!\d).*/g,
  /\b(?:it|test|describe)\b[\w.]*\(\s*(['"`])[^\n]*\1,\s*\{[^}]*\b(?:skip|only|todo)\b.*/g,
  // From inside of a test, without saying why.
  /\bskip\(\s*\).*/g,
]

const refusedIn = (code: string) => REFUSED.flatMap((pattern) => code.match(pattern) ?? [])

describe('a test', () => {
  it('is skipped only for a reason that it states, and never runs alone', () => {
    expect(tests.length).toBeGreaterThan(300)
    const found = tests.flatMap(({ path, code }) => refusedIn(code).map((line) => `${path}: ${line}`))
    expect(found).toEqual([])
  })

  it('is seen however it is kept from running', () =>
    everyCase(
      [
        "it.skip('refuses a code', () => {})",
        'test.skip(`refuses a code`, () => {})',
        "it.skip.each([1, 2])('refuses code %s', () => {})",
        "describe.concurrent.skip('a code', () => {})",
        "it.only('refuses a code', () => {})",
        "describe.only.each([1])('a code', () => {})",
        "it.todo('refuses a code')",
        "xit('refuses a code', () => {})",
        "fdescribe('a code', () => {})",
        "it.skipIf(true)('refuses a code', () => {})",
        "it.runIf(false)('refuses a code', () => {})",
        "it('refuses a code', { skip: true }, () => {})",
        "it('refuses a code', (context) => context.skip())",
      ],
      (text) => expect(refusedIn(readSource('a.test.ts', text).code)).not.toEqual([]),
    ))

  it('may lack a program or a browser', () =>
    everyCase(
      [
        'if (postgresMissing) return test.skip(postgresMissing, () => {})',
        "describe.skipIf(!hasBrowser)('a page', () => {})",
        "it.skipIf(missing('ffmpeg'))('transcribes', () => {})",
        "// it.only('refuses a code', () => {})",
      ],
      (text) => expect(refusedIn(readSource('a.test.ts', text).code)).toEqual([]),
    ))
})
