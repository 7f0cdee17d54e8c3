import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Citations, citations, citationsIn, type Requirement, requirementsIn } from './citations.js'
import { citedIn, pageOf, pointsOf, requirementsOf, STANDARDS } from './standards.js'

const DOCUMENT = '../../docs/security/requirements.md'
const STANDARDS_PAGE = '../../docs/security/standards.md'
const TABLE = '../../docs/security/requirements-tests.md'

const requirements = requirementsIn(readFileSync(new URL(DOCUMENT, import.meta.url), 'utf8'))
const cited = citations()
const tests = cited.filter(({ isTest, inCode }) => isTest && inCode.length > 0)

/** The table of the tests of each requirement, as Markdown. A file has a line of its own, so that two changes rarely meet. */
function tableOf(all: readonly Requirement[], files: readonly Citations[]): string {
  const rows = all.flatMap(({ id, isPlanned }) => {
    const paths = files.filter(({ inCode }) => inCode.includes(id)).map(({ path }) => path)
    const cells = isPlanned ? ['*planned*'] : paths.map((path) => `[${path}](../../${path})`)
    return cells.map((cell, nth) => `| ${nth === 0 ? id : ''} | ${cell} |`)
  })
  return [
    '# Tests of the security requirements',
    '',
    'The files whose test titles cite each [requirement](requirements.md). `npm run generate` writes this page from the titles.',
    '',
    '| requirement | tests |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n')
}

describe('the security requirements', () => {
  it('are numbered without gaps, each defined once', () => {
    const ids = requirements.map((_, index) => `R${String(index + 1).padStart(2, '0')}`)
    expect(requirements.map(({ id }) => id)).toEqual(ids)
    expect(ids.length).toBeGreaterThanOrEqual(108)
  })

  it('include every id that a source file, a test or a document cites', () => {
    const known = new Set(requirements.map(({ id }) => id))
    const unknown = cited.flatMap(({ path, all }) =>
      all.filter((id) => !known.has(id)).map((id) => `${path}: ${id}`),
    )
    expect(unknown).toEqual([])
  })

  it('each have a test, unless they are planned', () => {
    const tested = new Set(tests.flatMap(({ inCode }) => inCode))
    const untested = requirements.filter(({ id, isPlanned }) => !isPlanned && !tested.has(id))
    expect(untested.map(({ id }) => id)).toEqual([])
  })

  it('are no longer planned once a test cites them', () => {
    const tested = new Set(tests.flatMap(({ inCode }) => inCode))
    const built = requirements.filter(({ id, isPlanned }) => isPlanned && tested.has(id))
    expect(built.map(({ id }) => id)).toEqual([])
  })

  it('have the committed table of tests; `npm run generate` writes it again', async () => {
    await expect(tableOf(requirements, tests)).toMatchFileSnapshot(TABLE)
  })

  it('are cited in comments and tests only, never in a text that the code shows', () => {
    const shown = cited.filter(({ isTest, inCode }) => !isTest && inCode.length > 0)
    expect(shown.map(({ path, inCode }) => `${path}: ${inCode.join(', ')}`)).toEqual([])
  })
})

describe('the page of standards', () => {
  const isPlanned = new Map(requirements.map((one) => [one.id, one.isPlanned]))

  it('has every point of the sections that it covers, once', () => {
    for (const { rows, sections = {} } of STANDARDS) {
      const listed = rows.flatMap(pointsOf)
      expect(new Set(listed).size).toBe(listed.length)
      for (const [section, last] of Object.entries(sections)) {
        const points = Array.from({ length: last }, (_, nth) => `${section}.${nth + 1}`)
        expect(listed.filter((point) => point.startsWith(`${section}.`))).toEqual(points)
      }
    }
  })

  it('has every point that the source of a requirement cites', () => {
    for (const { source, rows, sections } of STANDARDS) {
      const covered = Object.keys(sections ?? {})
      const cited = requirements
        .filter((one) => !one.isPlanned)
        .flatMap((one) => citedIn(one.source, source))
        .filter((point) => !sections || covered.some((section) => point.startsWith(`${section}.`)))
      expect(cited.length).toBeGreaterThan(1)
      const listed = rows.flatMap(pointsOf)
      expect(cited.filter((point) => !listed.includes(point))).toEqual([])
    }
  })

  it('proves what is met by requirements that are built or by test files, and explains the rest', () => {
    for (const standard of STANDARDS) {
      for (const row of standard.rows) {
        const [points, , answer, note, also = []] = row
        const ids = requirementsOf(row, standard, requirements)
        const files = also.filter((one) => one.endsWith('.ts'))
        if (answer === 'met' || answer === 'shared') expect([...ids, ...files], points).not.toEqual([])
        if (answer !== 'met') expect(note, points).toBeTruthy()
        expect(
          ids.filter((id) => isPlanned.get(id) !== false),
          points,
        ).toEqual([])
        expect(files.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([])
      }
    }
  })

  it('is committed as it is generated; `npm run generate` writes it again', async () => {
    await expect(pageOf(requirements)).toMatchFileSnapshot(STANDARDS_PAGE)
  })
})

describe('the scanner finds', () => {
  const inCode = (text: string) => citationsIn('test/x.test.ts', text).inCode

  it.each([
    ['the id of a test', "it('R22 stops after five', () => {})", ['R22']],
    ['several ids', "  test('stops after five (R22, R23)', () => {})", ['R22', 'R23']],
    ['an id of a row', "  ['R55 an authenticator app', '/mfa/enroll-app'],", ['R55']],
    ['an id of a group', "describe.each(ways)('R07 %s wins', (way) => {", ['R07']],
    ['an id of three digits', "it('R108 leaves nothing behind')", ['R108']],
    ['a title behind a media type', ".set('accept', '*/*')\nit('R12 has headers')\n// */", ['R12']],
  ])('%s', (_what, text, ids) => {
    expect(inCode(text)).toEqual(ids)
  })

  it.each([
    ['a line comment', '// The step is used up (R51).'],
    ['a comment at the end of a line', 'const max = 5 // R22'],
    ['a doc comment', '/**\n * Counts attempts (R22).\n */\nconst a = 1'],
    ['a comment of SQL', '-- One statement (R22).'],
  ])('no title in %s, but a citation', (_what, text) => {
    expect(inCode(text)).toEqual([])
    expect(citationsIn('src/x.ts', text).all).toHaveLength(1)
  })

  it('the mark of a planned requirement, and its source', () => {
    const rows =
      '| R01 | Holds. | ASVS 1 |\n| R02 | *Planned.* Will hold. | ASVS 2 |\n| id | requirement | source |'
    expect(requirementsIn(rows)).toEqual([
      { id: 'R01', isPlanned: false, source: 'ASVS 1' },
      { id: 'R02', isPlanned: true, source: 'ASVS 2' },
    ])
  })
})
