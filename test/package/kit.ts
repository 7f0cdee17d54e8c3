import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { environment, SHORT_LIVED } from '../kit/process.js'

const run = promisify(execFile)

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The packed package, in the folder of each project. */
export const TARBALL = 'countersign.tgz'

/** The settings of an app that has TypeScript check as much as it can. */
export const STRICT_TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  },
  include: ['*.ts', '*.cts'],
}

/** How a command ended, and what it printed. */
export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A small project that has the packed package installed, as an app would have it. */
export interface Consumer {
  readonly folder: string
  /** The files of the package, by path. */
  readonly files: readonly string[]
  write(path: string, text: string): Promise<void>
  /** Runs Node and returns its output. Throws with its error output when it fails. */
  node(...args: string[]): Promise<string>
  /** Runs the command of the package with these variables in its environment. */
  countersign(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult>
  /** Checks the types with the newest TypeScript. The errors in all files. */
  tsc(tsconfig?: string): Promise<string>
  /** Compiles with TypeScript 5.4. The errors in the project's own files and in the declarations of the package. */
  tsc54(...tsconfigs: readonly string[]): Promise<string>
  dispose(): Promise<void>
}

/** The packages that an Express app with Passport and TypeScript has installed beside the package. */
export const EXPRESS_APP: Installed = {
  express: 'express',
  'express-session': 'express-session',
  passport: 'passport',
}

/** The declarations for `EXPRESS_APP` with Express 5. */
export const EXPRESS_5_TYPES: Installed = {
  '@types/express': '@types/express',
  '@types/express-serve-static-core': '@types/express-serve-static-core',
  ...typesOf('express-session', 'passport'),
  ...typesOf('body-parser', 'connect', 'http-errors', 'node', 'qs', 'range-parser', 'send', 'serve-static'),
}

/** The declarations for `EXPRESS_APP` with Express 4. */
export const EXPRESS_4_TYPES: Installed = {
  ...EXPRESS_5_TYPES,
  '@types/express': 'types-express4',
  '@types/express-serve-static-core': 'types-express4/node_modules/@types/express-serve-static-core',
  '@types/serve-static': 'types-express4/node_modules/@types/serve-static',
  '@types/send': 'types-express4/node_modules/@types/send',
  '@types/mime': '@types/mime',
}

/** Packages by the name they are installed under; each is a folder of the repository's `node_modules`. */
export type Installed = Readonly<Record<string, string>>

function typesOf(...names: readonly string[]): Installed {
  return Object.fromEntries(names.map((name) => [`@types/${name}`, `@types/${name}`]))
}

/** The workspaces that are published, by their folder. */
type Published = '.' | './service'

/** The packed package, which is packed once for each run: the first worker that needs it packs, and the others wait. */
async function packed(workspace: Published): Promise<Buffer> {
  const folder = join(inject('runFolder'), workspace === '.' ? 'plugin' : 'service')
  const [file, failure] = [join(folder, 'package.tgz'), join(folder, 'failure')]
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  )
  if (isFirst) {
    await pack(workspace, folder).catch((error) => writeFile(failure, String(error)))
    // Whole as soon as it has this name.
    await rename(join(folder, 'unfinished'), file).catch(() => {})
  }
  while (!existsSync(file)) {
    if (existsSync(failure)) throw new Error(await readFile(failure, 'utf8'))
    await wait(100)
  }
  return readFile(file)
}

async function pack(workspace: Published, folder: string): Promise<void> {
  // As `npm run pack` does, without a second build.
  await run('node', ['scripts/llms.mjs'], { cwd: ROOT })
  const { stdout } = await run('node', ['scripts/pack.mjs', '--out', folder, workspace], { cwd: ROOT })
  await rename(join(folder, stdout.trim()), join(folder, 'unfinished'))
}

/**
 * Unpacks the package into `node_modules` of an empty project, beside its dependencies and the packages that the app has;
 * without a list, the app has everything that this repository has. Nothing is fetched.
 * @param tarball - the packed package; this repository's unless given
 */
export async function consumer(installed?: Installed, tarball?: Buffer): Promise<Consumer> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-consumer-')))
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'countersign')
  await writeFile(join(folder, TARBALL), tarball ?? (await packed('.')))
  await unpack(join(folder, TARBALL), own)
  await install(modules, installed ? { ...(await dependenciesOf(own)), ...installed } : await everything())
  const files = (await readdir(own, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(own.length + 1))

  /** The output of a script of this repository in the project's folder, also when it fails. */
  const printed = (script: string, ...args: readonly string[]) =>
    run(process.execPath, [join(ROOT, script), ...args], { cwd: folder }).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string; readonly stderr: string }) => error.stdout + error.stderr,
    )

  return {
    folder,
    files,
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    },
    async node(...args) {
      return (await run(process.execPath, [...SHORT_LIVED, ...args], { cwd: folder })).stdout
    },
    countersign(args, env) {
      const all = [join(own, 'dist/bin/countersign.cjs'), ...args]
      return run(process.execPath, all, { cwd: folder, env: environment(env) }).then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
        ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
      )
    },
    // Several threads check the same declarations several times.
    tsc: (tsconfig = '.') => printed('node_modules/typescript/bin/tsc', '--singleThreaded', '-p', tsconfig),
    tsc54: (...tsconfigs) => printed('test/package/compile.mjs', ...tsconfigs),
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}

/**
 * Unpacks the service beside the packed plugin, with its dependencies. Returns the path of its command.
 * @param tarball - the packed service; this repository's unless given
 */
export async function installService(
  { folder }: Pick<Consumer, 'folder'>,
  tarball?: Buffer,
): Promise<string> {
  const modules = join(folder, 'node_modules')
  const own = join(modules, '@countersign/service')
  const file = join(folder, 'countersign-service.tgz')
  await writeFile(file, tarball ?? (await packed('./service')))
  await unpack(file, own)
  const dependencies = Object.keys(await dependenciesOf(own)).filter((name) => name !== 'countersign')
  const missing = dependencies.filter((name) => !existsSync(join(modules, name)))
  await install(modules, Object.fromEntries(missing.map((name) => [name, serviceSource(name)])))
  const { bin } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as {
    readonly bin: { readonly 'countersign-service': string }
  }
  return join(own, bin['countersign-service'])
}

/** A package of the service whose version differs from that of the repository is in a folder of the service. */
function serviceSource(name: string): string {
  const nested = join('..', 'service', 'node_modules', name)
  return existsSync(join(ROOT, 'node_modules', nested)) ? nested : name
}

async function unpack(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', file, '-C', folder, '--strip-components=1'])
}

async function install(modules: string, installed: Installed): Promise<void> {
  for (const [name, source] of Object.entries(installed)) {
    const from = join(ROOT, 'node_modules', source)
    const to = join(modules, name)
    await mkdir(dirname(to), { recursive: true })
    // A compiler follows links, and would find the declarations of the other Express beside the original.
    if (name.startsWith('@types/') && name !== '@types/node') await cp(from, to, { recursive: true })
    else await symlink(from, to)
  }
}

async function dependenciesOf(folder: string): Promise<Installed> {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, name]))
}

async function everything(): Promise<Installed> {
  const own = ['countersign', 'example-app', 'package-tests']
  const names = await readdir(join(ROOT, 'node_modules'))
  return Object.fromEntries(
    names.filter((name) => !own.includes(name) && !name.startsWith('.')).map((name) => [name, name]),
  )
}
