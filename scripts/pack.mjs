#!/usr/bin/env node
/*
 * Packs both packages: `npm run pack`, which builds first. The documents of the repository link to each other, to tests and to sources;
 * in a package, a link to a file that it does not have becomes its text with the path of that file, or the address of the file as soon
 * as package.json has a `repository`.
 *
 * usage: node scripts/pack.mjs [--out <folder>] [<workspace> …], after `npm run prepack`
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Runs `npm pack` without the scripts of the package, and returns what it prints. */
const npmPack = (cwd, ...args) =>
  execFileSync('npm', ['pack', '--ignore-scripts', '--loglevel=error', ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 20_000_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Packs these workspaces of a repository into a folder, and returns the names of the files. */
export function pack(root, out, workspaces = ['.', 'service']) {
  return workspaces.map((workspace) => {
    const folder = join(root, workspace)
    const [{ files }] = JSON.parse(npmPack(folder, '--dry-run', '--json'))
    const staged = mkdtempSync(join(tmpdir(), 'countersign-pack-'))
    try {
      for (const { path } of files) {
        mkdirSync(dirname(join(staged, path)), { recursive: true })
        cpSync(join(folder, path), join(staged, path))
      }
      const paths = new Set(files.map(({ path }) => path))
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      for (const path of paths) {
        if (!/\.(?:md|txt)$/.test(path)) continue
        const text = readFileSync(join(staged, path), 'utf8')
        writeFileSync(join(staged, path), withOwnLinks(text, path, { paths, manifest, workspace }))
      }
      return npmPack(staged, '--pack-destination', resolve(out)).trim()
    } finally {
      rmSync(staged, { recursive: true, force: true })
    }
  })
}

/** A document whose relative links all lead to files of its package. */
function withOwnLinks(text, document, { paths, manifest, workspace }) {
  const isPacked = (path) => paths.has(path) || [...paths].some((other) => other.startsWith(`${path}/`))
  const base = manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')
  const targetOf = (link) => {
    const [file = '', anchor] = link.split('#')
    const path = posix.join(posix.dirname(document), file).replace(/\/$/, '')
    return { path, inRepository: posix.join(workspace, path), hash: anchor === undefined ? '' : `#${anchor}` }
  }
  const addressOf = ({ inRepository, hash }) => `${base}/blob/v${manifest.version}/${inRepository}${hash}`
  return text
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part, index) => {
      if (index % 2 === 1) return part
      return part
        .replaceAll(/<picture>[\s\S]*?<\/picture>\n*/g, (picture) =>
          [...picture.matchAll(/src(?:set)?="([^"]+)"/g)].every(([, file]) => isPacked(targetOf(file).path))
            ? picture
            : '',
        )
        .replaceAll(
          /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)/g,
          (all, image, label, link) => {
            const target = targetOf(link)
            if (isPacked(target.path)) return all
            if (base !== undefined) return `${image}[${label}](${addressOf(target)})`
            const named = `\`${target.inRepository}\``
            if (image) return ''
            return target.inRepository.endsWith(label) ? named : `${label} (${named})`
          },
        )
    })
    .join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { values, positionals } = parseArgs({
    options: { out: { type: 'string', default: root } },
    allowPositionals: true,
  })
  const workspaces = positionals.length > 0 ? positionals : undefined
  console.log(pack(root, values.out, workspaces).join('\n'))
}
