import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import * as parts from '../service/test/parts.js'

interface Row {
  what: string
  against?: string
  value?: number
  unit?: string
  ours?: { processorUs: number; perSecond: number }
  theirs?: { processorUs: number; perSecond: number }
  ratio?: { processor: number; rate: number }
  by?: 'processor' | 'rate'
  isPart?: boolean
  quartiles?: readonly number[]
  sameTwice?: number
}

interface Quote {
  what: string
  name?: string | undefined
  major: string
  ours: number
  theirs?: number | undefined
}

interface Report {
  results: readonly { name: string; major: number; rows: readonly Row[] }[]
  quotes: readonly Quote[]
  guard: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const bench = (path: string) => import(new URL(`../bench/${path}`, import.meta.url).href)
const { refusals }: { refusals: (report: Report) => string[] } = await bench('report/refusals.mjs')
const { quotesOf }: { quotesOf: (page: string) => Quote[] } = await bench('report/readme-figures.mjs')
const { comparison }: { comparison: (what: string, against: string, rounds: object) => Row } =
  await bench('kit/comparison.mjs')

const GUARD = { 24: { page: 1.3 } }

/** A page that takes 128 µs, beside 100 µs without its guard. */
const PAGE: Row = {
  what: 'a guarded page',
  against: 'the page alone',
  ours: { processorUs: 128, perSecond: 7_800 },
  theirs: { processorUs: 100, perSecond: 10_000 },
  ratio: { processor: 0.78, rate: 0.78 },
  by: 'processor',
  isPart: true,
  sameTwice: 1.01,
}

const QUOTE: Quote = { what: 'A page', name: 'page', major: '24', ours: 128, theirs: 100 }

const refusalsOf = (row: Partial<Row>, quote: Partial<Quote> = {}) =>
  refusals({
    results: [{ name: 'page', major: 24, rows: [{ ...PAGE, ...row }] }],
    quotes: [{ ...QUOTE, ...quote }],
    guard: GUARD,
  })

describe('a report of the benchmark', () => {
  it('may be published when the same program twice is equal, nothing is faster than its part, and the guard agrees', () => {
    expect(refusalsOf({})).toEqual([])
  })

  it('is refused when one program measured twice differs by more than 5 %', () => {
    for (const sameTwice of [0.951, 1.049]) expect(refusalsOf({ sameTwice })).toEqual([])
    for (const sameTwice of [0.94, 1.06, Number.NaN]) {
      expect(refusalsOf({ sameTwice })).toEqual([
        expect.stringMatching(
          /^a guarded page, beside the page alone, on Node 24 is noise: .*-- page --node 24$/,
        ),
      ])
    }
    const importing: Row = { what: 'import', value: 60, unit: 'ms', sameTwice: 1.2 }
    expect(
      refusals({ results: [{ name: 'import', major: 20, rows: [importing] }], quotes: [], guard: GUARD }),
    ).toEqual([expect.stringContaining('import on Node 20 is noise')])
  })

  it('is refused when a comparison has no second measurement of one program', () => {
    const { sameTwice: _without, ...row } = PAGE
    expect(
      refusals({ results: [{ name: 'page', major: 24, rows: [row] }], quotes: [], guard: GUARD }),
    ).toEqual([expect.stringContaining('has no second measurement of the same program')])
  })

  it('is refused when something is faster than a part of its own work, by ratio or by median', () => {
    const faster = [
      expect.stringContaining('is faster than the page alone, which is a part of the same work'),
    ]
    expect(refusalsOf({ ratio: { processor: 1.07, rate: 0.9 } })).toEqual(faster)
    expect(refusalsOf({ ours: { processorUs: 99, perSecond: 7_800 } })).toEqual(faster)
    expect(refusalsOf({ by: 'rate', ratio: { processor: 0.9, rate: 1.02 } })).toEqual(faster)
    expect(refusalsOf({ by: 'rate', ours: { processorUs: 128, perSecond: 10_001 } })).toEqual(faster)
    // Elsewhere, a database does a part of the work, or another package does different work.
    expect(refusalsOf({ by: 'rate', ratio: { processor: 1.04, rate: 0.8 } })).toEqual([])
    expect(refusalsOf({ isPart: false, ratio: { processor: 2.5, rate: 2.4 } })).toEqual([])
  })

  it('is refused when the README would quote what the guard contradicts by more than 10 %', () => {
    expect(refusalsOf({}, { ours: 118 })).toEqual([])
    expect(refusalsOf({}, { ours: 142 })).toEqual([])
    for (const ours of [116, 144]) {
      expect(refusalsOf({}, { ours })).toEqual([
        expect.stringMatching(
          /^The README would quote 1\.\d\d times .* bench\/guard\.json says 1\.30\. Measure both again: /,
        ),
      ])
    }
    expect(refusalsOf({}, { name: undefined, theirs: undefined })).toEqual([])
  })
})

describe('the committed figures of the benchmark', () => {
  it('are not contradicted by the guard where the README quotes them', async () => {
    const read = (path: string) => readFile(new URL(`../bench/${path}`, import.meta.url), 'utf8')
    const quotes = quotesOf(await read('performance.md'))
    const guard = JSON.parse(await read('guard.json'))
    expect(quotes.filter(({ name, major }) => name !== undefined && guard[major][name] > 1)).toHaveLength(6)
    expect(refusals({ results: [], quotes, guard })).toEqual([])
  })
})

describe('the documents of the benchmark', () => {
  it('have one table, of at most 40 rows, and at most 4,000 words together', async () => {
    const names = ['performance.md', 'README.md', 'faults.md', 'patroni.md']
    const texts = await Promise.all(
      names.map((name) => readFile(new URL(`../bench/${name}`, import.meta.url), 'utf8')),
    )
    const words = texts.map((text) => text.split(/\s+/).filter(Boolean).length)
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(4_000)
    const tables = [...(texts[0] ?? '').matchAll(/^\| ---.*\n((?:\|.*\n)+)/gm)]
    expect(tables).toHaveLength(1)
    expect(tables[0]?.[1]?.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
  })
})

describe('a row of the benchmark', () => {
  it('has the median of the ratios of the rounds, their quartiles, and the ratio of one program measured twice', () => {
    const rounds = (us: (i: number) => number) =>
      Array.from({ length: 40 }, (_, i) => ({ processorUs: us(i), perSecond: 1e6 / us(i) }))
    const ours = rounds(() => 100)
    const theirs = rounds((i) => 60 + ((i * 7) % 40))
    const row = comparison('a page', 'the page alone', { ours, again: rounds(() => 103), theirs })
    expect(row).toMatchObject({ ratio: { processor: 0.8 }, quartiles: [0.7, 0.9], sameTwice: 1.03 })
  })
})

describe('the benchmark', () => {
  it('imports only what exists, in the sources from which the service is built', async () => {
    const folder = new URL('../bench/', import.meta.url)
    const files = (await readdir(folder, { recursive: true })).filter(
      (path) => path.endsWith('.mjs') && !path.startsWith('node_modules'),
    )
    const missing: string[] = []
    let checked = 0
    for (const path of files) {
      const file = new URL(path, folder)
      const imports = /^(?:import|export) (?:\{([^}]+)\}|[^{}]+?) from '(\.[^']+)'/gm
      for (const [, names = '', imported = ''] of (await readFile(file, 'utf8')).matchAll(imports)) {
        const { href } = new URL(imported, file)
        const source = href
          .replace('/service/dist/parts.js', '/service/test/parts.ts')
          .replace(/\/service\/dist\/(.*)\.js$/, '/service/src/$1.ts')
        checked++
        if (!existsSync(new URL(source))) missing.push(`${path}: ${imported}`)
        if (!source.endsWith('/parts.ts')) continue
        for (const name of names.match(/\w+/g) ?? []) if (!(name in parts)) missing.push(`${path}: ${name}`)
      }
    }
    expect(checked).toBeGreaterThan(100)
    expect(missing).toEqual([])
  })
})
