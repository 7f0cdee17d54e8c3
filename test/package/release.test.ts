import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../kit/patience.js'
import { environment, startProcess } from '../kit/process.js'
import { consumer, EXPRESS_APP, installService, ROOT } from './kit.js'

const run = promisify(execFile)

const REPOSITORY = { type: 'git', url: 'git+https://git.example/countersign.git' }

const AUTHOR = {
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}

/** A clone of this repository with the changes of its working tree, in which a release is made. */
interface Copy {
  readonly folder: string
  /** Runs a command there. Returns its output; throws with its error output when it fails. */
  command(program: string, ...args: readonly string[]): Promise<string>
  commit(subject: string): Promise<unknown>
  readJson(path: string): Promise<Record<string, unknown>>
  /** Replaces the JSON of a file by what `change` makes of it. */
  changeJson(path: string, change: (json: Record<string, unknown>) => unknown): Promise<void>
}

async function copyOfThisTree(): Promise<Copy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-release-')))
  const command = async (program: string, ...args: readonly string[]) =>
    (
      await run(program, args, { cwd: folder, env: environment(AUTHOR), maxBuffer: 64 * 1024 * 1024 }).catch(
        (error: { readonly stdout: string; readonly stderr: string }) => {
          throw new Error(`${program} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`)
        },
      )
    ).stdout
  await command('git', 'clone', '--quiet', '--no-hardlinks', ROOT, '.')
  // A change that is not committed yet is released too, as on a commit.
  const { stdout } = await run('git', ['status', '--porcelain', '-z', '--no-renames', '-uall'], { cwd: ROOT })
  for (const line of stdout.split('\0').filter(Boolean)) {
    const path = line.slice(3)
    await cp(join(ROOT, path), join(folder, path)).catch(() => rm(join(folder, path), { force: true }))
  }
  const { workspaces } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  for (const workspace of ['.', ...workspaces]) await linkModules(workspace, folder, workspaces)
  // It depends on the version of PGlite only, and a build makes it where it is missing.
  const database = 'service/empty-database'
  await cp(join(ROOT, database), join(folder, database), { recursive: true })
  const readJson = async (path: string) => JSON.parse(await readFile(join(folder, path), 'utf8'))
  return {
    folder,
    command,
    async commit(subject) {
      await command('git', 'add', '--all')
      await command('git', 'commit', '--quiet', '--no-verify', '--message', subject)
    },
    readJson,
    async changeJson(path, change) {
      const json = await readJson(path)
      change(json)
      await writeFile(join(folder, path), `${JSON.stringify(json, null, 2)}\n`)
    },
  }
}

/** Installs in a workspace of the copy what this repository has there, except its own packages, which are those of the copy. */
async function linkModules(workspace: string, folder: string, workspaces: readonly string[]) {
  const from = join(ROOT, workspace, 'node_modules')
  const to = join(folder, workspace, 'node_modules')
  const names = await readdir(from).catch(() => [])
  await mkdir(to, { recursive: true })
  const own = [
    'countersign',
    '@countersign',
    ...workspaces.map((path) => path.replace('test/package', 'package-tests')),
  ]
  // Caches belong to the tree that wrote them.
  for (const name of names.filter((module) => !own.includes(module) && !/^\.(?!bin)/.test(module))) {
    // A compiler follows links, and would name what it infers after the other tree.
    if (name === '@types') await cp(join(from, name), join(to, name), { recursive: true })
    else await symlink(join(from, name), join(to, name))
  }
  if (workspace !== '.') return
  await symlink('..', join(to, 'countersign'))
  await mkdir(join(to, '@countersign'))
  await symlink('../../service', join(to, '@countersign/service'))
}

describe('a release of this tree', () => {
  let copy: Copy
  let version = ''
  let next = ''

  beforeAll(async () => {
    copy = await copyOfThisTree()
    // The work that the documented steps leave to the maintainer.
    for (const path of ['package.json', 'service/package.json'])
      await copy.changeJson(path, (manifest) => Object.assign(manifest, { repository: REPOSITORY }))
    version = String((await copy.readJson('package.json')).version)
    const [major = '', minor = ''] = version.split('.')
    next = `${major}.${Number(minor) + 1}.0`
    // After a release, until the version is raised.
    await copy.command('git', 'tag', '--delete', `v${version}`).catch(() => {})
    const changelog = await readFile(join(copy.folder, 'CHANGELOG.md'), 'utf8')
    const heading = changelog.includes(`\n## ${version} (`) ? `## ${version} (` : '## '
    const dated = changelog
      .replace(new RegExp(`^${heading.replace('(', '\\(')}.*$`, 'm'), `## ${version} (2026-11-30)`)
      .replace('\n## ', `\n## ${next} (2026-12-14)\n\n- Codes are shorter.\n\n## `)
    await writeFile(join(copy.folder, 'CHANGELOG.md'), dated)
    await copy.commit('Set the repository and the dates')
  })

  afterAll(() => rm(copy?.folder ?? '', { recursive: true, force: true }))

  it('needs nothing but an address of the repository and a date', async () => {
    const leftOver = join(copy.folder, 'left-over.txt')
    await writeFile(leftOver, '')
    // The only reason to refuse it, so that nothing is built.
    const refused = await copy.command('node', 'scripts/release.mjs', '--skip-checks').catch(String)
    expect(refused.trim().split('\n').slice(1)).toEqual([
      `v${version} cannot be released:`,
      '- The working tree has changes: commit or remove them.',
    ])
    await rm(leftOver)
  })

  it('is refused while a place has another version', async () => {
    const [name = ''] = (await copy.command('git', 'ls-files', 'recipes/*/package.json')).split('\n')
    const places = ['example-app/package.json', 'site/package.json', 'package-lock.json', name, 'README.md']
    for (const path of places) {
      const text = await readFile(join(copy.folder, path), 'utf8')
      await writeFile(join(copy.folder, path), text.replaceAll(version, '0.0.9'))
      const refused = await copy.command('node', 'scripts/release.mjs', '--skip-checks').catch(String)
      expect(refused).toMatch(new RegExp(`\n- ${path}\\b.*: expected \\^?${version}`))
      expect(refused).toContain(`run node scripts/set-version.mjs ${version}, and commit`)
      await writeFile(join(copy.folder, path), text)
    }
    expect(await copy.command('node', 'scripts/set-version.mjs')).toBe('')
  })

  // Builds both packages.
  it(
    'of the next version is four files, notes and a tag, installs from its tarballs, and starts',
    async () => {
      await copy.command('node', 'scripts/set-version.mjs', next)
      // Fails without fetching anything when the lock file and a manifest differ.
      await copy.command('npm', 'ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit')
      await cp(join(copy.folder, 'test/releases', version), join(copy.folder, 'test/releases', next), {
        recursive: true,
      })
      await copy.commit('Set the version')
      const out = await copy.command('npm', 'run', '-s', 'release', '--', '--skip-checks', '--tag')
      expect(out).toContain(`Made the tag v${next}.`)
      expect((await readdir(join(copy.folder, 'release'))).sort()).toEqual([
        `countersign-${next}.cdx.json`,
        `countersign-${next}.tgz`,
        `countersign-service-${next}.cdx.json`,
        `countersign-service-${next}.tgz`,
        'notes.md',
      ])
      expect(await copy.command('git', 'tag', '--points-at', 'HEAD')).toBe(`v${next}\n`)
      expect(await copy.command('git', 'status', '--porcelain')).toBe('')

      const tarball = (name: string) => readFile(join(copy.folder, `release/${name}-${next}.tgz`))
      const pglite = '@electric-sql/pglite'
      const project = await consumer({ ...EXPRESS_APP, [pglite]: pglite }, await tarball('countersign'))
      try {
        const main = await installService(project, await tarball('countersign-service'))
        await project.write(
          'package.json',
          JSON.stringify({ dependencies: { countersign: next, '@countersign/service': next } }),
        )
        // Names each range that an installed package does not meet.
        const { stdout } = await run('npm', ['ls', '--json', 'countersign', '@countersign/service'], {
          cwd: project.folder,
        })
        expect(JSON.parse(stdout)).not.toHaveProperty('problems')
        const service = await startProcess([main, 'serve'], {
          folder: project.folder,
          env: { SERVICE_PORT: '0' },
          listens: /listens on (http:\S+)/,
        })
        try {
          expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
        } finally {
          await service.stop()
        }
      } finally {
        await project.dispose()
      }
    },
    10 * PATIENCE_MS,
  )
})
