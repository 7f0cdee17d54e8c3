import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { durationMs } from '../../src/time.js'
import { everyCase } from '../kit/every-case.js'
import { outageSummary, outageTable } from './outage-table.js'
import { GROUP_NAMES, inWords, optionsOf, ruledIn, withTables } from './tables.js'

/** Show what goes on while the service is down: the first two as a table, the others as a sentence. */
const OUTAGE = ['docs/outage.md', 'SECURITY.md', 'README.md', 'docs/options.md']

describe('the tables of options', () => {
  it('are committed in their current form, as `npm run generate` writes them', () =>
    everyCase([...OUTAGE, 'docs/trusted-devices.md', 'docs/tokens.md'], async (path) => {
      await expect(await withTables(path)).toMatchFileSnapshot(`../../${path}`)
    }))

  it('stand in a document for every group', async () => {
    const texts = await Promise.all(
      ['docs/options.md', 'docs/trusted-devices.md', 'docs/tokens.md'].map(withTables),
    )
    const shown = [...texts.join('').matchAll(/<!-- options: (\S+) -->/g)].map(([, group]) => group)
    expect(shown.sort()).toEqual(GROUP_NAMES.filter((name) => !name.includes('.')).sort())
  })

  it('have one table of what goes on while the service is down, in two documents, and its sentence in two others', async () => {
    const texts = await Promise.all(OUTAGE.map(withTables))
    for (const text of texts.slice(0, 2)) expect(text).toContain(outageTable())
    expect(texts[2]).toContain(outageSummary())
    expect(texts[3]).toContain(outageSummary('docs'))
  })
})

describe('the doc comment of an option', () => {
  it('stands on every option that has a rule, and on no other', () =>
    everyCase(GROUP_NAMES, async (group) => {
      const names = (await optionsOf(group)).map(({ name }) => name).filter((name) => name !== 'service')
      expect(names.sort()).toEqual([...ruledIn(group)].sort())
    }))

  it('says the default and the range of the rule', () =>
    everyCase(GROUP_NAMES, async (group) => {
      for (const { name, doc, stated, value, range } of await optionsOf(group)) {
        const isSame = durationMs(stated.replaceAll('`', '')) === value
        const expected = inWords(value)
        if (expected !== undefined && !isSame)
          expect(stated.startsWith(expected), `${name}: ${doc}`).toBe(true)
        if (range !== undefined) expect(doc, name).toContain(range)
      }
    }))

  it('is in the declarations that an editor reads', async () => {
    const built = await readFile(new URL('../../dist/types/options/login.d.ts', import.meta.url), 'utf8')
    expect(built).toContain('/** Your sign-in page. Defaults to `/login`. */\n    signInPath?:')
  })
})
