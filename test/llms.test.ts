import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'

/*
 * The files for tools that write code, which are in the package: `llms.txt`, the index of its pages, and `llms-full.txt`, the pages.
 */

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

/** What package.json ships of the pages that the index names. */
const SHIPPED = /^(?:docs\/(?!README|architecture)[a-z-]+\.(?:md|json)|(?:README|SECURITY|CHANGELOG)\.md)$/

/** What is no page to read: the list of changes, and the schema of the routes. */
const NO_PAGE = /^CHANGELOG\.md$|\.json$/

interface Entry {
  readonly title: string
  /** Its path in the package. */
  readonly path: string
  readonly anchor: string
  readonly task: string
}

/** The entries of a section of the index whose pages are in the package. */
function entriesOf(section: string): Entry[] {
  const rows = [...section.matchAll(/^\| (?!you want to|-)(.+?) \| (.+) \|$/gm)]
  return rows
    .flatMap(([, task = '', links = '']) =>
      [...links.matchAll(/\[([^\]]+)\]\(([^)#]+)(#[^)]+)?\)/g)].map(
        ([, title = '', file = '', anchor = '']) => ({
          title,
          path: posix.join('docs', file),
          anchor,
          task: task.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'),
        }),
      ),
    )
    .filter(({ path }) => SHIPPED.test(path))
}

/** The sections of the index with the entries that are left. */
async function sections() {
  const [, ...parts] = (await read('docs/README.md')).split(/^## /m)
  return parts
    .map((part) => ({ heading: part.slice(0, part.indexOf('\n')), entries: entriesOf(part) }))
    .filter(({ entries }) => entries.length > 0)
}

/** The first lines of both files. */
async function head(): Promise<string> {
  const { description } = JSON.parse(await read('package.json')) as { readonly description: string }
  return `# Countersign\n\n> ${description}. The npm package is \`countersign\`.`
}

async function skills(): Promise<string[]> {
  const names = (await readdir(new URL('../skills', import.meta.url))).sort()
  return await Promise.all(
    names.map(async (name) => {
      const path = `skills/${name}/SKILL.md`
      const [, description = ''] = /^description: (.+)$/m.exec(await read(path)) ?? []
      return `- [${name}](${path}): ${description}`
    }),
  )
}

async function llms(): Promise<string> {
  const listed = (await sections()).map(
    ({ heading, entries }) =>
      `## ${heading}\n\n${entries.map(({ title, path, anchor, task }) => `- [${title}](${path}${anchor}): ${task}`).join('\n')}`,
  )
  return [
    await head(),
    'All pages in one file are in [llms-full.txt](llms-full.txt). Each skill has code to copy and a check to run. The pages of the service are in the package `@countersign/service`.',
    `## Start\n\n- [quick start](README.md#quick-start): a whole app in 20 lines`,
    `## Skills\n\n${(await skills()).join('\n')}`,
    ...listed,
  ].join('\n\n')
}

/** A page whose relative links begin at the root of the package. */
async function fromRoot(path: string): Promise<string> {
  const text = await read(path)
  return text.replaceAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g, (_, file: string, anchor = '') => {
    const target = file === '' ? path : posix.join(posix.dirname(path), file)
    return `](${target}${anchor})`
  })
}

async function llmsFull(): Promise<string> {
  const listed = (await sections()).flatMap(({ entries }) => entries.map(({ path }) => path))
  const paths = [...new Set(['README.md', ...listed])].filter((path) => !NO_PAGE.test(path))
  const pages = await Promise.all(
    paths.map(async (path) => `<!-- ${path} -->\n\n${(await fromRoot(path)).trim()}`),
  )
  return [await head(), ...pages].join('\n\n')
}

describe('the files for tools that write code', () => {
  it('are committed in their current form, as `npm run docs` writes them', async () => {
    await expect(`${await llms()}\n`).toMatchFileSnapshot('../llms.txt')
    await expect(`${await llmsFull()}\n`).toMatchFileSnapshot('../llms-full.txt')
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
      const text = await read(path)
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
