import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const namesIn = (folder: string) => readdirSync(join(ROOT, folder))

/** Whether this is the path of a file or folder, from the root or from `src`. */
const isIn = (path: string) => ['', 'src'].some((folder) => existsSync(join(ROOT, folder, path)))

describe('the documents for contributors', () => {
  it('name files and folders that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`([\w.@/-]+)`/g)].map(([, name = '']) => name)
    const paths = named.filter((name) => /^\.?\w[\w-]*\/|^\w[\w-]*\.(?:ts|json|md)$/.test(name))
    expect(paths.length).toBeGreaterThan(30)
    // Entries of the package, and the folders that the scripts for releases and for the site make.
    const others = ['countersign/protocol', 'countersign/speech', 'release/', 'site/dist']
    expect(paths.filter((path) => !others.includes(path) && !isIn(path))).toEqual([])
  })

  it('name scripts, and tests for vitest, that exist', () => {
    const text = read('CONTRIBUTING.md')
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...text.matchAll(/(?:`|^)npm (?:run )?([\w-]+)/gm)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([])
    const tests = [...text.matchAll(/npx vitest run ((?:[\w./-]+\.ts|test\/\w+)(?: [\w./-]+)*)/g)]
    expect(tests.length).toBeGreaterThan(2)
    for (const path of tests.flatMap(([, paths = '']) => paths.split(' '))) {
      if (!path.startsWith('-')) expect(existsSync(join(ROOT, path)), path).toBe(true)
    }
  })

  it('name the Debian packages that .ci/run installs', () => {
    const [table = ''] = /\| Debian packages[\s\S]*?\n\n/.exec(read('CONTRIBUTING.md')) ?? []
    const named = [...table.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)
    const installed = [...read('.ci/run').matchAll(/missing\+=\(([\w-]+)\)/g)].map(([, name]) => name)
    // Comes with the certificates that git needs.
    expect(named.filter((name) => name !== 'openssl').sort()).toEqual(installed.sort())
  })

  it('list every decision in the order of their numbers', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$/gm)]
    const files = namesIn('docs/decisions').filter((name) => name !== 'README.md')
    expect(listed.map(([, , file]) => file)).toEqual(files.sort())
    for (const [, number, file, title] of listed) {
      expect(file).toMatch(new RegExp(`^${String(number).padStart(4, '0')}-`))
      expect(read(`docs/decisions/${file}`)).toMatch(
        new RegExp(`^# ${number}\\. ${title}\\n\\nAccepted\\.\\n`),
      )
    }
  })

  it('define each term once, by names that the sources have', () => {
    const sources = ['src', 'service/src'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => read(join(folder, name))),
    )
    const words = new Set(sources.flatMap((text) => text.match(/\w+/g) ?? []))
    const rows = [...read('docs/glossary.md').matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
    const terms = rows.map(([, term = '']) => term).filter((term) => term !== 'term' && !term.startsWith('-'))
    expect(terms.length).toBeGreaterThan(50)
    expect(terms).toEqual([...new Set(terms)])
    for (const [, term, meaning = ''] of rows) {
      for (const [, name = ''] of meaning.matchAll(/`(?:\w+\.)*(\w+)`/g)) {
        expect(words.has(name), `${term}: ${name}`).toBe(true)
      }
    }
  })
})

describe('the workflows', () => {
  const workflows = namesIn('.github/workflows').map((name) => read(`.github/workflows/${name}`))

  it('may only read, unless a job says what else it needs', () => {
    for (const text of workflows) expect(text).toMatch(/^permissions:\n {2}contents: read\n/m)
    const granted = workflows.flatMap((text) => text.match(/^ {6}[\w-]+: write$/gm) ?? [])
    expect(granted.map((line) => line.trim())).toEqual(['id-token: write', 'contents: write'])
  })

  it('use actions by the hash of a commit, with the version beside it', () => {
    const used = workflows.flatMap((text) => text.match(/^.*\buses:.*$/gm) ?? [])
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('end by themselves: each job has a time limit', () => {
    for (const text of workflows) {
      const jobs = text.slice(text.indexOf('\njobs:'))
      expect(jobs.match(/^ {4}timeout-minutes: \d+$/gm)).toHaveLength(
        jobs.match(/^ {4}runs-on: /gm)?.length ?? 0,
      )
    }
  })

  it('check on every major of Node that is supported', () => {
    expect(read('.github/workflows/ci.yml')).toContain('node: [20, 22, 24, 26]')
    expect(read('.github/workflows/ci.yml')).toContain('- run: .ci/run\n')
  })
})
