import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { WARNING_CODES } from '../../src/diagnostics/warnings.js'
import { PROBLEM_CODES } from '../../src/http/problem.js'
import { RENAMED_OPTIONS } from '../../src/option-renames.js'
import { declarationsIn, reexportsIn } from './declarations.js'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The old and new names in the first table below a heading, without the marks of code. */
async function tableBelow(heading: string): Promise<readonly (readonly [string, string])[]> {
  const text = await read('docs/upgrading.md')
  const section = text.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? []
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((row) => {
      const [, old = '', current = ''] = row.split('|').map((cell) => cell.trim())
      return [old, current]
    })
}

const withoutMarks = (cell: string) => cell.replaceAll('`', '')
const codesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** Names that an entry exports. */
const namesOf = async (...entries: string[]) => {
  const all = await Promise.all(entries.map(read))
  return new Set(all.flatMap(reexportsIn).map(({ name }) => name))
}

describe('docs/upgrading.md', () => {
  it('lists every renamed option with the path that the fault names', async () => {
    const rows = (await tableBelow('Options')).map((row) => row.map(withoutMarks))
    expect(Object.fromEntries(rows)).toEqual(RENAMED_OPTIONS)
    expect(rows).toHaveLength(Object.keys(RENAMED_OPTIONS).length)
  })

  it('gives each renamed option a path that exists', async () => {
    const files = [
      'options.ts',
      'client/address.ts',
      'limits/options.ts',
      'trust/options.ts',
      'stores/config.ts',
    ]
    const sources = await Promise.all(files.map((file) => read(`src/${file}`)))
    const members = new Set(
      sources.flatMap(declarationsIn).flatMap((one) => one.members.map(({ name }) => name)),
    )
    for (const place of Object.values(RENAMED_OPTIONS)) {
      for (const name of /^[\w.]+/.exec(place)?.[0].split('.') ?? []) expect(members, place).toContain(name)
    }
  })

  it('names problem codes, events and diagnostics codes that exist', async () => {
    const codes = (await tableBelow('Problem codes and JSON')).flatMap(([, current]) =>
      [...current.matchAll(/code: "(\w+)"/g)].map(([, code]) => code),
    )
    expect(codes).toHaveLength(2)
    for (const code of codes) expect(PROBLEM_CODES).toContain(code)

    const events = await read('src/flows/events.ts')
    const renamed = await tableBelow('Events')
    expect(renamed).toHaveLength(3)
    for (const [old, current] of renamed) {
      expect(events).toContain(`'${withoutMarks(current)}'`)
      expect(events).not.toContain(`'${withoutMarks(old)}'`)
    }
    for (const code of WARNING_CODES) expect(code).toMatch(/^MFA_WARN_/)
  })

  it.each([
    ['Types', 'src/index.ts'],
    ['Test kit', 'src/testing/index.ts'],
  ])('lists exports that exist, and old ones that do not, in the table "%s"', async (heading, entry) => {
    const exported = await namesOf(entry)
    const isType = (code: string) => /^[A-Z]\w+$/.test(code)
    const rows = (await tableBelow(heading)).filter(([old]) => codesIn(old).some(isType))
    expect(rows.length).toBeGreaterThan(5)
    for (const [old, current] of rows) {
      const [oldNames, names] = [codesIn(old).filter(isType), codesIn(current).filter(isType)]
      for (const name of names) expect(exported, name).toContain(name)
      for (const name of oldNames) {
        if (!/^(?:PageCatalogue|Duration|MfaOptions)$/.test(name) && current !== '') {
          expect(exported, name).not.toContain(name)
        }
      }
    }
  })

  it('lists what the protocol entry no longer exports', async () => {
    const text = await read('docs/upgrading.md')
    const [, list = ''] = /no longer exports what only the plugin uses: ([^.]+)\./.exec(text) ?? []
    const exported = await namesOf('src/protocol/index.ts')
    expect(codesIn(list).length).toBeGreaterThan(5)
    for (const name of codesIn(list)) expect(exported).not.toContain(name)
  })
})
