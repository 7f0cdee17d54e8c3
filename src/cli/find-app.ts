import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
import { findLogin, type LoginFacts, type SourceFile } from './find-login.js'

/** The members that init reads of package.json. */
interface Manifest {
  readonly name?: string
  readonly type?: string
  readonly main?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A line of a source file. */
export interface Place extends SourceFile {
  /** From 1. */
  readonly line: number
}

/** The facts that init knows of an app: its package.json, and what a search of the text of its sources finds. */
export interface AppFacts {
  readonly folder: string
  /** The nearest package.json of the file that calls `passport.session()`. */
  readonly manifest: Manifest
  /** The folder with that package.json, from the folder of the app. */
  readonly packageFolder: string
  /** The packages that it names, and those that the package.json of the folder names, with their versions. */
  readonly packages: ReadonlyMap<string, string>
  /** The lines that call `passport.session()`. */
  readonly mounts: readonly Place[]
  /** Those that do so for the handshakes of socket.io. */
  readonly engines: readonly Place[]
  /** The lines that mount a part of this package. */
  readonly gates: readonly Place[]
  /** Whether no body of a request but JSON is read. */
  readonly takesJson: boolean
  /** The lines that set `resave: true`. */
  readonly resaves: readonly Place[]
  readonly login: LoginFacts
  /** The member of a user that `serializeUser` stores, such as `_id`. */
  readonly userKey: string
  /** Whether the sources name an email address. */
  readonly hasEmails: boolean
}

const SKIPPED =
  /^(?:node_modules|bower_components|dist|build|out|coverage|public|static|tests?|__tests__|e2e|spec|cypress|\..*)$/
const SOURCES = /^(?!.*\.(?:test|spec|min|config|d)\.)[^.].*\.[cm]?[jt]sx?$/
const MOST_FILES = 3_000
const MOST_BYTES = 500_000

// Not in the rest of a line comment, nor in a line of a block comment.
const CODE = '^(?!\\s*\\*)(?:(?!//).)*'
const PASSPORT_SESSION = new RegExp(
  `${CODE}passport\\w*\\s*\\.\\s*(?:session\\s*\\(|authenticate\\s*\\(\\s*['"\`]session['"\`])`,
  'i',
)
/** Takes no other member for the id than one that `serializeUser` stores alone. */
const STORED_KEY = /serializeUser\([\s\S]{0,200}?\(\s*null\s*,\s*\w+\.(\w+)\s*\)/
const GATE = new RegExp(
  `${CODE}\\b(?:use\\(.*\\bmfa\\w*\\.(?:session|router)\\b|mfa(?:Session|Router)\\s*[<(])`,
  'i',
)

/**
 * Searches the sources of the app in a folder.
 * @throws {Error} if the folder has no package.json, or one that is not JSON.
 */
export async function findApp(folder: string): Promise<AppFacts> {
  if (!existsSync(join(folder, 'package.json')))
    throw new Error(`There is no package.json in ${folder}. Run the command in the folder of your app.`)
  const files = await readSources(folder)
  const findPlaces = (pattern: RegExp) =>
    files.flatMap((file) =>
      file.text.split('\n').flatMap((text, at) => (pattern.test(text) ? [{ ...file, line: at + 1 }] : [])),
    )
  const sessions = findPlaces(PASSPORT_SESSION)
  const isEngine = (place: Place) => /\bengine\s*\.\s*use\s*\(/.test(getLine(place))
  const mounts = sessions.filter((place) => !isEngine(place))
  let owner = join(folder, dirname(mounts[0]?.path ?? ''))
  while (!existsSync(join(owner, 'package.json'))) owner = dirname(owner)
  const manifest = await readManifest(owner)
  const manifests = [await readManifest(folder), manifest]
  const named = manifests.flatMap((manifest) =>
    Object.entries({ ...manifest.devDependencies, ...manifest.dependencies }),
  )
  const reads = (pattern: RegExp) => files.some(({ text }) => pattern.test(text))
  return {
    folder,
    manifest,
    packageFolder: relative(folder, owner),
    packages: new Map(named),
    mounts,
    engines: sessions.filter(isEngine),
    gates: reads(/['"]countersign['"]/) ? findPlaces(GATE) : [],
    takesJson: reads(/\bjson\(\)|@nestjs\//) && !reads(/\burlencoded\(/),
    resaves: findPlaces(/^(?!\s*(?:\/\/|\*)).*\bresave\s*:\s*true\b/),
    login: findLogin(files),
    userKey: STORED_KEY.exec(files.map(({ text }) => text).join('\n'))?.[1] ?? 'id',
    hasEmails: reads(/\bemail/i),
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, 'package.json')
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Manifest
  } catch (cause) {
    throw new Error(`${path} is not JSON.`, { cause })
  }
}

/** The app's own sources; without tests and without what a build wrote. A symbolic link is not followed. */
async function readSources(folder: string): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  const read = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && !SKIPPED.test(entry.name)) await read(path)
      // Express's generator writes `bin/www`.
      const isSource = SOURCES.test(entry.name) || (basename(below) === 'bin' && extname(entry.name) === '')
      if (!entry.isFile() || !isSource || files.length >= MOST_FILES) continue
      if ((await stat(join(folder, path))).size <= MOST_BYTES)
        files.push({ path, text: await readFile(join(folder, path), 'utf8') })
    }
  }
  await read('')
  return files
}

/** The text of the line. */
export const getLine = ({ text, line }: Place): string => text.split('\n')[line - 1] ?? ''

/** `app.js:12`. */
export function describePosition({ path, line }: Place): string {
  return `${path}:${line}`
}
