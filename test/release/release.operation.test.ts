import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url))

const repository = { type: 'git', url: 'git+https://git.example/countersign.git' }
const plugin = {
  name: 'countersign',
  version: '1.2.0',
  license: 'MIT',
  repository,
  workspaces: ['service', 'example'],
  dependencies: { small: '^1.0.0' },
  devDependencies: { large: '^9.0.0' },
}
const service = {
  name: '@countersign/service',
  version: '1.2.0',
  license: 'MIT',
  repository,
  dependencies: { countersign: '^1.2.0' },
}
const example = { name: 'example', version: '1.2.0', private: true, dependencies: { large: '^9.0.0' } }
const CHANGELOG = '# Changelog\n\n## 1.2.0 (2026-11-30)\n\n- Codes are shorter.\n\n## 1.1.0\n\n- Older.\n'

// A git hook that runs the tests sets the environment variables of its own repository.
const OUTSIDE = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
const ENV = {
  ...Object.fromEntries(OUTSIDE),
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}

const lockfile = {
  name: plugin.name,
  version: plugin.version,
  lockfileVersion: 3,
  packages: {
    '': plugin,
    service,
    example,
    'node_modules/@countersign/service': { resolved: 'service', link: true },
    'node_modules/countersign': { resolved: '', link: true },
    'node_modules/example': { resolved: 'example', link: true },
    'node_modules/large': { version: '9.0.0', license: 'MIT' },
    'node_modules/small': { version: '1.0.1', license: 'MIT', dependencies: { tiny: '^2.0.0' } },
    'node_modules/tiny': { version: '2.0.0', license: 'MIT' },
  },
}

/** A repository with one commit that can be released, unless files are replaced. */
function releasable(files: Readonly<Record<string, unknown>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const all = {
    'package.json': plugin,
    'service/package.json': service,
    'example/package.json': example,
    'package-lock.json': lockfile,
    'CHANGELOG.md': CHANGELOG,
    '.gitignore': 'release/\n',
    'test/releases/1.2.0/own.json': '{}',
    ...files,
  }
  for (const name of ['docs', 'service', 'example', 'test/releases/1.1.0', 'test/releases/1.2.0'])
    mkdirSync(join(folder, name), { recursive: true })
  for (const [path, content] of Object.entries(all)) {
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: ENV })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Start')
  const release = (...args: string[]) => {
    const run = spawnSync(process.execPath, [SCRIPT, ...args], { cwd: folder, encoding: 'utf8', env: ENV })
    return { status: run.status, out: run.stdout, error: run.stderr }
  }
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  return { folder, git, release, read }
}

describe('the release script', () => {
  it('writes both packages with a bill of materials and the notes, and makes no tag by default', () => {
    const { git, release, read, folder } = releasable()
    const { status, out, error } = release('--skip-checks')
    expect([status, error]).toEqual([0, ''])
    expect(out).toContain('Dry run: no tag was made.')
    expect(git('tag')).toBe('')
    expect(read('release/notes.md')).toBe('- Codes are shorter.\n')
    for (const name of ['countersign-1.2.0', 'countersign-service-1.2.0']) {
      expect(existsSync(join(folder, 'release', `${name}.tgz`)), name).toBe(true)
    }
    const sbom = JSON.parse(read('release/countersign-1.2.0.cdx.json'))
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'countersign' } } })
    const named = (bom: { components: { 'bom-ref': string }[] }) =>
      bom.components.map((component) => component['bom-ref']).sort()
    expect(named(sbom)).toEqual(['small@1.0.1', 'tiny@2.0.0'])
    const ofService = JSON.parse(read('release/countersign-service-1.2.0.cdx.json'))
    expect(ofService.metadata.component.name).toBe('@countersign/service')
    expect(named(ofService)).toEqual(['countersign@1.2.0', 'small@1.0.1', 'tiny@2.0.0'])
  })

  it('packs documents whose links to other files of the repository have its address', () => {
    const readme =
      '[code](src/app.js#L1), [page](docs/a.md), [web](https://a.example)\n\n```md\n[code](src/app.js)\n```\n'
    const { release, folder } = releasable({
      'README.md': readme,
      'docs/a.md': '',
      'package.json': { ...plugin, files: ['docs'] },
    })
    expect(release('--skip-checks').status).toBe(0)
    const tarball = join(folder, 'release/countersign-1.2.0.tgz')
    expect(execFileSync('tar', ['-xzOf', tarball, 'package/README.md'], { encoding: 'utf8' })).toBe(
      readme.replace('(src/app.js#L1)', '(https://git.example/countersign/blob/v1.2.0/src/app.js#L1)'),
    )
  })

  it('makes the tag of the version with --tag', () => {
    const { git, release } = releasable()
    expect(release('--skip-checks', '--tag').status).toBe(0)
    expect(git('tag', '--points-at', 'HEAD').trim()).toBe('v1.2.0')
  })

  it('runs .ci/run first, and stops if it fails', () => {
    const { release, folder, git } = releasable()
    mkdirSync(join(folder, '.ci'))
    writeFileSync(join(folder, '.ci/run'), '#!/bin/sh\necho checked\nexit 1\n', { mode: 0o755 })
    git('add', '.')
    git('commit', '--quiet', '--message', 'Check')
    const { status, out } = release('--tag')
    expect(status).not.toBe(0)
    expect(out).toBe('checked\n')
    expect(existsSync(join(folder, 'release'))).toBe(false)
    expect(git('tag')).toBe('')
  })

  it('reports everything that prevents a release together', () => {
    const { release, folder } = releasable({
      'service/package.json': { ...service, version: '1.1.0', dependencies: { countersign: '^1.1.0' } },
      'CHANGELOG.md': CHANGELOG.replace('1.2.0', 'Unreleased'),
    })
    writeFileSync(join(folder, 'left-over.txt'), '')
    const { status, error } = release('--skip-checks')
    expect(status).toBe(1)
    expect(error.trim().split('\n')).toEqual([
      'v1.2.0 cannot be released:',
      '- The working tree has changes: commit or remove them.',
      '- service/package.json, version of @countersign/service: expected 1.2.0 (got 1.1.0).',
      '- service/package.json, dependencies of @countersign/service, countersign: expected ^1.2.0 (got ^1.1.0).',
      '- Not everything has the version of package.json: run node scripts/set-version.mjs 1.2.0, and commit.',
      '- CHANGELOG.md has nothing under "## 1.2.0 (YYYY-MM-DD)": name the section after the version, and date it.',
    ])
  })

  it('refuses a version without the set that later releases must read', () => {
    const { git, release } = releasable()
    git('mv', 'test/releases/1.2.0', 'test/releases/1.1.0')
    git('commit', '--quiet', '--message', 'Keep what another version stored')
    const { status, error } = release('--skip-checks')
    expect(status).toBe(1)
    expect(error).toContain('- test/releases/1.2.0 does not exist')
    expect(error).toContain('run npm run release -- fixtures')
  })

  it('refuses a tree in which the set of an earlier version was changed or deleted', () => {
    for (const change of [
      ({ folder }: { folder: string }) =>
        writeFileSync(join(folder, 'test/releases/1.1.0/own.json'), '{"a":1}'),
      ({ folder }: { folder: string }) => rmSync(join(folder, 'test/releases/1.1.0'), { recursive: true }),
    ]) {
      const one = releasable({ 'test/releases/1.1.0/own.json': '{}' })
      one.git('tag', 'v1.1.0')
      one.git('commit', '--quiet', '--allow-empty', '--message', 'Go on')
      expect(one.release('--skip-checks').status).toBe(0)
      change(one)
      one.git('commit', '--quiet', '--all', '--message', 'Write it again')
      const { status, error } = one.release('--skip-checks')
      expect(error).toContain('- test/releases/1.1.0 differs from that of the tag v1.1.0: restore it')
      expect(status).toBe(1)
    }
  })

  it('writes no set for a version that was released', () => {
    const { git, release, read } = releasable()
    git('tag', 'v1.2.0')
    const { status, error } = release('fixtures')
    expect(error).toContain(
      'v1.2.0 was released, and later releases must read what it stored: raise the version first.',
    )
    expect(status).toBe(1)
    expect(read('test/releases/1.2.0/own.json')).toBe('{}')
  })

  it('refuses packages without the address of their repository, or with two', () => {
    const { repository: _, ...plain } = plugin
    const { error } = releasable({ 'package.json': plain }).release('--skip-checks')
    expect(error).toContain('- package.json has no `repository`: set it to the public address')
    expect(error).toContain('- The addresses in `repository` differ')
  })

  it('refuses a tag that does not match the version', () => {
    const { git, release } = releasable()
    git('tag', 'v9.9.9')
    expect(release('--skip-checks').error).toContain('has the tag v9.9.9, but the version is 1.2.0')
    git('tag', '--delete', 'v9.9.9')
    git('tag', 'v1.2.0')
    git('commit', '--quiet', '--allow-empty', '--message', 'Go on')
    expect(release('--skip-checks').error).toContain('v1.2.0 belongs to another commit: raise the version')
  })
})
