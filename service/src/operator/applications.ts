import { DEFAULT_APPLICATION } from '../applications/directory.js'
import {
  type ApplicationSettings,
  applicationFrom,
  isApplicationName,
  newcomer,
  settingsSchema,
} from '../applications/settings.js'
import type { Limits } from '../limits.js'
import { one, type Queries } from '../store/store.js'
import { change, type Desk } from './actor.js'
import { OperatorError } from './operator-error.js'

/** One application in a list. */
export interface ApplicationSummary {
  readonly application: string
  /** What people know it as. */
  readonly name: string
  readonly tier: string
  /** Its keys that are not revoked. */
  readonly liveKeys: number
  readonly testKeys: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** One setting of an application. */
export interface Setting {
  readonly name: string
  readonly value: string
  /** `default`: nobody set it. Of the application `default`, the environment of the service then decides. */
  readonly from: 'set' | 'default'
}

/** Makes an application. */
export async function createApplication(
  desk: Desk,
  application: string,
  settings: ApplicationSettings,
): Promise<void> {
  if (!isApplicationName(application)) {
    throw new OperatorError(
      `"${application}" cannot be the name of an application: take 1 to 40 small letters, digits and dashes.`,
    )
  }
  await change(
    desk,
    async (tx) => {
      const row = await one(
        tx,
        `INSERT INTO application (application, created_at, settings) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING RETURNING application`,
        [application, Date.now(), JSON.stringify(settings)],
      )
      if (!row)
        throw new OperatorError(`There is an application "${application}" already: take another name.`)
    },
    () => ({ application, action: 'application.created', detail: written(settings) }),
  )
}

/** All applications, by name. */
export async function listApplications(desk: Desk): Promise<ApplicationSummary[]> {
  const rows = await desk.store.query<{
    application: string
    settings: string
    created_at: number
    live_keys: number
    test_keys: number
  }>(
    `SELECT application.application, settings, application.created_at,
       count(api_key.id) FILTER (WHERE mode = 'live')::integer AS live_keys,
       count(api_key.id) FILTER (WHERE mode = 'test')::integer AS test_keys
     FROM application LEFT JOIN api_key
       ON api_key.application = application.application AND api_key.revoked_at IS NULL
     GROUP BY application.application ORDER BY application.application`,
  )
  return rows.map((row) => {
    const { name, tier } = effective(row.application, parse(row.settings))
    const keys = { liveKeys: row.live_keys, testKeys: row.test_keys }
    return { application: row.application, name, tier, ...keys, createdAt: row.created_at }
  })
}

/** Every setting of an application, and whether somebody set it. */
export async function showSettings(desk: Desk, application: string): Promise<Setting[]> {
  const set = await settingsOf(desk.store, application)
  const all = effective(application, set)
  const values = { ...all, ...all.limits }
  return Object.keys(settingsSchema.shape).map((name) => {
    const value = values[name as keyof typeof values]
    const from = set[name as keyof ApplicationSettings] === undefined ? 'default' : 'set'
    return { name, value: Array.isArray(value) ? value.join(',') : String(value ?? ''), from }
  })
}

/** Sets some settings and unsets others; what is neither stays. Every process follows within a second. */
export async function changeSettings(
  desk: Desk,
  application: string,
  changes: { readonly set: ApplicationSettings; readonly unset: readonly string[] },
): Promise<void> {
  await change(
    desk,
    async (tx) => {
      const before = await settingsOf(tx, application, 'FOR UPDATE')
      const kept = Object.entries(before).filter(([name]) => !changes.unset.includes(name))
      const after = settingsSchema.parse({ ...Object.fromEntries(kept), ...changes.set })
      await tx.query('UPDATE application SET settings = $2 WHERE application = $1', [
        application,
        JSON.stringify(after),
      ])
    },
    () => ({
      application,
      action: 'application.changed',
      detail: [written(changes.set), ...changes.unset.map((name) => `${name} unset`)]
        .filter(Boolean)
        .join(' '),
    }),
  )
}

/** The limits that are set for an application, the defaults for the rest. */
export async function limitsOf(desk: Desk, application: string): Promise<Limits> {
  return effective(application, await settingsOf(desk.store, application)).limits
}

/** Throws an `OperatorError` when there is no such application. */
export async function mustExist(queries: Queries, application: string): Promise<void> {
  await settingsOf(queries, application)
}

async function settingsOf(
  queries: Queries,
  application: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<ApplicationSettings> {
  const row = await one<{ settings: string }>(
    queries,
    `SELECT settings FROM application WHERE application = $1 ${lock}`,
    [application],
  )
  if (row) return parse(row.settings)
  throw new OperatorError(`There is no application "${application}": list them, or create it first.`)
}

function parse(settings: string): ApplicationSettings {
  return settingsSchema.parse(JSON.parse(settings))
}

function effective(application: string, set: ApplicationSettings) {
  const base = newcomer(application)
  const its = application === DEFAULT_APPLICATION ? { ...base, tier: 'enterprise' as const } : base
  return applicationFrom(application, 'live', its, set)
}

function written(settings: ApplicationSettings): string {
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
