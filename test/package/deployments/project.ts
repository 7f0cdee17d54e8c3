import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Consumer, consumer, installService, ROOT } from '../kit.js'

/** The packages that the host app has installed beside the two packages. */
const INSTALLED = [
  'connect-pg-simple',
  'connect-redis',
  'express',
  'express-session',
  'passport',
  'passport-local',
  'pg',
  'redis',
  'ws',
]

const SOURCES = ['app.mjs', 'flood.mjs', 'stores.mjs']

/** A project with the host app, the packed plugin and the packed service. */
export interface DeployedProject extends Consumer {
  /** The command `countersign-service`. */
  readonly command: string
}

/** Packs both packages and installs them in a new project. */
export async function deployedProject(): Promise<DeployedProject> {
  const project = await consumer(Object.fromEntries(INSTALLED.map((name) => [name, name])))
  const command = await installService(project)
  const here = join(ROOT, 'test/package/deployments')
  await Promise.all(SOURCES.map((name) => cp(join(here, name), join(project.folder, name))))
  return { ...project, command }
}
