#!/usr/bin/env node
/*
 * Prepares a release: checks that the tree is fit for one, runs .ci/run, writes the bills of materials and the packed
 * packages to release/. It publishes nothing. With --tag it also makes the tag; pushing that tag starts
 * .github/workflows/release.yml, which publishes.
 *
 * `fixtures` writes test/releases/<version>/ instead: what this version stores and sends, which later releases must read.
 *
 * usage: node scripts/release.mjs [--skip-checks] [--tag]
 *        node scripts/release.mjs fixtures
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { pack } from './pack.mjs'
import { sbomsOf } from './sbom.mjs'
import { differingVersions } from './versions.mjs'

const OUT = 'release'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'skip-checks': { type: 'boolean', default: false }, tag: { type: 'boolean', default: false } },
})

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const lines = (text) => text.split('\n').filter(Boolean)

const plugin = readJson('package.json')
const service = readJson('service/package.json')
const tag = `v${plugin.version}`

/** The section of the changelog about one version, without its heading; `undefined` when there is none with a date. */
function notesOf(version) {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
  const section = sections.find((text) => /^(\S+) \(\d{4}-\d\d-\d\d\)\n/.exec(text)?.[1] === version)
  return section?.split('\n').slice(1).join('\n').trim()
}

/** Where the package says its repository is; npm derives the addresses of its home page and of its issues. */
const addressIn = ({ repository }) => repository?.url ?? ''

/** Where a version keeps what it stores and sends. */
const setOf = (version) => `test/releases/${version}`
const fixtures = setOf(plugin.version)

/** The tags of earlier versions whose set is not what it was at the tag. */
const tagsOfChangedSets = () =>
  lines(git('tag', '--list', 'v*')).filter(
    (one) => one !== tag && git('diff', '--name-only', one, '--', setOf(one.slice(1))) !== '',
  )

if (positionals.length > 0) {
  if (positionals.join() !== 'fixtures') {
    console.error(`Expected fixtures, or options only (got ${positionals.join(' ')}).`)
    process.exit(2)
  }
  if (git('tag', '--list', tag) !== '') {
    console.error(
      `${tag} was released, and later releases must read what it stored: raise the version first.`,
    )
    process.exit(1)
  }
  // With CI, a program that is not installed is an error, and no place is left out.
  execFileSync('npx', ['vitest', 'run', '--project', 'at-once', 'test/releases/write.at-once.test.ts'], {
    stdio: 'inherit',
    env: { ...process.env, CI: 'true', WRITE_FIXTURES: 'true' },
  })
  console.log(`Wrote ${fixtures}. Review and commit it.`)
  process.exit()
}

function faults() {
  const tagsHere = lines(git('tag', '--points-at', 'HEAD', '--list', 'v*'))
  const differing = differingVersions(plugin.version)
  return [
    [git('status', '--porcelain') !== '', 'The working tree has changes: commit or remove them.'],
    ...differing.map((text) => [true, text]),
    [
      differing.length > 0,
      `Not everything has the version of package.json: run node scripts/set-version.mjs ${plugin.version}, and commit.`,
    ],
    [
      !addressIn(plugin).startsWith('git+https://'),
      'package.json has no `repository`: set it to the public address of this repository, which you have registered.',
    ],
    [
      addressIn(service) !== addressIn(plugin),
      `The addresses in \`repository\` differ: ${plugin.name} ${addressIn(plugin)}, ${service.name} ${addressIn(service)}.`,
    ],
    [
      !notesOf(plugin.version),
      `CHANGELOG.md has nothing under "## ${plugin.version} (YYYY-MM-DD)": name the section after the version, and date it.`,
    ],
    [
      !existsSync(fixtures),
      `${fixtures} does not exist, which later releases must read: run npm run release -- fixtures, and commit it.`,
    ],
    ...tagsOfChangedSets().map((one) => [
      true,
      `${setOf(one.slice(1))} differs from that of the tag ${one}: restore it, because later releases must read what that version stored.`,
    ]),
    [
      tagsHere.some((one) => one !== tag),
      `This commit has the tag ${tagsHere.join(', ')}, but the version is ${plugin.version}.`,
    ],
    [
      git('tag', '--list', tag) !== '' && !tagsHere.includes(tag),
      `The tag ${tag} belongs to another commit: raise the version.`,
    ],
  ].flatMap(([isFault, text]) => (isFault ? [text] : []))
}

const found = faults()
if (found.length > 0) {
  console.error(`${tag} cannot be released:\n${found.map((text) => `- ${text}`).join('\n')}`)
  process.exit(1)
}

if (options['skip-checks']) console.log('Skipped .ci/run.')
else execFileSync('bash', ['.ci/run'], { stdio: 'inherit' })

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT)
// Builds both packages. The compiler names errors in its standard output.
execFileSync('npm', ['run', '--silent', '--if-present', 'prepack'], { stdio: 'inherit' })
pack(process.cwd(), OUT)
const packages = [plugin, service]
const sboms = sbomsOf(packages)
for (const [index, { name, version }] of packages.entries()) {
  const file = `${OUT}/${name.replace(/^@/, '').replace('/', '-')}-${version}`
  if (!existsSync(`${file}.tgz`)) throw new Error(`npm run pack did not write ${file}.tgz`)
  writeFileSync(`${file}.cdx.json`, `${JSON.stringify(sboms[index], null, 2)}\n`)
  console.log(`${file}.tgz\n${file}.cdx.json`)
}
writeFileSync(`${OUT}/notes.md`, `${notesOf(plugin.version)}\n`)

if (git('status', '--porcelain') !== '') {
  console.error('Building changed files that are under version control: commit them first.')
  process.exit(1)
}
if (!options.tag) console.log(`Dry run: no tag was made. With --tag this makes ${tag}.`)
else if (git('tag', '--list', tag) === '') {
  git('tag', '--annotate', tag, '--message', `Release ${plugin.version}`)
  console.log(`Made the tag ${tag}. Publish with: git push origin ${tag}`)
}
