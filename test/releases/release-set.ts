import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { tablesSchema } from './tables.js'

/*
 * The data that one release has stored and sent, in one file for each place: `test/releases/<version>/<place>.json`. Later releases read all
 * of it. All times are those of the run that wrote it, with a clock that began at `FIRST_MOMENT`; a test that reads it sets its
 * clock to `at`.
 */

const text = z.string()
const factor = z.union([
  z.object({ method: z.enum(['sms', 'whatsapp', 'call']), phone: text }),
  z.object({ method: z.literal('email'), email: text }),
])

export const releaseSetSchema = z.object({
  version: text,
  /** When it was written, in milliseconds since 1970. */
  at: z.number(),
  users: z.record(text, z.object({ id: text, email: text, factors: z.array(factor) })),
  /** The session store: texts by session id. */
  sessions: z.record(text, text),
  /** The counters, trusted devices, links and recoveries, as the place stores them. */
  stored: z.unknown(),
  /** The database of the service. */
  tables: tablesSchema,
  /** The data that users and their browsers hold. */
  browsers: z.object({
    verified: z.object({ cookie: text }),
    pending: z.object({ cookie: text }),
    /** A code was sent, and not entered yet. */
    challenged: z.object({ cookie: text, code: text }),
    exempt: z.object({ cookie: text }),
    /** The session of a trusted browser, and the cookie with which it is recognized at the next login. */
    trusted: z.object({ cookie: text, trust: text }),
    /** Three codes were wrong. */
    guessing: z.object({ cookie: text }),
    app: z.object({ secret: text, backupCode: text }),
    /** A passkey has signed, and its response was not sent yet. */
    passkey: z.object({ cookie: text, response: z.unknown() }),
    /** The code of the help desk after a reset. */
    bypass: z.object({ code: text }),
    /** When a pending recovery can be completed. */
    recovery: z.object({ readyAt: text }),
    /** The secret in the link of a notice. */
    notMe: z.object({ token: text }),
  }),
  /** Answers of the service, and what the client of that release made of them. */
  answers: z.array(
    z.object({
      verb: text,
      request: z.record(text, z.unknown()),
      status: z.number(),
      headers: z.record(text, text),
      body: text,
      returned: z.unknown(),
    }),
  ),
  /** Events that the service posted, and the secret of their endpoint. */
  webhooks: z.object({
    secret: text,
    posted: z.array(z.object({ headers: z.record(text, text), body: text })),
  }),
})

export type ReleaseSet = z.output<typeof releaseSetSchema>

/** The place whose set has what was sent, which does not depend on the place. */
export const WIRE = 'own'

/** The fixed moment at which every release begins to write: noon of 15 January 2026, UTC. */
export const FIRST_MOMENT = Date.UTC(2026, 0, 15, 12)

const FOLDER = import.meta.dirname

/** The version of the package in this tree. */
export function thisVersion(): string {
  return JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8')).version
}

/** The releases of which there is a set. */
export function versions(): string[] {
  return readdirSync(FOLDER).filter((name) => /^\d+\.\d+\.\d+/.test(name))
}

export function fileOf(version: string, place: string): string {
  return join(FOLDER, version, `${place}.json`)
}

export function readReleaseSet(version: string, place: string): ReleaseSet {
  return releaseSetSchema.parse(JSON.parse(readFileSync(fileOf(version, place), 'utf8')))
}

export function writeReleaseSet(version: string, place: string, set: ReleaseSet): void {
  const file = fileOf(version, place)
  if (!existsSync(join(FOLDER, version))) mkdirSync(join(FOLDER, version))
  // A line for each member, so that a difference can be read.
  const members = Object.entries(set).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  writeFileSync(file, `{${members.join(',\n')}}\n`)
}
