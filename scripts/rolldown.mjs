import { readdirSync, readFileSync } from 'node:fs'

/** What all builds have in common. A warning, as for an import that is no dependency, fails the build. */
export const COMMON = {
  platform: 'node',
  tsconfig: false,
  transform: { target: 'node20.19' },
  onLog(level, log) {
    if (level === 'warn') throw new Error(log.message)
  },
}

/** The packages that `folder` depends on, apart from those that are bundled, with everything that they export. */
export function externalPackages(folder, bundled) {
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  )
  const names = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })
  return names.filter((name) => !bundled.includes(name)).map((name) => new RegExp(`^${name}(/|$)`))
}

/** Escapes what is outside of Latin-1: V8 would otherwise keep every character of the file in two bytes. */
export function latin1() {
  return {
    name: 'latin1',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\xff]/g, escaped)
      }
    },
  }
}

function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Adds the license of each package in the bundle, as it requires. */
export function licenses(packages) {
  return {
    name: 'licenses',
    generateBundle() {
      for (const name of packages) {
        const folder = `node_modules/${name}`
        const file = readdirSync(folder).find((entry) => /^LICENSE/.test(entry))
        const source = readFileSync(`${folder}/${file}`, 'utf8')
        const fileName = `licenses/${name.replace('@', '').replace('/', '-')}.txt`
        this.emitFile({ type: 'asset', fileName, source })
      }
    },
  }
}
