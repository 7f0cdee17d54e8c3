import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import * as countersign from '../../src/index.js'
import * as protocol from '../../src/protocol/index.js'

/** The names that an entry exports, types included. */
async function namesIn(entry: string): Promise<string[]> {
  const source = await readFile(new URL(`../../src/${entry}`, import.meta.url), 'utf8')
  const lists = [...source.matchAll(/^export (?:type )?(?:\{([^}]*)\}|(\* as \w+))/gm)]
  return lists.flatMap(([, list = '', group = '']) =>
    `${list},${group}`
      .split(',')
      .map((name) => name.replace(/^.*\bas\b|\btype\b/, '').trim())
      .filter(Boolean),
  )
}

describe('the public names', () => {
  it('of countersign are at most 25 values and 30 types', async () => {
    const names = await namesIn('index.ts')
    const values = Object.keys(countersign)
    expect(names).toEqual(expect.arrayContaining(values))
    expect(values.length).toBeLessThanOrEqual(25)
    expect(names.length - values.length).toBeLessThanOrEqual(30)
  })

  it('of countersign/protocol are at most 60, values and types together', async () => {
    const names = await namesIn('protocol/index.ts')
    expect(names).toEqual(expect.arrayContaining(Object.keys(protocol)))
    expect(names.length).toBeLessThanOrEqual(60)
  })
})
