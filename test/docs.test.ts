import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { markdownRenderer } from '../site/markdown.mjs'
import { sitePages } from '../site/pages.mjs'
import { slugOf } from '../site/theme/slug.mjs'
import { dialectOption } from '../src/options/dialect.js'
import { WARNINGS } from '../src/options/warnings.js'
import { NOTICE_TYPES } from '../src/pages/notices/notice.js'
import type { ProblemCode } from '../src/pages/view.js'
import { getStatus, PROBLEM_CODES } from '../src/web/http/problem.js'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

const documents = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
  },
)
  .split('\0')
  .filter((path) => path.endsWith('.md') && !path.endsWith('.template.md'))

/** The names that a Markdown table explains: code words in the first cell of its rows. */
const explained = (text: string) =>
  new Set(
    [...text.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    ),
  )

/** The addresses of a Markdown file's headings. */
const headingsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading))

describe('the documents', () => {
  it('explain every notice', async () => {
    const document = await read('docs/notices.md')
    for (const type of NOTICE_TYPES) expect(document).toContain(`| \`${type}\` |`)
  })

  it('explain every code of an answer with its status', async () => {
    const [answers = ''] = (await read('docs/errors.md')).split('## Errors')
    const headings = [...answers.matchAll(/^### (\S+)\n\n([\d, ]+)\. \S/gm)]
    expect(headings.map(([, code]) => code).sort()).toEqual([...PROBLEM_CODES].sort())
    for (const [, code, statuses = ''] of headings) {
      expect(statuses.split(', '), code).toContain(String(getStatus(code as ProblemCode)))
    }
  })

  it('explain every error class and its code', async () => {
    const sources = await Promise.all(['src/errors.ts', 'src/speech/transcription-error.ts'].map(read))
    const codes = new Set(sources.join().match(/ERR_MFA_[A-Z_]+/g))
    const named = new Set((await read('docs/errors.md')).match(/ERR_MFA_[A-Z_]+/g))
    expect([...named].sort()).toEqual([...codes].sort())
  })

  it('explain every event', async () => {
    const source = await read('src/flows/events.ts')
    const types = [...source.matchAll(/\btype: ((?:'\w+'(?: \| )?)+)/g)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    )
    const [events = ''] = (await read('docs/events.md')).split('## Metrics')
    expect([...explained(events)].filter((name) => name !== 'type').sort()).toEqual(types.sort())
  })

  it('have a section for every warning of the diagnostics, with its remedy', async () => {
    const text = await read('docs/diagnostics.md')
    const headings = [...text.matchAll(/^## (\S+)\n\n([\s\S]*?)\n\n/gm)]
    expect(
      Object.fromEntries(headings.map(([, code, remedy = '']) => [code, remedy.replaceAll('\n', ' ')])),
    ).toEqual(WARNINGS)
  })

  it('explain every part of the dialect', async () => {
    const text = await read('docs/dialect.md')
    const parts = Object.keys(dialectOption.parse('published') as object)
    for (const part of parts) expect(text).toContain(`\`${part}`)
  })

  it('name tests that exist for what people ask', async () => {
    const answers = (await read('docs/security/asked.md')).split(/^(?=\d+\. \*\*)/m).slice(1)
    expect(answers.map((answer) => Number.parseInt(answer, 10))).toEqual(
      Array.from({ length: 45 }, (_, nth) => nth + 1),
    )
    for (const answer of answers) {
      const named = [...answer.matchAll(/`([\w./-]+\.ts)`((?:,?\s+"[^"]+")+)/g)]
      expect(named.length, answer).toBeGreaterThan(0)
      expect(named.length, answer).toBe(answer.match(/`[\w./-]+\.ts`/g)?.length ?? 0)
      for (const [, path = '', titles = ''] of named) {
        const source = await read(path)
        for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) {
          expect(source.includes(`'${title}'`), `${path} has no test "${title}"`).toBe(true)
        }
      }
    }
  })

  it('name a test that exists for what fits and what does not', async () => {
    const [claims = ''] = (await read('docs/does-it-fit.md')).split('## Which one fits?')
    const rows = claims.split('\n').filter((line) => /^\| (?!your app)/.test(line))
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) {
      const named = [...(row.split('|').at(-2) ?? '').matchAll(/\]\(\.\.\/([\w./-]+\.ts)\)([^[]*)/g)]
      expect(named.length, row).toBeGreaterThan(0)
      for (const [, path = '', rest = ''] of named) {
        const source = await read(path)
        for (const [, title = ''] of rest.matchAll(/"([^"]+)"/g)) {
          expect(source.includes(`'${title}'`), `${path} has no test "${title}"`).toBe(true)
        }
      }
    }
  })

  it('are in the index by task, which lists nothing twice', async () => {
    const index = await read('docs/README.md')
    const linked = [...index.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, link = '']) => posix.join('docs', link))
    expect(linked).toEqual([...new Set(linked)])
    const pages = documents.filter((path) => /^(?:service\/)?docs\/[^/]+$|^docs\/security\//.test(path))
    expect(pages.filter((path) => path !== 'docs/README.md' && !linked.includes(path))).toEqual([])
  })

  it('close every code block', async () => {
    for (const path of documents) {
      const fences = (await read(path)).match(/^ *```/gm) ?? []
      expect([path, fences.length % 2]).toEqual([path, 0])
    }
  })

  it('show every link as a link, in the repository and on the site', { timeout: 120_000 }, async () => {
    const markdown = await markdownRenderer()
    const inRepository = await Promise.all(documents.map(async (path) => ({ path, text: await read(path) })))
    const onSite = sitePages().pages.map(({ path, text }) => ({ path: `site: ${path}`, text }))
    expect(onSite.length).toBeGreaterThan(100)
    const literal: string[] = []
    for (const { path, text } of [...inRepository, ...onSite]) {
      const html = await markdown.render(text)
      const prose = html.replaceAll(/<(pre|code)\b[\s\S]*?<\/\1>/g, '').replaceAll(/<[^<>!][^<>]*>/g, '')
      for (const [link] of prose.matchAll(/\[[^[\]]+\]\([^)\s]+\)/g)) literal.push(`${path}: ${link}`)
    }
    expect(literal).toEqual([])
  })

  it('lead nowhere that does not exist', async () => {
    for (const path of documents) {
      const folder = path.includes('/') ? path.replace(/[^/]+$/, '') : ''
      const links = [...(await read(path)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
      for (const [, file = '', heading] of links) {
        const address = file ? folder + file : path
        expect(existsSync(new URL(`../${address}`, import.meta.url)), `${path} → ${file}`).toBe(true)
        if (!heading) continue
        const target = await read(address)
        expect(headingsOf(target), `${path} → ${file}#${heading}`).toContain(heading)
      }
    }
  })
})
