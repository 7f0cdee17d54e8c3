/*
 * Builds the site from the documents: `npm run site`, or `npm run site -- --base /docs/countersign/` for a site below a path. The
 * result is in `site/dist`; any server of files can serve it.
 */

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { sitePages } from './pages.mjs'

const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, out: { type: 'string' } },
})
const base = values.base
if (!/^\/(?:[\w.-]+\/)*$/.test(base)) {
  console.error(`--base must begin and end with a slash, such as /docs/countersign/, not ${base}`)
  process.exit(1)
}

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = here('.pages')
rmSync(source, { recursive: true, force: true })

const { pages, assets, sidebar } = sitePages()
for (const { path, text } of pages) write(join(source, path), text)
for (const asset of assets) cpSync(here(`../${asset}`), join(source, 'public', asset))
cpSync(here('theme'), join(source, '.vitepress'), { recursive: true })
cpSync(here('theme/public'), join(source, 'public'), { recursive: true })
write(join(source, '.vitepress/site.json'), JSON.stringify({ base, sidebar }))

await build(source, { base, outDir: values.out ?? here('dist') })

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
