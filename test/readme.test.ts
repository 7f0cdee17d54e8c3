import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFile(new URL(path, `file://${ROOT}`), 'utf8')

/** The result of a function of the benchmark's report, for a page of figures. */
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
  it('has at most 145 lines, and lines of code that phones and narrow windows show whole', async () => {
    const readme = await read('README.md')
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(145)
    const code = [...readme.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      block.split('\n'),
    )
    expect(code.length).toBeGreaterThan(30)
    expect(code.filter((line) => line.length > 90)).toEqual([])
  })

  it('begins with the two commands of a fresh copy, of which .ci/run runs the one with the tests', async () => {
    const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(await read('README.md')) ?? []
    const commands = block.trimEnd().split('\n')
    expect(commands.map((line) => line.replace(/ +#.*/, ''))).toEqual(['npm ci && npm start', 'npm cit'])
    const steps = (await read('.ci/run')).split('\n')
    expect(steps.filter((line) => /^npm /.test(line))[0]).toBe('npm cit')
    // The commands that `npm cit` is short for: `npm ci`, then this script.
    const { scripts } = JSON.parse(await read('package.json'))
    expect(scripts.test).toMatch(/^npm run -s build && vitest run /)
    expect(scripts.start).toContain('-w example-app')
  })

  it('says in one line under which license it is, and that it is not published', async () => {
    const { license, version } = JSON.parse(await read('package.json'))
    expect(await read('README.md')).toContain(
      `\n[${license} license](LICENSE). Version ${version}, not in a registry yet. `,
    )
  })

  it('has one figure in each cell of its table', async () => {
    const rows = (await read('README.md')).split('\n').filter((line) => /^\| .*\d\.\d/.test(line))
    expect(rows.length).toBeGreaterThan(5)
    for (const row of rows) {
      for (const cell of row.split('|').slice(2, -1)) expect(cell).toMatch(/^ \d+\.\d+ $/)
    }
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
