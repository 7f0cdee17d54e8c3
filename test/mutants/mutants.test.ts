import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { mutantsOf, withMutants } from './mutants.js'

const readJson = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
const guarded: { files: string[]; tests: string[] }[] = readJson('guarded.json')
const explained: Record<string, Record<string, string>> = readJson('explained.json')

const namesIn = (source: string) => mutantsOf(source).map(({ name }) => name)

describe('a mutant', () => {
  it('leaves out a guard, an operand, a statement or an argument, or turns a decision around', () =>
    everyCase(
      [
        ['function a(b) { if (b) return 1 }', ['a: b → false']],
        ['function a(b, c) { return b && c.has(1) }', ['a: b → true', 'a: c.has(1) → true']],
        ['function a(b, c) { if (b || !c) throw b }', ['a: b → false', 'a: !c → false']],
        ['const a = (b) => { b() }', ['a: b() → nothing']],
        ['const a = (b) => b === 1 ? 2 : 3', ['a: b === 1 → !(b === 1)']],
        ['const a = () => b(1, true)', ['a: b(… true) → b(…)', 'a: true → false']],
        ['const a = () => b(1, false)', ['a: false → true']],
        [
          'const a = (endsAt) => endsAt < 1',
          ['a: endsAt < 1 → !(endsAt < 1)', 'a: endsAt < 1 → endsAt <= 1'],
        ],
        ['const a = (b: true) => b as true', []],
      ] as const,
      ([source, names]) => expect(namesIn(source).toSorted()).toEqual([...names].toSorted()),
    ))

  it('takes each condition of a statement in SQL as met', () =>
    everyCase(
      [
        [
          "const a = () => 'DELETE FROM b WHERE c = $1 AND d IS NULL RETURNING e'",
          ['a: c = $1 → TRUE', 'a: d IS NULL → TRUE'],
        ],
        [
          'const a = () => `SELECT FROM b WHERE (c OR d = ANY ($1)) ORDER BY e`',
          ['a: (c OR d = ANY ($1)) → TRUE', 'a: c → FALSE', 'a: d = ANY ($1) → FALSE'],
        ],
      ] as const,
      ([source, names]) => expect(namesIn(source).toSorted()).toEqual([...names].toSorted()),
    ))

  it('is active alone, while all are in the source', () => {
    const source = 'function open(user, lock) {\n  seen(user)\n  return user.ok && !lock\n}'
    const mutants = mutantsOf(source)
    const run = (name?: string) => {
      const seen: unknown[] = []
      const active = mutants.findIndex((mutant) => mutant.name === name)
      Reflect.set(globalThis, 'mutant', (index: number) => index === active)
      Reflect.set(globalThis, 'mutantCompared', (value: unknown) => value)
      const open = new Function('seen', `${withMutants(source, mutants)}; return open`)((user: unknown) =>
        seen.push(user),
      )
      const answers = [open({ ok: true }, false), open({ ok: true }, true), open({ ok: false }, false)]
      Reflect.deleteProperty(globalThis, 'mutant')
      Reflect.deleteProperty(globalThis, 'mutantCompared')
      return [...answers, seen.length]
    }
    expect(run()).toEqual([true, false, false, 3])
    expect(run('open: seen(user) → nothing')).toEqual([true, false, false, 0])
    expect(run('open: user.ok → true')).toEqual([true, false, true, 3])
    expect(run('open: !lock → true')).toEqual([true, true, false, 3])
  })
})

describe('a condition and what replaces it', () => {
  it('are compared, to find the tests that can notice a difference, unless the condition waits', async () => {
    const source =
      'async function open(user, until) {\n  if (await user.ask() || until < user.now) return 1\n}'
    const mutants = mutantsOf(source)
    const differs: (string | undefined)[] = []
    Reflect.set(globalThis, 'mutant', () => false)
    Reflect.set(globalThis, 'mutantCompared', (value: boolean, ...pairs: (number | (() => boolean))[]) => {
      for (let at = 0; at < pairs.length; at += 2) {
        const [index, other] = pairs.slice(at, at + 2)
        if (typeof other === 'function' && other() !== value) differs.push(mutants[Number(index)]?.name)
      }
      return value
    })
    const open = new Function(`${withMutants(source, mutants)}; return open`)()
    const opened = await open({ ask: () => false, now: 5 }, 5)
    Reflect.deleteProperty(globalThis, 'mutant')
    Reflect.deleteProperty(globalThis, 'mutantCompared')
    expect(opened).toBeUndefined()
    expect(differs).toEqual(['open: until < user.now → until <= user.now'])
    expect(mutants.filter(({ compares }) => !compares).map(({ name }) => name)).toContain(
      'open: await user.ask() → false',
    )
  })
})

describe('the list of the files that decide', () => {
  it('names files and tests that exist', () => {
    const paths = guarded.flatMap(({ files, tests }) => [...files, ...tests])
    expect(paths.length).toBeGreaterThan(50)
    expect(paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([])
  })

  it('has mutants of each, every one with a name of its own', () => {
    for (const { files } of guarded) {
      const all = files.map((file) =>
        namesIn(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')),
      )
      for (const names of all) {
        expect(names.length, files.join()).toBeGreaterThan(0)
        expect(names, files.join()).toEqual([...new Set(names)])
      }
      expect(all.flat().length, files.join()).toBeGreaterThan(10)
    }
  })

  it('explains only mutants that exist', () => {
    for (const [file, reasons] of Object.entries(explained)) {
      const names = namesIn(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
      expect(Object.keys(reasons).filter((name) => !names.includes(name) || !reasons[name])).toEqual([])
    }
  })
})
