import { DEFAULT_APPLICATION } from '../applications/directory.js'
import { allKeys, type Keys } from '../secrets/keys.js'
import { pendingMigrations } from '../store/migrate.js'
import { one, type Store } from '../store/store.js'
import { keyUses } from './key-use.js'

/** What the doctor looks at, in this order. */
export const SUBJECTS = [
  'settings',
  'carriers',
  'database',
  'migrations',
  'secrets',
  'deliveries',
  'API keys',
] as const

/** One thing the doctor looked at. */
export interface Finding {
  /** `wrong`: something does not work. `look`: it works, and somebody should know. */
  readonly state: 'well' | 'look' | 'wrong'
  readonly about: (typeof SUBJECTS)[number]
  /** What was found and, unless it is well, what to do. */
  readonly finding: string
}

const SKEW_MS = 2_000
const OVERDUE_MS = 60_000
const DAY_MS = 86_400_000

/** Examines a store with the keys that its service has. Changes nothing. */
export async function examine(
  store: Store,
  keys: Keys,
  about: { readonly production: boolean; readonly environmentKey: boolean },
): Promise<Finding[]> {
  const now = Date.now()
  const database = await examineDatabase(store, about.production, now)
  const unfinished = await examineMigrations(store)
  // What the rest would ask for may not be there yet.
  if (unfinished) return [database, unfinished]
  return [
    database,
    ...(await examineKeys(store, keys, now)),
    await examineDeliveries(store, now),
    ...(await examineApplications(store, about.environmentKey)),
  ]
}

async function examineDatabase(store: Store, production: boolean, now: number): Promise<Finding> {
  const about = 'database'
  const row = await one<{ version: string; time: number }>(
    store,
    `SELECT current_setting('server_version') AS version,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time`,
    [],
  )
  const name = `${store.name} ${row?.version ?? ''}`.trim()
  if (store.name === 'pglite') {
    if (!production) return { state: 'well', about, finding: name }
    const finding = `${name}: for one process only, and slow. Set DATABASE_URL to a PostgreSQL database.`
    return { state: 'look', about, finding }
  }
  const skewMs = Math.abs((row?.time ?? now) - now)
  if (Number.parseInt(row?.version ?? '', 10) < 15) {
    return { state: 'wrong', about, finding: `${name} is too old: take PostgreSQL 15 or later.` }
  }
  if (skewMs < SKEW_MS) return { state: 'well', about, finding: name }
  const finding = `Its clock and ours differ by ${Math.round(skewMs / 1000)} s: authenticator apps need the right time. Set up NTP.`
  return { state: 'look', about, finding }
}

/** What is to be done before this release can use the store; nothing when it can. */
async function examineMigrations(store: Store): Promise<Finding | undefined> {
  const about = 'migrations'
  const then = 'the service does it when it starts, or run migrate.'
  const known = await one<{ name: string | null }>(store, "SELECT to_regclass('migration')::text AS name", [])
  if (!known?.name) return { state: 'look', about, finding: `The database has no tables yet: ${then}` }
  const pending = await pendingMigrations(store)
  if (pending.length === 0) return undefined
  return { state: 'look', about, finding: `${pending.join(', ')} must be applied: ${then}` }
}

async function examineKeys(store: Store, keys: Keys, now: number): Promise<Finding[]> {
  const about = 'secrets'
  const known = allKeys(keys).map(({ id }) => id)
  const uses = await keyUses(store, now)
  const others = uses.filter(({ keyId }) => keyId !== keys.id)
  if (others.length === 0) {
    const needless = keys.previous.length > 0
    const finding = needless
      ? 'SERVICE_SECRET_PREVIOUS is not needed any more: take it out, once every process has the new secret.'
      : `Everything is written with key ${keys.id}.`
    return [{ state: needless ? 'look' : 'well', about, finding }]
  }
  return others.map(({ keyId, what, count, movable }): Finding => {
    const found = `${count} ${what} depend on key ${keyId}`
    if (!known.includes(keyId)) {
      const finding = `${found}, which is unknown here: name its secret in SERVICE_SECRET_PREVIOUS.`
      return { state: 'wrong', about, finding }
    }
    const remedy = movable
      ? 'run rotate-secrets.'
      : 'keep its secret in SERVICE_SECRET_PREVIOUS until they are used or renewed.'
    return { state: 'look', about, finding: `${found}: ${remedy}` }
  })
}

async function examineDeliveries(store: Store, now: number): Promise<Finding> {
  const about = 'deliveries'
  const row = await one<{ overdue: number; retried: number; lost: number; sent: number }>(
    store,
    `SELECT count(*) FILTER (WHERE state = 'queued' AND due_at < $1)::integer AS overdue,
       count(*) FILTER (WHERE state = 'queued' AND attempts > 0)::integer AS retried,
       count(*) FILTER (WHERE state IN ('refused', 'expired') AND created_at > $2)::integer AS lost,
       count(*) FILTER (WHERE state = 'sent' AND created_at > $2)::integer AS sent
     FROM outbox`,
    [now - OVERDUE_MS, now - DAY_MS],
  )
  const { overdue = 0, retried = 0, lost = 0, sent = 0 } = row ?? {}
  if (overdue > 0) {
    return { state: 'look', about, finding: `${overdue} messages are overdue: is a service running?` }
  }
  const finding = `In 24 h ${sent} were sent and ${lost} reached nobody.`
  if (retried > 0) {
    const now = `Just now ${retried} wait for another try: a carrier is down.`
    return { state: 'look', about, finding: `${finding} ${now} The command deliveries says which.` }
  }
  if (lost <= sent / 10) return { state: 'well', about, finding }
  return { state: 'look', about, finding: `${finding} The command deliveries says why.` }
}

async function examineApplications(store: Store, environmentKey: boolean): Promise<Finding[]> {
  const rows = await store.query<{ application: string }>(
    `SELECT application FROM application WHERE NOT EXISTS (
       SELECT FROM api_key WHERE api_key.application = application.application AND mode = 'live'
         AND revoked_at IS NULL) ORDER BY application`,
  )
  const keyless = rows
    .map(({ application }) => application)
    .filter((name) => !(environmentKey && name === DEFAULT_APPLICATION))
  if (keyless.length === 0)
    return [{ state: 'well', about: 'API keys', finding: 'Every application has one.' }]
  return keyless.map((name) => ({
    state: 'look',
    about: 'API keys',
    finding: `"${name}" has no live key: make one with key create ${name}.`,
  }))
}
