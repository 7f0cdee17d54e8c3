import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readSource } from './layering/scan.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENT = 'docs/architecture.md'
const text = readFileSync(join(ROOT, DOCUMENT), 'utf8')

/** The files that a part of the document links to, relative to the repository. */
const linkedFiles = (part: string) =>
  [...part.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => join(dirname(DOCUMENT), link))

/** The files and folders that the document names in code style. */
const namedPaths = [...text.matchAll(/`((?:src|service|example-app)\/[\w./-]*)`/g)].map(
  ([, path = '']) => path,
)

/** The part of the document below a heading. */
const sectionOf = (heading: string) =>
  text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''

interface Step {
  readonly number: string
  readonly file: string
  /** The import that connects the file to the path: the numbers of two files. */
  readonly connection: readonly [string, string] | undefined
}

const steps: readonly Step[] = sectionOf('The path of `POST /mfa/verify`')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const cells = line.split('|').map((cell) => cell.trim())
    const [, from, to] = /^`(\w+) → (\w+)`$/.exec(cells.at(-2) ?? '') ?? []
    return {
      number: cells[1] ?? '',
      file: linkedFiles(cells[2] ?? '')[0] ?? '',
      connection: from && to ? [from, to] : undefined,
    }
  })

const fileOf = (step: string) =>
  step === 'mfa' ? 'src/mfa.ts' : (steps.find(({ number }) => number === step)?.file ?? '')

describe('the description of the architecture', () => {
  it('names files and folders that exist', () => {
    const linked = linkedFiles(text)
    expect(linked.length).toBeGreaterThan(60)
    expect(namedPaths.length).toBeGreaterThan(25)
    expect([...linked, ...namedPaths].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('names every module of the plugin and every folder of the service', () => {
    const folders = ['src', 'service/src'].flatMap((root) =>
      readdirSync(join(ROOT, root), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${root}/${name}/`),
    )
    expect(folders.filter((folder) => !namedPaths.includes(folder))).toEqual([])
  })

  it('follows POST /mfa/verify through at most eight files', () => {
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => String(index + 1)))
    expect(steps.length).toBeGreaterThan(5)
    expect(steps.length).toBeLessThanOrEqual(8)
    expect(new Set(steps.map(({ file }) => file)).size).toBe(steps.length)
  })

  it.each(steps.slice(1))('connects step $number to an earlier one by a direct import', (step) => {
    const [from = '', to = ''] = step.connection ?? []
    const earlier = ['mfa', ...steps.slice(0, Number(step.number) - 1).map(({ number }) => number)]
    expect([from, to]).toContain(step.number)
    expect(earlier).toContain(from === step.number ? to : from)
    expect(readSource(fileOf(from)).imports.map((one) => one.to)).toContain(fileOf(to))
  })

  it('follows the verification of a code in the service along direct imports', () => {
    const paragraph = /^\*\*Verifying a code\.\*\*[\s\S]*?\n\n/m.exec(text)?.[0] ?? ''
    const files = linkedFiles(paragraph)
    expect(files.length).toBeGreaterThan(4)
    for (const [index, file] of files.slice(1).entries()) {
      const before = files.slice(0, index + 1)
      const importers = before.filter((one) => readSource(one).imports.some(({ to }) => to === file))
      expect(importers, file).not.toEqual([])
    }
  })

  it('names the files that answer the first questions of a new contributor', () => {
    const questions = sectionOf('Where to look first')
    const row = (words: string) => questions.split('\n').find((line) => line.includes(words)) ?? ''
    expect(linkedFiles(row('wrong code counted'))).toContain('src/limits/attempts.ts')
    expect(linkedFiles(row('`req.session` written'))).toEqual(['src/session/store.ts'])
    expect(linkedFiles(row('SMS text'))).toContain('service/src/message-texts/locales/en.ts')
  })
})
