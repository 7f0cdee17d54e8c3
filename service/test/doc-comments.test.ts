import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type Declaration, declarationsIn } from '../../test/options/declarations.js'
import { SETTING_GROUPS, SETTING_NAMES } from '../src/accounts/applications/settings.js'

const SOURCES = new URL('../src/', import.meta.url)
const read = (path: string) => readFile(new URL(path, SOURCES), 'utf8')

// `test/options/doc-comments.test.ts` covers what the service exports.

/** Whether a doc comment begins with a sentence: an upper-case word or code, three words at least, and a full stop. */
const isSentence = (doc: string) => /^[A-Z`"]/.test(doc) && /^\S+(?:\s+\S+){2,}?[.:](?:\s|$)/.test(doc)

/** The names in a declaration that lack a doc comment: its own, or those of members. */
function undocumented({ name, doc, members }: Declaration): string[] {
  const silent = members.filter((member) => !isSentence(member.doc)).map((member) => `${name}.${member.name}`)
  return isSentence(doc) ? silent : [name, ...silent]
}

/** The tables of functions that are the methods of an operator, as interfaces, so that the same scanner reads them. */
async function tablesOfMethods(): Promise<Declaration[]> {
  const files = ['operator', 'consents', 'event-operator'].map((name) => read(`operator/${name}.ts`))
  return (await Promise.all(files)).flatMap((source) => {
    const [, name = '', body = ''] = /const (\w*METHODS) = \{\n([\s\S]*?)^\}/m.exec(source) ?? []
    const members = body.replace(/^ {2}(\w+)(?:: .*)?,$/gm, '  $1:')
    return declarationsIn(`/** The table of methods. */\nexport interface ${name} {\n${members}}`)
  })
}

test('a doc comment describes every method of an operator', async () => {
  const tables = await tablesOfMethods()
  expect(tables.map(({ members }) => members.length > 5)).toEqual([true, true, true])
  expect(tables.flatMap(undocumented)).toEqual([])
})

test('a doc comment describes everything that the methods of an operator accept and return', async () => {
  const files = readdirSync(new URL('operator/', SOURCES)).map((name) => `operator/${name}`)
  const sources = await Promise.all(files.map(read))
  const [table] = await tablesOfMethods()
  const methods = table?.members.map(({ name }) => name) ?? []
  const signatures = sources.flatMap((source) =>
    [...source.matchAll(/^(?:export )?(?:async )?function (\w+)\([\s\S]*? \{$/gm)]
      .filter(([, name = '']) => methods.includes(name))
      .map(([signature]) => signature),
  )
  const used = sources
    .flatMap(declarationsIn)
    .filter(({ kind, name }) => kind === 'interface' && name !== 'Actor')
    .filter(({ name }) => signatures.some((signature) => new RegExp(`\\b${name}\\b`).test(signature)))
  expect(used.length).toBeGreaterThan(30)
  expect(used.flatMap(undocumented)).toEqual([])
})

test('a sentence and a default describe every setting, limits included', () => {
  const described = SETTING_GROUPS.flatMap(({ settings }) => settings)
  expect(described.map(({ name }) => name).sort()).toEqual([...SETTING_NAMES].sort())
  const silent = described.filter(({ hint, usual }) => !isSentence(hint.replace(/^[a-z]/, 'A')) || !usual)
  expect(silent.map(({ name }) => name)).toEqual([])
})

test.each([['run/options.ts', /^export const optionsSchema = z\.strictObject\(\{\n([\s\S]*?)^\}\)/m]])(
  'a doc comment describes every option in %s, and its default',
  async (file, pattern) => {
    const [, body = ''] = pattern.exec(await read(file)) ?? []
    // As members of an interface, so that the same scanner reads them.
    const [options] = declarationsIn(
      `export interface Options {\n${body.replace(/^ {2}(delivery),/m, '  $1:')}\n}`,
    )
    const members = options?.members ?? []
    expect(members.length).toBeGreaterThan(6)
    expect(members.filter(({ doc }) => !isSentence(doc)).map(({ name }) => name)).toEqual([])
    const saysDefault = /\bDefaults to\b|\bRequired\b|\bWithout it\b|its own default/
    expect(members.filter(({ doc }) => !saysDefault.test(doc)).map(({ name }) => name)).toEqual([])
  },
)
