import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, installService, ROOT, TARBALL } from './kit.js'

const run = promisify(execFile)

describe('the packed package', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({})
  })

  afterAll(() => project.dispose())

  /** Runs a tool of this repository on the tarball. */
  const check = (tool: string, ...args: readonly string[]) =>
    run(join(ROOT, 'node_modules/.bin', tool), [TARBALL, ...args], { cwd: project.folder }).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string; readonly stderr: string }) => {
        throw new Error(`${tool} found:\n${error.stdout}${error.stderr}`)
      },
    )

  it('contains the files that it needs to run, and no others', async () => {
    const unexpected = project.files.filter(
      (file) =>
        !/^(dist\/(bin\/(countersign|commands)\.cjs|cjs\/[a-z-]+\.cjs|esm\/[a-z-]+\.(mjs|d\.mts)|types\/(.*\.d\.ts|package\.json)|pages\/mfa-keys\.js|licenses\/(pngjs|qr|zod|simplewebauthn-browser)\.txt)|assets\/mfa\.(css|js)|locales\/(pages|notices)\/[a-zA-Z-]+\.json|docs\/([a-zA-Z-]+\.md|openapi\.json)|recipes\/[\w./-]+|skills\/[a-z-]+\/SKILL\.md|llms(-full)?\.txt|(README|CHANGELOG|SECURITY)\.md|LICENSE|package\.json)$/.test(
          file,
        ),
    )
    expect(unexpected).toEqual([])
    expect(project.files).toContain('dist/cjs/index.cjs')
    expect(project.files).toContain('assets/mfa.css')
    expect(project.files).toContain('locales/pages/zh-Hans.json')
    expect(project.files).toContain('llms-full.txt')
    expect(project.files.filter((file) => file.startsWith('skills/'))).toHaveLength(3)
    // Parts of zod are in the bundle, and SimpleWebAuthn in what runs in browsers.
    expect(project.files).toContain('dist/licenses/zod.txt')
    expect(project.files).toContain('dist/licenses/simplewebauthn-browser.txt')
    expect(project.files).toContain('dist/pages/mfa-keys.js')
    const { size } = await stat(join(project.folder, TARBALL))
    // The declarations are 130 KB of it, the texts in 13 languages 100 KB, the documents 105 KB and once more
    // 68 KB as one text for tools, the recipes 40 KB, the parts of zod 38 KB, and the commands 58 KB.
    expect(size).toBeLessThan(950_000)
  })

  it('has documents whose relative links all lead to files of the package', async () => {
    const { links, broken } = await linksIn(join(project.folder, 'node_modules/countersign'), project.files)
    expect(links).toBeGreaterThan(400)
    expect(broken).toEqual([])
    const readme = await readFile(join(project.folder, 'node_modules/countersign/README.md'), 'utf8')
    // The package has no address yet, so what it leaves out is named by its path.
    expect(readme).toContain(' `CONTRIBUTING.md` says how')
    expect(readme).not.toContain('<picture>')
  })

  it('holds no report of a benchmark, and no document of the service', () => {
    expect(
      project.files.filter((file) => /^(?:bench|service)\/|^docs\/(?:performance|asked|asyncapi)/.test(file)),
    ).toEqual([])
  })

  it('has small CommonJS entries that only export, since Node reads an imported CommonJS file twice', async () => {
    const sizes = ['index', 'protocol', 'speech', 'testing'].map(async (entry) => {
      const { size } = await stat(join(project.folder, `node_modules/countersign/dist/cjs/${entry}.cjs`))
      return size
    })
    expect(Math.max(...(await Promise.all(sizes)))).toBeLessThan(5_000)
  })

  it('contains declarations only of source files that exist', () => {
    const declarations = project.files.filter(
      (file) => file.startsWith('dist/types/') && file.endsWith('.d.ts'),
    )
    const sources = declarations.map((file) => file.replace('dist/types/', 'src/').replace('.d.ts', '.ts'))
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([])
  })

  it('contains every document for its users that its README links', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    const pages = [...readme.matchAll(/\]\(((?:docs\/|[A-Z]+\.md)[^)#]*)/g)].map(([, page]) => page)
    const forContributors = /^(?:CONTRIBUTING\.md$|docs\/(?:security|decisions)\/)/
    const forUsers = pages.filter((page = '') => !forContributors.test(page))
    expect(forUsers.length).toBeGreaterThan(5)
    expect(forUsers.filter((page = '') => !project.files.includes(page))).toEqual([])
  })

  it('passes publint, including its suggestions', async () => {
    expect(await check('publint', '--strict')).toContain('All good!')
  })

  it('passes attw for every entry and every module resolution', async () => {
    const report = JSON.parse(await check('attw', '--format', 'json'))
    expect(Object.keys(report.analysis.entrypoints)).toEqual([
      '.',
      './protocol',
      './speech',
      './testing',
      './browser',
      './package.json',
    ])
    expect(report.analysis.problems).toEqual([])
  })
})

/** The relative links of the documents in a folder, and those that lead nowhere. */
async function linksIn(folder: string, files: readonly string[]) {
  const broken: string[] = []
  let links = 0
  for (const path of files.filter((file) => /\.(?:md|txt)$/.test(file))) {
    const text = (await readFile(join(folder, path), 'utf8')).replaceAll(/^```[\s\S]*?^```$/gm, '')
    for (const [, markdown, html] of text.matchAll(
      /\]\((?![a-z]+:|#)([^)#\s]+)|(?:src|srcset|href)="(?!https?:)([^"#]+)"/g,
    )) {
      const link = markdown ?? html ?? ''
      links++
      if (!existsSync(join(folder, dirname(path), link))) broken.push(`${path} → ${link}`)
    }
  }
  return { links, broken }
}

describe('the packed service', () => {
  it('has documents whose relative links all lead to files of the package', async () => {
    const project = await consumer({})
    try {
      const folder = dirname(dirname(dirname(await installService(project))))
      const files = await readdir(folder, { recursive: true })
      const { links, broken } = await linksIn(
        folder,
        files.filter((file) => !file.includes('node_modules')),
      )
      expect(links).toBeGreaterThan(50)
      expect(broken).toEqual([])
    } finally {
      await project.dispose()
    }
  })

  it('contains the licenses of what is in its bundle, and nothing that only tests use', async () => {
    const project = await consumer({})
    try {
      const dist = dirname(dirname(await installService(project)))
      const files = await readdir(dist, { recursive: true })
      const scripts = files.filter((file) => file.endsWith('.js') && !file.startsWith('chunks/'))
      expect(scripts.sort()).toEqual(['cli/main.js', 'index.js', 'main.js', 'make-empty-database.js'])
      expect((await readdir(join(dist, 'licenses'))).sort()).toEqual(['zod-openapi.txt', 'zod.txt'])
    } finally {
      await project.dispose()
    }
  })
})
