import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A small project that has the packed package installed, as an app would have it. */
export interface Consumer {
  readonly folder: string
  /** What the package brings, by path. */
  readonly files: readonly string[]
  write(path: string, text: string): Promise<void>
  /** Runs Node and gives what it printed. Throws with its error output when it fails. */
  node(...args: string[]): Promise<string>
  dispose(): Promise<void>
}

/**
 * Packs the package, unpacks it into `node_modules` of an empty project, and links beside it what it and its host
 * need from this repository. Nothing is fetched.
 */
export async function consumer(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-consumer-'))
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'countersign')
  await mkdir(own, { recursive: true })
  const { stdout } = await run(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder],
    { cwd: ROOT },
  )
  await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', own, '--strip-components=1'])
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name === 'countersign' || name === 'example-app' || name.startsWith('.')) continue
    await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  const files = (await readdir(own, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(own.length + 1))

  return {
    folder,
    files,
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    },
    async node(...args) {
      return (await run(process.execPath, args, { cwd: folder })).stdout
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The TypeScript samples of a Markdown file. */
export async function samplesOf(path: string): Promise<string[]> {
  const text = await readFile(join(ROOT, path), 'utf8')
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}
