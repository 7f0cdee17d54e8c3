import { clockDifferenceMs, MAX_CLOCK_DIFFERENCE_MS } from '../store/clock.js'
import { hasNoTables, inspectMigrations } from '../store/migrate.js'
import { lackOfPrivileges, missingPrivileges } from '../store/privileges.js'
import { type Keys, listKeys } from '../store/secrets/keys.js'
import type { Store } from '../store/store.js'
import { showActivity } from './activity.js'
import { diagnoseCeilings } from './daily-ceilings.js'
import {
  diagnoseApplications,
  diagnoseLockedOut,
  diagnoseRelyingParties,
  diagnoseWeakSecrets,
} from './diagnose-applications.js'
import {
  diagnoseDeliveries,
  diagnoseEvents,
  diagnosePhoneCheck,
  diagnoseSenders,
  diagnoseTraffic,
} from './diagnose-sending.js'
import { type Diagnostic, type DoctorOptions, reportOn } from './diagnostic.js'
import { diagnoseLocked } from './locked-users.js'
import { describeKeyUse, keyUses } from './rotate-secrets.js'

const database = reportOn('database')

/** Checks a store with the keys of its service. Changes nothing. */
export async function diagnoseStore(store: Store, keys: Keys, service: DoctorOptions): Promise<Diagnostic[]> {
  const now = Date.now()
  const ofDatabase = await diagnoseDatabase(store, service.production)
  const migrations = await diagnoseMigrations(store)
  // The tables that the other checks read may not exist yet.
  if (migrations) return [ofDatabase, migrations]
  const report = await showActivity({ store }, { period: 'day' })
  return [
    ofDatabase,
    ...(await diagnoseLog(store)),
    ...(await diagnoseKeys(store, keys, now)),
    await diagnoseDeliveries(store, report, now),
    ...(await diagnoseEvents(store, now)),
    ...(await diagnoseApplications(store, service, now)),
    ...(await diagnoseCeilings(store, service.limits)),
    ...(await diagnoseTraffic(store, report, now)),
    ...(await diagnosePhoneCheck(store, now)),
    ...(await diagnoseLocked(store, now)),
    ...(await diagnoseRelyingParties(store, service)),
    ...(await diagnoseLockedOut(store, service)),
    ...(await diagnoseWeakSecrets(store)),
    ...(service.routes ? await diagnoseSenders(store, service.routes) : []),
  ]
}

async function diagnoseDatabase(store: Store, production: boolean): Promise<Diagnostic> {
  const [row] = await store.query<{ version: string }>(`SELECT current_setting('server_version') AS version`)
  const name = `${store.name} ${row?.version ?? ''}`.trim()
  if (store.name === 'pglite') {
    if (!production) return database.ok(name)
    return database.warning(
      `${name} is slow and serves one process only. Set DATABASE_URL to a PostgreSQL database.`,
    )
  }
  const differenceMs = Math.abs(await clockDifferenceMs(store))
  if (Number.parseInt(row?.version ?? '', 10) < 15) {
    return database.error(`${name} is too old: use PostgreSQL 15 or later.`)
  }
  if (differenceMs < MAX_CLOCK_DIFFERENCE_MS) return database.ok(name)
  const seconds = Math.round(differenceMs / 1000)
  return database.warning(
    `The clocks of the database and of this machine differ by ${seconds} s, but authenticator apps need the correct time. Set up NTP.`,
  )
}

/** Checks whether the database writes parameters of statements to its log: contacts are among them. Reports nothing if it does not. */
async function diagnoseLog(store: Store): Promise<Diagnostic[]> {
  const rows = await store.query<{ role: string }>(
    `SELECT quote_ident(current_user) AS role WHERE current_setting('log_parameter_max_length_on_error') <> '0'
       OR current_setting('log_parameter_max_length') <> '0' AND (current_setting('log_min_duration_statement') <> '-1'
         OR current_setting('log_min_duration_sample') <> '-1' OR current_setting('log_statement') IN ('mod', 'all'))`,
  )
  return rows.map(({ role }) =>
    database.warning(
      'The log of PostgreSQL shows parameters of statements, and so contacts of users. As a superuser, run: ' +
        `ALTER ROLE ${role} SET log_parameter_max_length = 0, and the same for log_parameter_max_length_on_error.`,
    ),
  )
}

/** The steps before this release can use the store; `undefined` when it can. */
async function diagnoseMigrations(store: Store): Promise<Diagnostic | undefined> {
  const { warning, error } = reportOn('migrations')
  const remedy = 'start the service, which applies them, or run migrate.'
  if (await hasNoTables(store)) return warning(`The database has no tables yet: ${remedy}`)
  const missing = await missingPrivileges(store)
  if (missing.length > 0) return database.error(lackOfPrivileges(missing))
  const { pending, fault } = await inspectMigrations(store)
  if (fault !== undefined) return error(fault)
  return pending.length === 0 ? undefined : warning(`${pending.join(', ')} must be applied: ${remedy}`)
}

async function diagnoseKeys(store: Store, keys: Keys, now: number): Promise<Diagnostic[]> {
  const { ok, noData, warning, error } = reportOn('secrets')
  const known = listKeys(keys).map(({ id }) => id)
  const uses = await keyUses(store, now)
  const former = uses.filter(({ keyId }) => keyId !== keys.id)
  if (uses.length === 0 && keys.previous.length === 0) return [noData('Nothing was encrypted yet.')]
  if (former.length === 0) {
    return keys.previous.length === 0
      ? [ok(`Everything uses key ${keys.id}.`)]
      : [
          warning(
            'SERVICE_PREVIOUS_SECRETS is no longer needed: remove it once every process has the new secret.',
          ),
        ]
  }
  return former.map((use) => {
    const found = describeKeyUse(use)
    if (!known.includes(use.keyId)) {
      return error(`${found}, which is unknown: add its secret to SERVICE_PREVIOUS_SECRETS.`)
    }
    const remedy = use.movable
      ? 'run rotate-secrets.'
      : 'keep its secret in SERVICE_PREVIOUS_SECRETS until they are used or renewed.'
    return warning(`${found}: ${remedy}`)
  })
}
