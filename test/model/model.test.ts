import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { explore, sample, textOf, walks } from './explore.js'
import { INVARIANTS } from './invariants.js'
import { replay } from './replay.js'

/** `npm run model` goes through all states and edges; it can be bounded by actions from the start, and by minutes. Tests take a sample. */
const { MODEL_DEPTH = 4, MODEL_MINUTES = 'Infinity' } = process.env
const isSample = process.env.MODEL_DEPTH === undefined

describe('the model of session and flow', () => {
  const began = performance.now()
  const { reached, violations } = explore(Number(MODEL_DEPTH))

  it('keeps its invariants in every state that it reaches', () => {
    expect(violations.map(({ sentence, way }) => `${sentence}: ${textOf(way)}`)).toEqual([])
  })

  const rules = Object.entries(INVARIANTS).flatMap(([sentence, { needs }]) =>
    needs.map((rule) => [rule, sentence] as const),
  )
  it.each(rules)(
    'finds what breaks without the rule "%s", and an app that lacks it: %s',
    async (rule, sentence) => {
      const clock = stopClock()
      const { way = [], ...found } = explore(Number.POSITIVE_INFINITY, rule).violations[0] ?? {}
      expect(found).toEqual({ sentence })
      expect(await replay(clock, way)).toBe('')
      expect(await replay(clock, way, rule)).toContain('plugin:')
    },
  )

  it('says what the plugin does, on every edge', { timeout: isSample ? HOUR : 24 * HOUR }, async () => {
    const clock = stopClock()
    const differences: string[] = []
    let [edges, steps, seconds] = [0, 0, 0]
    for (const { walk, taken = 0 } of isSample ? sample() : walks(reached)) {
      differences.push(...[await replay(clock, walk)].filter(Boolean))
      edges += taken
      steps += walk.length
      seconds = Math.round((performance.now() - began) / 1000)
      if (differences.length > 10 || seconds * 1000 > Number(MODEL_MINUTES) * MINUTE) break
    }
    const all = [...reached.values()].flatMap((one) => one.edges).length
    const extent = MODEL_DEPTH === 'Infinity' ? 'closed' : `at most ${MODEL_DEPTH} actions from the start`
    process.stdout.write(
      `model: ${extent}, ${reached.size} states, ${all} edges, ${violations.length} violations\n` +
        `replay: ${isSample ? 'a sample' : `${edges} of these edges`} in ${steps} steps, ${differences.length} differences, ${seconds} s\n`,
    )
    expect(differences).toEqual([])
  })
})
