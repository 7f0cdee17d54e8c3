#!/usr/bin/env node
/*
 * The files for tools that write code, which are in the package: `llms.txt`, the index of its pages, which is in the repository, and
 * `llms-full.txt`, the pages, which this command writes when the package is packed.
 *
 * usage: node scripts/llms.mjs
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The text of a file of the repository. */
const read = (path) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

/** The pages of the index that package.json ships. */
export const SHIPPED =
  /^(?:docs\/(?!README|architecture)[a-z-]+\.(?:md|json)|(?:README|SECURITY|CHANGELOG)\.md)$/

/** Files that are no pages to read: the list of changes, and the schema of the routes. */
const NO_PAGE = /^CHANGELOG\.md$|\.json$/

/** The entries of a section of the index whose pages are in the package. */
function entriesOf(section) {
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
async function head() {
  const { description } = JSON.parse(await read('package.json'))
  return `# Countersign\n\n> ${description}. The npm package is \`countersign\`.`
}

async function skills() {
  const names = (await readdir(new URL('../skills', import.meta.url))).sort()
  return await Promise.all(
    names.map(async (name) => {
      const path = `skills/${name}/SKILL.md`
      const [, description = ''] = /^description: (.+)$/m.exec(await read(path)) ?? []
      return `- [${name}](${path}): ${description}`
    }),
  )
}

/** The text of `llms.txt`. */
export async function llms() {
  const listed = (await sections()).map(
    ({ heading, entries }) =>
      `## ${heading}\n\n${entries.map(({ title, path, anchor, task }) => `- [${title}](${path}${anchor}): ${task}`).join('\n')}`,
  )
  return [
    await head(),
    'All pages in one file are in [llms-full.txt](llms-full.txt). Each skill has code to copy and a check to run. The pages of the service are in the package `@countersign/service`.',
    `## Start\n\n- [quick start](README.md#quick-start): a whole app in one file`,
    `## Skills\n\n${(await skills()).join('\n')}`,
    ...listed,
  ].join('\n\n')
}

/** A page whose relative links begin at the root of the package. */
async function fromRoot(path) {
  const text = await read(path)
  return text.replaceAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g, (_, file, anchor = '') => {
    const target = file === '' ? path : posix.join(posix.dirname(path), file)
    return `](${target}${anchor})`
  })
}

/** The text of `llms-full.txt`. */
export async function llmsFull() {
  const listed = (await sections()).flatMap(({ entries }) => entries.map(({ path }) => path))
  const paths = [...new Set(['README.md', ...listed])].filter((path) => !NO_PAGE.test(path))
  const pages = await Promise.all(
    paths.map(async (path) => `<!-- ${path} -->\n\n${(await fromRoot(path)).trim()}`),
  )
  return [await head(), ...pages].join('\n\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(new URL('../llms-full.txt', import.meta.url), `${await llmsFull()}\n`)
}
