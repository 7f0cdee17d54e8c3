import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as countersign from '../../src/index.js'
import * as protocol from '../../src/protocol/index.js'
import { declarationsIn } from './declarations.js'

/** The names that a file exports, types included, and below a namespace the names in it. */
async function namesIn(file: string): Promise<string[]> {
  const source = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8')
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((name) => name.replace(/^.*\bas\b|\btype\b/, '').trim())
      .filter(Boolean),
  )
  const declared = declarationsIn(source).map(({ name }) => name)
  const groups = [...source.matchAll(/^export (?:type )?\* as (\w+) from '([^']+)'/gm)].map(
    async ([, group = '', from = '']) => {
      const names = await namesIn(posix.join(posix.dirname(file), from.replace(/\.js$/, '.ts')))
      return [group, ...names.map((name) => `${group}.${name}`)]
    },
  )
  return [...lists, ...declared, ...(await Promise.all(groups)).flat()]
}

describe('the public names', () => {
  it('of countersign are at most 25 values and 30 types', async () => {
    const names = await namesIn('index.ts')
    const values = Object.keys(countersign)
    expect(names).toEqual(expect.arrayContaining(values))
    expect(values.length).toBeLessThanOrEqual(25)
    expect(names.length - values.length).toBeLessThanOrEqual(30)
  })

  it('of countersign/protocol are at most 60, values, types and what is in namespaces together', async () => {
    const names = await namesIn('protocol/index.ts')
    expect(names).toEqual(expect.arrayContaining(Object.keys(protocol)))
    expect(names.length).toBeLessThanOrEqual(60)
  })

  it('are counted through namespaces', async () => {
    const names = await namesIn('speech/index.ts')
    expect(names).toEqual(expect.arrayContaining(['jobWire', 'jobWire.JOBS_PATH']))
  })
})
