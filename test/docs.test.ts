import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { dialectOption } from '../src/client/dialect.js'
import { WARNINGS } from '../src/diagnostics/warnings.js'
import { PROBLEM_CODES, statusOf } from '../src/http/problem.js'
import { NOTICE_TYPES } from '../src/notices/notice.js'
import type { ProblemCode } from '../src/pages/view.js'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

/** The names that a Markdown table explains: code words in the first cell of its rows. */
const explained = (text: string) =>
  new Set(
    [...text.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    ),
  )

/** The addresses of a Markdown file's headings. */
const headingsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

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
      expect(statuses.split(', '), code).toContain(String(statusOf(code as ProblemCode)))
    }
  })

  it('explain every error class and its code', async () => {
    const codes = new Set((await read('src/errors.ts')).match(/ERR_MFA_[A-Z_]+/g))
    const named = new Set((await read('docs/errors.md')).match(/ERR_MFA_[A-Z_]+/g))
    expect([...named].sort()).toEqual([...codes].sort())
  })

  it('explain every event', async () => {
    const source = await read('src/flows/events.ts')
    const types = [...source.matchAll(/\btype: '(\w+)'/g)].map(([, type = '']) => type)
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
    const unanswered = answers.filter((answer) => /\bNot there\b/.test(answer))
    expect(unanswered.map((answer) => Number.parseInt(answer, 10))).toEqual([33])
    for (const answer of answers) {
      const named = [...answer.matchAll(/`([\w./-]+\.ts)`((?:,?\s+"[^"]+")+)/g)]
      expect(named.length > 0, answer).toBe(!unanswered.includes(answer))
      expect(named.length, answer).toBe(answer.match(/`[\w./-]+\.ts`/g)?.length ?? 0)
      for (const [, path = '', titles = ''] of named) {
        const source = await read(path)
        for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) {
          expect(source.includes(`'${title}'`), `${path} has no test "${title}"`).toBe(true)
        }
      }
    }
  })

  it('lead nowhere that does not exist', async () => {
    for (const path of [
      'README.md',
      'SECURITY.md',
      'docs/architecture.md',
      'docs/options.md',
      'docs/errors.md',
      'docs/dialect.md',
      'docs/security/asked.md',
      'docs/diagnostics.md',
      'docs/outage.md',
      'docs/events.md',
      'docs/trusted-devices.md',
      'docs/keys.md',
      'docs/notices.md',
      'docs/testing.md',
      'docs/sessions.md',
      'docs/connections.md',
      'docs/upgrading.md',
      'docs/getting-started.md',
      'recipes/README.md',
      'recipes/google-and-magic-link/README.md',
      'recipes/nestjs/README.md',
      'recipes/password-commonjs/README.md',
      'recipes/postgresql/README.md',
      'recipes/redis-nginx/README.md',
      'recipes/spa-typescript/README.md',
      'recipes/websockets/README.md',
    ]) {
      const folder = path.includes('/') ? path.replace(/[^/]+$/, '') : ''
      const links = [...(await read(path)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
      for (const [, file = '', heading] of links) {
        const target = await read(file ? folder + file : path)
        if (heading) expect(headingsOf(target), `${path} → ${file}#${heading}`).toContain(heading)
      }
    }
  })
})
