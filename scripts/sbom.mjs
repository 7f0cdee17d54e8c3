import { execFileSync } from 'node:child_process'

/**
 * The CycloneDX bill of materials of each of these packages, from the lockfile: the package, and what its
 * `dependencies` and `optionalDependencies` bring. `npm sbom --omit dev` is no help: with workspaces it lists the
 * example app and leaves out packages that are a development dependency elsewhere.
 *
 * @param {{ name: string, version: string, dependencies?: object, optionalDependencies?: object }[]} manifests
 */
export function sbomsOf(manifests) {
  const whole = JSON.parse(
    execFileSync(
      'npm',
      ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel', 'error'],
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    ),
  )
  const components = new Map(
    [whole.metadata.component, ...whole.components].map((one) => [one['bom-ref'], one]),
  )
  const edges = new Map(whole.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  // Of our own packages npm lists workspaces and development dependencies, too.
  for (const manifest of manifests) {
    const wanted = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    const ref = refOf(manifest)
    edges.set(
      ref,
      edges.get(ref).filter((to) => wanted.has(to.slice(0, to.lastIndexOf('@')))),
    )
  }

  return manifests.map((manifest) => {
    const reached = new Set([refOf(manifest)])
    for (const ref of reached) for (const to of edges.get(ref) ?? []) reached.add(to)
    const [own, ...others] = reached
    return {
      ...whole,
      // npm names the component of the root after its folder.
      metadata: { ...whole.metadata, component: { ...components.get(own), name: manifest.name } },
      components: others.map((ref) => components.get(ref)),
      dependencies: [...reached].map((ref) => ({ ref, dependsOn: edges.get(ref) ?? [] })),
    }
  })
}

const refOf = ({ name, version }) => `${name}@${version}`
