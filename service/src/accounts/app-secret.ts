import { type Match, matchStep } from '../authenticator-app/totp.js'
import type { Application } from '../application.js'
import type { Core } from '../flows/context.js'
import { appSecretIdentity } from '../secrets/seal-identity.js'
import { open, sameSealedSql, seal } from '../secrets/seal.js'
import { one, type Queries, type Store } from '../store/store.js'
import { type Attempt, type Attempted, attempt, attemptStatement, FIRST_PARAMETER } from './attempt.js'

/** An account's authenticator app: the confirmed secret and one that waits for its first right code. */
export interface AppSecretRow {
  readonly sealed: string | null
  readonly pending: string | null
  /** The last step of the confirmed one that counted. */
  readonly last_step: number
}

/** The name of the authenticator app among an account's factors. */
export const APP_FACTOR = 'APP'

/**
 * The account's authenticator secrets, still sealed. An account that is asked about for the first time is made, so
 * that its failures have a place and nothing tells it from another (R90).
 */
export function findAppSecret(
  queries: Queries,
  application: Application,
  account: string,
): Promise<AppSecretRow | undefined> {
  return one<AppSecretRow>(
    queries,
    `WITH known AS (INSERT INTO account (application, account) VALUES ($1, $2) ON CONFLICT DO NOTHING)
     SELECT sealed, pending, last_step FROM app_secret WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
}

/** Keeps a secret beside the confirmed one until its first right code (R54, R55); an earlier one is dropped. */
export async function keepPending(
  core: Core,
  tx: Queries,
  application: Application,
  account: string,
  secret: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO app_secret (application, account, pending) VALUES ($1, $2, $3)
     ON CONFLICT (application, account) DO UPDATE SET pending = EXCLUDED.pending`,
    [application.id, account, seal(core.keys, appSecretIdentity(application.id, account), secret)],
  )
}

/** What a code is to a sealed secret. */
export function matchSealed(
  core: Core,
  application: Application,
  account: string,
  sealed: string,
  code: string,
  now: number,
): Match {
  const secret = open(core.keys, appSecretIdentity(application.id, account), sealed)
  return matchStep(secret, code, now, application.limits.appStepsAhead)
}

const parameter = (index: number) => `$${FIRST_PARAMETER + index}`
const [STEP, SECRET, ALWAYS] = [0, 1, 2].map(parameter)

// A step counts once and none before it, whatever the clock says (R51, R57); the secret must still be the one that
// the code was compared with.
const CONFIRMED = attemptStatement(`stepped AS (
    UPDATE app_secret SET last_step = greatest(last_step, ${STEP}::bigint) FROM gate
    WHERE gate.open AND NOT gate.disabled AND application = $1 AND account = $2
      AND ${sameSealedSql('sealed', `${SECRET}`)} AND (last_step < ${STEP}::bigint OR ${ALWAYS}::boolean) RETURNING 1
  ), tried AS (
    SELECT EXISTS (SELECT FROM stepped) AS ok, NULL::text AS challenge, false AS rebound FROM gate
    WHERE gate.open AND NOT gate.disabled
  )`)

// The pending secret becomes the confirmed one, its step used, its failures forgotten (R26, R54).
const PENDING = attemptStatement(`bound AS (
    UPDATE app_secret SET sealed = pending, pending = NULL, last_step = ${STEP}::bigint, bound_at = $4::bigint
    FROM gate
    WHERE gate.open AND application = $1 AND account = $2
      AND ${sameSealedSql('pending', `${SECRET}`)} AND ${STEP}::bigint IS NOT NULL RETURNING 1
  ), tried AS (
    SELECT EXISTS (SELECT FROM bound) AS ok, NULL::text AS challenge, true AS rebound FROM gate
    WHERE gate.open
  )`)

/** Makes an attempt with the code of `step`, one of `sealed`; without a step it is wrong, and counts. */
export function attemptApp(
  store: Store,
  application: Application,
  attempted: Attempt,
  now: number,
  typed: {
    readonly as: 'confirmed' | 'pending'
    readonly sealed: string | null
    readonly step: number | undefined
    /** It is a test key's code that belongs to no step. */
    readonly alwaysRight: boolean
  },
): Promise<Attempted | undefined> {
  const { as, sealed, step, alwaysRight } = typed
  return as === 'pending'
    ? attempt(store, PENDING, application, { ...attempted, tellsSuccess: true }, now, [step ?? null, sealed])
    : attempt(store, CONFIRMED, application, attempted, now, [step ?? null, sealed, alwaysRight])
}

/** Binds a secret that is confirmed elsewhere; `false` when the account already has a confirmed one. */
export async function keepConfirmed(
  core: Core,
  tx: Queries,
  application: Application,
  account: string,
  secret: string,
  now: number,
): Promise<boolean> {
  const row = await one(
    tx,
    `INSERT INTO app_secret (application, account, sealed, bound_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (application, account) DO UPDATE SET sealed = EXCLUDED.sealed, bound_at = EXCLUDED.bound_at
     WHERE app_secret.sealed IS NULL RETURNING account`,
    [application.id, account, seal(core.keys, appSecretIdentity(application.id, account), secret), now],
  )
  return row !== undefined
}
