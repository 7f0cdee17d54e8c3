import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const KINDS_OF_DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']

// The names that `npm pack` gives, and what an installation asks for: countersign-1.2.0.tgz, @countersign/service@1.2.0.
const NAMED = /(\bcountersign(?:[-/]service)?[-@])(\d+\.\d+\.\d+(?:-(?:(?!\.tgz)[\w.])+)?)/g

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Every place that says another version than this one, as sentences. */
export function differingVersions(version) {
  const inManifests = manifestFiles(version).flatMap(({ path, places }) =>
    places
      .filter(({ holder, key, expected }) => holder[key] !== expected)
      .map(
        ({ what, holder, key, expected }) =>
          `${path}, ${what}: expected ${expected} (got ${holder[key] ?? 'none'}).`,
      ),
  )
  const inTexts = textFiles().flatMap(({ path, text }) =>
    [...text.matchAll(NAMED)]
      .filter(([, , found]) => found !== version)
      .map(([named]) => `${path} names ${named}: expected ${version}.`),
  )
  return [...inManifests, ...inTexts]
}

/** Writes a version to every place that `differingVersions` reads. Returns the paths of the files that changed. */
export function setVersion(version) {
  const manifests = manifestFiles(version).filter(({ path, whole, places }) => {
    for (const { holder, key, expected } of places) holder[key] = expected
    return writeChanged(path, `${JSON.stringify(whole, null, 2)}\n`)
  })
  const texts = textFiles().filter(({ path, text }) =>
    writeChanged(
      path,
      text.replace(NAMED, (_, name) => `${name}${version}`),
    ),
  )
  return [...new Set([...manifests, ...texts].map(({ path }) => path))]
}

/** The manifests of all packages of this repository and the lock file, with the places that say a version. */
function manifestFiles(version) {
  const folders = ['', ...(readJson('package.json').workspaces ?? [])]
  const manifests = folders.map((folder) => {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`
    return { path, whole: readJson(path) }
  })
  const names = manifests.map(({ whole }) => whole.name)
  const lock = readJson('package-lock.json')
  return [
    ...manifests.map((file) => ({ ...file, places: placesIn(file.whole, file.whole.name, names, version) })),
    {
      path: 'package-lock.json',
      whole: lock,
      places: [
        ...placesIn(lock, lock.name, names, version),
        // The lock file names a package only where its folder has another name.
        ...folders.flatMap((folder, index) => placesIn(lock.packages[folder], names[index], names, version)),
      ],
    },
  ]
}

/** Where a manifest says the version of its package, and ranges on packages of this repository. */
function placesIn(manifest, name, names, version) {
  const ranges = KINDS_OF_DEPENDENCIES.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {})
      // `file:..` follows every version, and the name of a tarball is found in the text.
      .filter(([key, range]) => names.includes(key) && !range.startsWith('file:'))
      .map(([key]) => ({
        what: `${kind} of ${name}, ${key}`,
        holder: manifest[kind],
        key,
        expected: `^${version}`,
      })),
  )
  return [{ what: `version of ${name}`, holder: manifest, key: 'version', expected: version }, ...ranges]
}

/** The files under version control that say what to install. The changelog names older versions. */
function textFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '*.md', '*/package.json'], { encoding: 'utf8' })
  return listed
    .split('\0')
    .filter((path) => path !== '' && path !== 'CHANGELOG.md' && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

/** Writes a file unless it has this text. Returns whether it was written. */
function writeChanged(path, text) {
  if (readFileSync(path, 'utf8') === text) return false
  writeFileSync(path, text)
  return true
}
