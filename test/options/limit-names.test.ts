import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { LIMIT_RANGES } from '../../service/src/accounts/limits.js'
import { durationMs } from '../../src/time.js'
import { declarationsIn } from './declarations.js'
import { faultsOf } from './read.js'

/** Options in the plugin's `limits` that the service does not have: it has its own database and waits. */
const OF_THE_PLUGIN = ['store', 'resendWaits']

async function sharedLimits() {
  const source = await readFile(new URL('../../src/options/limits.ts', import.meta.url), 'utf8')
  const options = declarationsIn(source).find(({ name }) => name === 'LimitRules')
  return (options?.members ?? []).filter(({ name }) => !OF_THE_PLUGIN.includes(name))
}

it('a limit of the plugin has the same name, range and default in the service', async () => {
  const limits = await sharedLimits()
  expect(limits.map(({ name }) => name)).toHaveLength(7)
  for (const { name, doc } of limits) {
    expect(LIMIT_RANGES).toHaveProperty(name)
    const range = LIMIT_RANGES[name as keyof typeof LIMIT_RANGES]
    expect(doc, name).toContain(
      `Defaults to ${typeof range.default === 'number' ? range.default : `\`${range.default}\``}.`,
    )
    expect(faultsOf({ limits: { [name]: range.min } }), name).toEqual([])
    expect(faultsOf({ limits: { [name]: range.max } }), name).toEqual([])
    for (const limit of [range.min, range.max]) {
      const [value = 0, step] = [durationMs(limit), limit === range.min ? -1 : 1]
      expect(faultsOf({ limits: { [name]: value + step } }), `${name} ${value + step}`).toHaveLength(1)
    }
  }
})
