import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { type Declaration, declarationsIn, groupsIn, reexportsIn } from './declarations.js'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The declarations behind the exports of an entry, each with the name of its file. */
async function exportsOf(entry: string): Promise<(Declaration & { readonly file: string })[]> {
  const folder = new URL(entry, 'file:///').pathname.replace(/[^/]+$/, '').slice(1)
  const source = await read(entry)
  const pathOf = (file: string) => new URL(file, `file:///${folder}`).pathname.slice(1)
  const grouped = groupsIn(source).map(async (file) => {
    const path = pathOf(file)
    return declarationsIn(await read(path)).map((declaration) => ({ ...declaration, file: path }))
  })
  const named = await Promise.all(
    reexportsIn(source).map(async ({ name, file }) => {
      const path = pathOf(file)
      const found = declarationsIn(await read(path)).find((declaration) => declaration.name === name)
      if (!found) throw new Error(`${path} does not declare ${name}, which ${entry} exports`)
      return { ...found, file: path }
    }),
  )
  return [...named, ...(await Promise.all(grouped)).flat()]
}

/** The files that declare options, including those whose types no entry exports by name. */
const OPTION_FILES = [
  'src/options/options.ts',
  'src/options/keys.ts',
  'src/options/pages.ts',
  'src/options/login.ts',
  'src/options/notices.ts',
  'src/options/pages.ts',
  'src/options/urls.ts',
  'src/pages/browser/keys.ts',
  'src/pages/browser/keys.ts',
  'src/options/service.ts',
  'src/options/limits.ts',
  'src/options/outage.ts',
  'src/options/recovery.ts',
  'src/options/trust.ts',
  'src/stores/config.ts',
  'src/web/guard/rule.ts',
  'src/testing/service.ts',
  'src/testing/mfa-bypasses.ts',
  'src/testing/sign-in.ts',
]

const OPTIONS = /(?:Options|Rules|UserId|Address|Config|Table|MfaRule|ResumeField)$/

async function optionInterfaces(): Promise<Declaration[]> {
  const sources = await Promise.all(OPTION_FILES.map(read))
  return sources
    .flatMap(declarationsIn)
    .filter(({ kind, name }) => ['interface', 'class'].includes(kind) && OPTIONS.test(name))
}

/** Whether a doc comment begins with a sentence: an upper-case word or code, three words at least, and a full stop. */
const isSentence = (doc: string) => /^[A-Z`"]/.test(doc) && /^\S+(?:\s+\S+){2,}?[.:](?:\s|$)/.test(doc)

describe('doc comments', () => {
  it('describe every export and every member of an exported interface or class', () =>
    everyCase(
      [
        'src/index.ts',
        'src/pages/browser/index.ts',
        'src/protocol/index.ts',
        'src/testing/index.ts',
        'service/src/index.ts',
      ],
      async (entry) => {
        const declarations = await exportsOf(entry)
        expect(declarations.length).toBeGreaterThan(10)
        const silent = declarations.flatMap(({ file, name, doc, members }) => [
          ...(isSentence(doc) ? [] : [`${file}: ${name}: ${doc}`]),
          ...members
            .filter((member) => !isSentence(member.doc))
            .map((member) => `${file}: ${name}.${member.name}: ${member.doc}`),
        ])
        expect(silent).toEqual([])
      },
    ))

  it('describe every verb, and every member of its request and its answer', () =>
    everyCase([['verbs', 'account-factors'], ['key-verbs']], async (files) => {
      const source = (await Promise.all(files.map((name) => read(`src/protocol/${name}.ts`)))).join('\n')
      const classes = declarationsIn(source.replace(/^class /gm, 'export class '))
        .filter(({ kind }) => kind === 'class')
        .flatMap(({ name, members }) =>
          members.map((member) => ({ ...member, path: `${name}.${member.name}` })),
        )
      expect(classes.length).toBeGreaterThan(20)
      expect(classes.filter(({ doc }) => !isSentence(doc)).map(({ path, doc }) => `${path}: ${doc}`)).toEqual(
        [],
      )
    }))

  it('describe every option, and say what happens without it', async () => {
    const interfaces = await optionInterfaces()
    const options = interfaces.flatMap(({ name, members }) =>
      members.map((member) => ({ ...member, path: `${name}.${member.name}` })),
    )
    expect(interfaces.length).toBeGreaterThan(15)
    expect(options.length).toBeGreaterThan(60)
    expect(options.filter(({ doc }) => !isSentence(doc)).map(({ path }) => path)).toEqual([])
    const saysDefault = /\b(?:Defaults to|By default|Off unless given|have defaults)\b|^Called /
    const undecided = options.filter(({ isOptional, doc }) => isOptional && !saysDefault.test(doc))
    expect(undecided.map(({ path }) => path)).toEqual([])
  })
})

describe('the scanner of declarations', () => {
  it('finds exports with their comments and members', () => {
    const source = [
      '/** Not exported. */',
      'interface Inner {}',
      '',
      '/**',
      ' * Two lines',
      ' * of text.',
      ' */',
      'export interface Outer<T> {',
      '  /** The first. */',
      '  readonly one?: T | undefined',
      '  two(): void',
      '  /** The third. */',
      '  three: {',
      '    inner: string',
      '  }',
      '}',
      '/** A function. */',
      'export async function run(',
      '  argument: string,',
      '): Promise<void> {}',
    ].join('\n')
    expect(declarationsIn(source)).toEqual([
      {
        kind: 'interface',
        name: 'Outer',
        doc: 'Two lines of text.',
        members: [
          { name: 'one', doc: 'The first.', isOptional: true },
          { name: 'two', doc: '', isOptional: false },
          { name: 'three', doc: 'The third.', isOptional: false },
        ],
      },
      { kind: 'function', name: 'run', doc: 'A function.', members: [] },
    ])
  })

  it('finds what an entry exports', () => {
    const entry = "export { a, type B } from './x.js'\nexport type { C as D } from '../y.js'\n"
    expect(reexportsIn(entry)).toEqual([
      { name: 'a', file: './x.ts' },
      { name: 'B', file: './x.ts' },
      { name: 'C', file: '../y.ts' },
    ])
  })
})
