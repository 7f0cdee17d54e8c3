import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFile(new URL(path, `file://${ROOT}`), 'utf8')

/** What a function of the benchmark's report returns, for a page of figures. */
function costsOf(page: string): string {
  const script = `import { costs } from './bench/report/readme-figures.mjs'; process.stdout.write(costs(process.env.PAGE))`
  const env = { PATH: process.env.PATH ?? '', PAGE: page }
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  })
}

describe('the README', () => {
  it('has at most 120 lines', async () => {
    expect((await read('README.md')).trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })

  it('begins with the first lines, and says after them why there is a service', async () => {
    const readme = await read('README.md')
    expect(/^## (.+)$/m.exec(readme)?.[1]).toBe('Quick start')
    const parts = ['app.use(mfaRouter({', '```diff', '## Why there is a service'].map((text) =>
      readme.indexOf(text),
    )
    expect(parts).not.toContain(-1)
    expect(parts).toEqual(parts.toSorted((one, other) => one - other))
  })

  it('shows pictures that exist, for browsers in light and in dark', async () => {
    const shown = [...(await read('README.md')).matchAll(/(?:src|srcset)="([^"]+)"/g)].map(
      ([, path = '']) => path,
    )
    expect(shown).toEqual(['docs/images/pages-dark.png', 'docs/images/pages-light.png'])
    expect(shown.filter((path) => !existsSync(new URL(path, `file://${ROOT}`)))).toEqual([])
  })

  it('quotes the costs of the page of the benchmark', async () => {
    expect(await read('README.md')).toContain(
      `<!-- begin: written by npm run bench -->\n${costsOf(await read('bench/performance.md'))}\n<!-- end: written by npm run bench -->`,
    )
  })

  it('says how many security requirements are tested, and how many are planned', async () => {
    const rows = [...(await read('docs/security/requirements.md')).matchAll(/^\| R\d+ \| (\*Planned\.\*)?/gm)]
    const planned = rows.filter(([, mark]) => mark !== undefined).length
    const readme = await read('README.md')
    expect(rows.length).toBeGreaterThan(100)
    expect(readme).toContain(`Each of ${rows.length - planned} [security requirements]`)
    expect(readme).toContain(`(${planned} more are planned)`)
  })
})
