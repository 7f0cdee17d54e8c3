import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { llms, llmsFull, SHIPPED } from '../scripts/llms.mjs'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

describe('the files for tools that write code', () => {
  it('have an index that is committed in its current form, as `npm run generate` writes it', async () => {
    await expect(`${await llms()}\n`).toMatchFileSnapshot('../llms.txt')
  })

  it('name every page in docs that the package has', async () => {
    const text = await llms()
    const pages = (await readdir(new URL('../docs', import.meta.url))).filter((name) =>
      SHIPPED.test(`docs/${name}`),
    )
    expect(pages.length).toBeGreaterThan(15)
    expect(pages.filter((name) => !text.includes(`(docs/${name}`))).toEqual([])
  })

  it('lead to headings that exist', async () => {
    for (const [, path = '', anchor] of (await llms()).matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
      // Packing makes the full text: a checkout doesn't have it.
      const text = path === 'llms-full.txt' ? await llmsFull() : await read(path)
      const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      )
      if (anchor) expect(headings, `${path}#${anchor}`).toContain(anchor)
    }
  })

  it('has every page once in the full text, after its path', async () => {
    const marks = (await llmsFull()).match(/^<!-- [\w/.-]+\.md -->$/gm) ?? []
    expect(marks.length).toBeGreaterThan(15)
    expect(marks).toEqual([...new Set(marks)])
    expect(marks).toContain('<!-- SECURITY.md -->')
  })
})
