import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type FilesOfVerification, filesOfVerification } from './kit/files-of-verification.js'
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

  it('shows modules that exist in its diagrams', () => {
    for (const [title, folder] of [
      ['Modules of the plugin', 'src'],
      ['Modules of the service', 'service/src'],
    ] as const) {
      const labels = [...sectionOf(title).matchAll(/\["([^:"]+)/g)].map(([, label = '']) => label)
      const modules = labels.flatMap((label) => label.match(/[\w-]+(?:\/|\.ts\b)/g) ?? [])
      expect(modules.length).toBeGreaterThanOrEqual(8)
      expect(modules.filter((name) => !existsSync(join(ROOT, folder, name)))).toEqual([])
    }
  })

  it.each(steps.slice(1))('connects step $number to an earlier one by a direct import', (step) => {
    const [from = '', to = ''] = step.connection ?? []
    const earlier = ['mfa', ...steps.slice(0, Number(step.number) - 1).map(({ number }) => number)]
    expect([from, to]).toContain(step.number)
    expect(earlier).toContain(from === step.number ? to : from)
    expect(readSource(fileOf(from)).imports.map((one) => one.to)).toContain(fileOf(to))
  })

  it('names the files that answer the first questions of a new contributor', () => {
    const questions = sectionOf('Where to look first')
    const row = (words: string) => questions.split('\n').find((line) => line.includes(words)) ?? ''
    expect(linkedFiles(row('wrong code counted'))).toContain('src/stores/limits/attempts.ts')
    expect(linkedFiles(row('`req.session` written'))).toEqual(['src/session/store.ts'])
    expect(linkedFiles(row('SMS text'))).toContain('service/src/messages/texts/locales/en.ts')
  })
})

/** The files of the service that its paragraph about a verification links to. */
const serviceSteps = [
  ...new Set(linkedFiles(/^\*\*Verifying a code\.\*\*[\s\S]*?\n\n/m.exec(text)?.[0] ?? '')),
]

describe('the files that one verification runs', () => {
  let ran: FilesOfVerification
  beforeAll(async () => {
    ran = await filesOfVerification()
  })

  it('have at most 5,420 lines of code in the plugin, and at most 3,240 in the service', () => {
    const isCode = (line: string) => line !== '' && !/^\s*(?:\/\*|\*|\/\/)/.test(line)
    const linesOf = (files: readonly string[]) =>
      files.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').filter(isCode)).length
    expect(linesOf(ran.plugin), ran.plugin.join('\n')).toBeLessThanOrEqual(5_420)
    expect(linesOf(ran.service), ran.service.join('\n')).toBeLessThanOrEqual(3_240)
    expect(Math.min(ran.plugin.length, ran.service.length)).toBeGreaterThan(8)
  })

  it('have among them the files to read, which are at most eight of each program', () => {
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => String(index + 1)))
    const toRead = steps.map(({ file }) => file)
    for (const files of [toRead, serviceSteps]) {
      expect(files.length).toBeGreaterThan(5)
      expect(new Set(files).size).toBe(files.length)
      expect(files.length).toBeLessThanOrEqual(8)
    }
    expect(ran.plugin).toEqual(expect.arrayContaining(toRead))
    expect(ran.service).toEqual(expect.arrayContaining(serviceSteps))
  })
})
