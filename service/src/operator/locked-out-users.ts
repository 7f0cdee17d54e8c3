import { countLockedOut, type LockedOut } from '../accounts/account-factors.js'
import type { Application } from '../accounts/application.js'
import { DEFAULT_APPLICATION } from '../accounts/applications/directory.js'
import { createRelyingParty, type RelyingPartyOption } from '../accounts/applications/key-settings.js'
import { KEPT_METHODS, type KeptMethod, usableMethods } from '../accounts/applications/offered-methods.js'
import {
  applicationDefaults,
  completeApplication,
  parseStoredSettings,
} from '../accounts/applications/settings.js'
import { isTestPartition } from '../store/partition.js'
import type { Queries } from '../store/store.js'

const MAX_APPLICATIONS = 100

/** An application with users who cannot sign in, because it does not offer now what they have. */
export interface LockedOutUsers {
  readonly application: string
  readonly lockedOut: readonly LockedOut[]
}

/** The applications with locked-out users (R132), among the first hundred that have keys or switched apps off. Test keys do not count. */
export async function findLockedOutUsers(
  queries: Queries,
  relyingParty: RelyingPartyOption | undefined,
): Promise<LockedOutUsers[]> {
  const rows = await queries.query<{ application: string; settings: string }>(
    // Goes from application to application by the index, and reads no more of their keys.
    `WITH RECURSIVE having_keys AS (
       (SELECT application FROM account_key ORDER BY application LIMIT 1)
       UNION ALL
       SELECT (SELECT key.application FROM account_key AS key WHERE key.application > having_keys.application
               ORDER BY key.application LIMIT 1)
       FROM having_keys WHERE having_keys.application IS NOT NULL
     )
     SELECT application, settings FROM application
     WHERE application IN (SELECT application FROM having_keys) OR NOT settings::jsonb -> 'methods' @> '"app"'
     LIMIT ${MAX_APPLICATIONS}`,
  )
  const all: LockedOutUsers[] = []
  for (const row of rows) {
    const { application } = row
    if (isTestPartition(application)) continue
    const found = readApplication(row, relyingParty)
    const usable = usableMethods(found.methods, found.relyingParty !== undefined)
    const withheld = KEPT_METHODS.filter((method) => !usable.includes(method))
    const lockedOut = await countLockedOut(queries, { id: application }, withheld)
    if (lockedOut.length > 0) all.push({ application, lockedOut })
  }
  return all
}

/** The application in this row; `relyingParty` is that of the service, which `default` has unless its settings say otherwise. */
export function readApplication(
  { application, settings }: { readonly application: string; readonly settings: string },
  relyingParty: RelyingPartyOption | undefined,
): Application {
  const defaults = applicationDefaults(application)
  const own = createRelyingParty(relyingParty, application)
  const base = application === DEFAULT_APPLICATION ? { ...defaults, relyingParty: own } : defaults
  return completeApplication(application, base, parseStoredSettings(settings))
}

const FACTORS: Readonly<Record<KeptMethod, string>> = {
  app: 'an authenticator app',
  passkey: 'passkeys',
  'security-key': 'security keys',
}

/** How many users have nothing but factors of each method: `2 users have only passkeys`. */
export function describeLockedOut(lockedOut: readonly LockedOut[]): string {
  return lockedOut
    .map(({ method, users, mayBeMore }) => {
      const number = `${mayBeMore ? 'at least ' : ''}${users.toLocaleString('en')}`
      const has = users === 1 && !mayBeMore ? 'user has' : 'users have'
      return `${number} ${has} only ${FACTORS[method]}`
    })
    .join(' and ')
}

/** The advice for locked-out users of one application. */
export function adviseLockedOut({ application, lockedOut }: LockedOutUsers): string {
  return (
    `In "${application}", ${describeLockedOut(lockedOut)}, which the application does not offer now, so they cannot sign in. ` +
    `Switch this on again with app settings ${application}, methods and relyingPartyId, or let your app reset these accounts.`
  )
}
