import { describe, expect, it } from 'vitest'
import { HOUR, stopClock } from '../kit/clock.js'
import { explore, textOf, walks } from './explore.js'
import { INVARIANTS } from './invariants.js'
import { replay } from './replay.js'

/** How far the search goes from the stories. `npm run model` goes further than the sample that runs with all other tests. */
const DEPTH = Number(process.env.MODEL_DEPTH ?? 0)

describe('the model of session and flow', () => {
  const began = performance.now()
  const { reached, violations } = explore(DEPTH)

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
      const [found] = explore(1, rule).violations
      expect(found?.sentence).toBe(sentence)
      const way = found?.way ?? []
      expect(await replay(clock, way)).toBeUndefined()
      expect(await replay(clock, way, rule)).toContain('plugin:')
    },
  )

  it('says what the plugin does, on every edge', { timeout: HOUR }, async () => {
    const clock = stopClock()
    const differences: string[] = []
    let steps = 0
    for (const walk of walks(reached)) {
      steps += walk.length
      const difference = await replay(clock, walk)
      if (difference && differences.push(difference) > 10) break
    }
    const edges = [...reached].flatMap(([, one]) => one.edges.filter(({ to }) => reached.has(to))).length
    const seconds = Math.round((performance.now() - began) / 1000)
    process.stdout.write(
      `model: depth ${DEPTH}, ${reached.size} states, ${edges} edges in ${steps} steps, ${seconds} s, ` +
        `${violations.length} violations, ${differences.length} differences\n`,
    )
    expect(differences).toEqual([])
  })
})
