import type { Scope } from 'countersign/protocol'
import type { RelyingPartySettings } from '../accounts/application.js'
import { SIGN_IN_SCOPES } from '../accounts/applications/api-key.js'
import { DEFAULT_APPLICATION } from '../accounts/applications/directory.js'
import { findPolicyFaults, unfitOrigins } from '../accounts/applications/key-settings.js'
import { adviseUnrestricted, findUnrestrictedApplications } from '../accounts/applications/offered-methods.js'
import { UNNAMED } from '../accounts/applications/settings.js'
import type { Store } from '../store/store.js'
import { DAY_MS } from '../time.js'
import { type Diagnostic, type DoctorOptions, reportOn } from './diagnostic.js'
import { adviseLockedOut, findLockedOutUsers, readApplication } from './locked-out-users.js'

const apiKeys = reportOn('API keys')
const countries = reportOn('countries')
const securityKeys = reportOn('security keys')

/** How long before its end a key is pointed out, and how long a network that is new for a key. */
const EXPIRES_SOON_MS = 14 * DAY_MS
const NEW_NETWORK_MS = 7 * DAY_MS

const IS_LIVE = "mode = 'live' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)"

interface ApplicationCounts {
  readonly applications: number
  /** How many serve every country, as their settings say. */
  readonly everywhere: number
  readonly liveKeys: number
}

/** Checks the keys, names and countries of all applications. */
export async function diagnoseApplications(
  store: Store,
  { optionKey = [], applicationName = UNNAMED, homeCountry }: DoctorOptions,
  now: number,
): Promise<Diagnostic[]> {
  const [counts] = await store.query<ApplicationCounts>(
    `SELECT count(*)::integer AS applications, (SELECT count(*)::integer FROM api_key WHERE ${IS_LIVE}) AS "liveKeys",
       count(*) FILTER (WHERE settings::jsonb -> 'countries' = '[]')::integer AS everywhere FROM application`,
    [now],
  )
  if (!counts || counts.applications === 0) return [apiKeys.noData('There are no applications yet.')]
  return [
    ...(await diagnoseApiKeys(store, optionKey, counts, now)),
    ...(await diagnoseNames(store, applicationName)),
    await diagnoseCountries(store, homeCountry, counts),
  ]
}

/** Checks whether every application has live keys with the scopes that signing in needs, which soon expire or are used elsewhere. */
async function diagnoseApiKeys(
  store: Store,
  optionKey: readonly Scope[],
  { applications: all, liveKeys }: ApplicationCounts,
  now: number,
): Promise<Diagnostic[]> {
  const ofLiveKey = `api_key.application = application.application AND ${IS_LIVE}`
  // Most applications have one key with all of them.
  const applications = await store.query<{ application: string; scopes: readonly string[] }>(
    `SELECT application, coalesce((SELECT array_agg(DISTINCT scope) FROM api_key, unnest(scopes) AS one (scope)
         WHERE ${ofLiveKey}), '{}') AS scopes
     FROM application WHERE NOT EXISTS (SELECT FROM api_key WHERE ${ofLiveKey} AND scopes @> $2::text[])
     ORDER BY application`,
    [now, SIGN_IN_SCOPES],
  )
  const lacking = applications.flatMap(({ application, scopes: stored }) => {
    const scopes = application === DEFAULT_APPLICATION ? [...stored, ...optionKey] : stored
    const missing = SIGN_IN_SCOPES.filter((scope) => !scopes.includes(scope))
    if (missing.length === 0) return []
    const fault =
      scopes.length === 0
        ? `The application "${application}" has no live key`
        : `No live key of "${application}" has the scope ${missing.join(' or ')}, which signing users in needs`
    return apiKeys.warning(`${fault}: create one with key create ${application}.`, { application })
  })
  const found = [...lacking, ...(await diagnoseKeyUse(store, now))]
  if (found.length > 0) return found
  const ofOptions = optionKey.length > 0 ? ' and SERVICE_API_KEY' : ''
  return [
    apiKeys.ok(`Every application has a live key. Applications: ${all}, keys: ${liveKeys}${ofOptions}.`),
  ]
}

/** Keys that expire soon, and keys that were used from networks that are new for them. */
async function diagnoseKeyUse(store: Store, now: number): Promise<Diagnostic[]> {
  const rows = await store.query<{
    application: string
    id: string
    expires_at: number | null
    new_network: string | null
    new_network_at: number | null
  }>(
    `SELECT application, id, expires_at, new_network, new_network_at FROM api_key
     WHERE revoked_at IS NULL AND (expires_at > $1 OR expires_at IS NULL) AND (expires_at <= $2 OR new_network_at > $3)
     ORDER BY application, id`,
    [now, now + EXPIRES_SOON_MS, now - NEW_NETWORK_MS],
  )
  return rows.flatMap(({ application, id, expires_at, new_network, new_network_at }) => {
    const which = `The key ${id} of "${application}"`
    const messages: string[] = []
    if (expires_at !== null && expires_at <= now + EXPIRES_SOON_MS) {
      const day = new Date(expires_at).toISOString().slice(0, 10)
      messages.push(`${which} expires on ${day}: create another one with key create ${application}.`)
    }
    if (new_network_at !== null && new_network_at > now - NEW_NETWORK_MS) {
      const network = `${new_network}, a network that was new for it`
      messages.push(
        `${which} was used from ${network}: if nothing of yours is there, key revoke ${application} ${id}.`,
      )
    }
    return messages.map((message) => apiKeys.warning(message, { application }))
  })
}

/** Checks whether every application has a name for its users. Reports nothing if all have. */
async function diagnoseNames(store: Store, applicationName: string): Promise<Diagnostic[]> {
  const rows = await store.query<{ application: string }>(
    "SELECT application FROM application WHERE settings::jsonb -> 'name' IS NULL ORDER BY application",
  )
  const isDefault = (application: string) => application === DEFAULT_APPLICATION
  const unnamed = rows
    .map(({ application }) => application)
    .filter((application) => !(isDefault(application) && applicationName !== UNNAMED))
  const [first] = unnamed
  if (first === undefined) return []
  const shown = unnamed.map((name) => (isDefault(name) ? `"${name}" (as "${UNNAMED}")` : `"${name}"`))
  const option = unnamed.some(isDefault) ? ', or SERVICE_APPLICATION_NAME for "default"' : ''
  const message =
    `No name is set, so messages and authenticator apps show users the technical name of ${shown.join(', ')}: ` +
    `set one with app settings ${first} name=…${option}.`
  return [reportOn('names').warning(message, { application: first, applications: unnamed, setting: 'name' })]
}

async function diagnoseCountries(
  store: Store,
  homeCountry: string | undefined,
  { applications: all, everywhere }: ApplicationCounts,
): Promise<Diagnostic> {
  const unrestricted = await findUnrestrictedApplications(store, homeCountry)
  const [first] = unrestricted
  if (first !== undefined) {
    const about = { application: first, applications: unrestricted, setting: 'countries' }
    return countries.warning(adviseUnrestricted(unrestricted), about)
  }
  const those = everywhere === 0 ? '' : `; ${everywhere} of ${all} serve all of them`
  return countries.ok(`Every application says which countries it serves${those}.`)
}

/** Checks the relying parties of all applications; nothing is reported if none has one. */
export async function diagnoseRelyingParties(store: Store, service: DoctorOptions): Promise<Diagnostic[]> {
  const rows = await store.query<{ application: string; settings: string }>(
    `SELECT application, settings FROM application
     WHERE application = $1 OR settings::jsonb ? 'relyingPartyId' ORDER BY application`,
    [DEFAULT_APPLICATION],
  )
  const applications = rows.flatMap((row) => {
    const { relyingParty, keyPolicy, origin } = readApplication(row, service.relyingParty)
    return relyingParty ? [{ name: row.application, relyingParty, keyPolicy, host: origin }] : []
  })
  const faults = applications.flatMap(({ name, relyingParty, keyPolicy, host }) =>
    [
      ...findRelyingPartyFaults(relyingParty, host, service.production),
      ...findPolicyFaults(keyPolicy).map((message) => createFault('keyAttestation', message)),
    ].map(({ severity, setting, message }) =>
      securityKeys[severity](`"${name}": ${message}`, { application: name, setting }),
    ),
  )
  if (applications.length === 0 || faults.length > 0) return faults
  const ids = applications.map(({ name, relyingParty }) => `${relyingParty.id} for "${name}"`)
  return [securityKeys.ok(`The relying parties fit their origins: ${ids.join(', ')}.`)]
}

interface Fault {
  readonly severity: 'warning' | 'error'
  readonly setting: string
  readonly message: string
}

function createFault(setting: string, message: string, severity: Fault['severity'] = 'error'): Fault {
  return { severity, setting, message }
}

function findRelyingPartyFaults(
  relyingParty: RelyingPartySettings,
  host: string | undefined,
  production: boolean,
): Fault[] {
  const { id, origins } = relyingParty
  const unfit = unfitOrigins(relyingParty)
  const pages = host === undefined ? [] : unfitOrigins({ id, origins: [`https://${host}`] })
  const local = production ? origins.filter((origin) => origin.startsWith('http://')) : []
  return [
    ...unfit.map((origin) => {
      const advice = `use an origin of ${id} or of a host below it, or add it to relatedOrigins.`
      return createFault('relyingPartyOrigins', `browsers refuse keys of ${id} at ${origin}: ${advice}`)
    }),
    ...pages.map(() => {
      const advice = 'its id must be their domain or one above it.'
      const message = `the pages at ${host} cannot use keys of the relying party ${id}: ${advice}`
      return createFault('relyingPartyId', message, 'warning')
    }),
    ...local.map((origin) => {
      const message = `${origin} is an origin for development: remove it in production.`
      return createFault('relyingPartyOrigins', message, 'warning')
    }),
  ]
}

/** Checks whether users have nothing but keys that their application does not offer now (R132). Reports nothing if there are none. */
export async function diagnoseLockedOut(
  store: Store,
  { relyingParty }: DoctorOptions,
): Promise<Diagnostic[]> {
  const found = await findLockedOutUsers(store, relyingParty)
  return found.map((one) =>
    securityKeys.warning(adviseLockedOut(one), { application: one.application, setting: 'methods' }),
  )
}

/** Checks whether authenticator secrets of fewer than 128 bits were imported. Reports nothing if there are none. */
export async function diagnoseWeakSecrets(store: Store): Promise<Diagnostic[]> {
  const rows = await store.query<{ application: string; secrets: number }>(
    'SELECT application, count(*)::integer AS secrets FROM app_secret WHERE weak GROUP BY application ORDER BY application',
  )
  return rows.map(({ application, secrets }) => {
    const found = `Imported secrets of fewer than 128 bits in "${application}": ${secrets}.`
    return reportOn('authenticator apps').warning(`${found} Ask their users to set up a new app.`, {
      application,
    })
  })
}
