#!/usr/bin/env node
/*
 * Sets the version of this repository in every manifest, in the ranges of its packages on each other, in the lock file and in the
 * names of the tarballs that documents and recipes install. Without a version it changes nothing, and fails when a place
 * says another one than package.json.
 *
 * usage: node scripts/set-version.mjs [<version>]
 */
import { readFileSync } from 'node:fs'
import { differingVersions, setVersion } from './versions.mjs'

const [wanted, ...others] = process.argv.slice(2)

if (others.length > 0 || (wanted !== undefined && !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(wanted))) {
  console.error(`Expected one version, e.g. 1.2.0 (got ${process.argv.slice(2).join(' ')}).`)
  process.exit(2)
}

if (wanted !== undefined) {
  const changed = setVersion(wanted)
  console.log(changed.length > 0 ? changed.join('\n') : `Every place has the version ${wanted} already.`)
}

const version = wanted ?? JSON.parse(readFileSync('package.json', 'utf8')).version
const differing = differingVersions(version)
if (differing.length > 0) {
  console.error(
    `Not everything has the version ${version}: run node scripts/set-version.mjs ${version}.\n${differing.map((text) => `- ${text}`).join('\n')}`,
  )
  process.exit(1)
}
