import type { Keys } from '../store/secrets/keys.js'
import { appSecretIdentity, compareSealedSql, open, seal } from '../store/secrets/seal.js'
import { type Queries, queryOne } from '../store/store.js'
import { forgetFactor, type OfAccount } from './account.js'
import type { Application } from './application.js'
import { type MakeAttempt, makeAttempt } from './attempt.js'
import { attemptStatement, matchAccountSql } from './attempt-statement.js'
import { matchStep, type StepMatch } from './authenticator-app/totp.js'

/** An account's authenticator app: the confirmed secret, and one that awaits its first valid code. */
export interface AppSecretRow {
  readonly sealed: string | null
  readonly pending: string | null
  /** When the pending secret was made, in milliseconds since 1970. */
  readonly pending_since: number | null
  /** The last step of the confirmed secret whose code was accepted. */
  readonly last_step: number
}

/** The name of the authenticator app among an account's factors. */
export const APP_FACTOR = 'APP'

/** The sealed authenticator secrets. An unknown account is created, so that its failures count and its responses do not differ (R90). */
export const findAppSecret: OfAccount<AppSecretRow | undefined> = (queries, application, account) => {
  return queryOne<AppSecretRow>(
    queries,
    `WITH known AS (INSERT INTO account (application, account) VALUES ($1, $2) ON CONFLICT DO NOTHING)
     SELECT sealed, pending, pending_since, last_step FROM app_secret WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
}

/** Stores a secret beside the confirmed one until its first valid code (R54, R55), in place of an earlier pending one. */
export async function storePendingSecret(
  keys: Keys,
  tx: Queries,
  application: Application,
  account: string,
  secret: string,
  now: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO app_secret (application, account, pending, pending_since) VALUES ($1, $2, $3, $4)
     ON CONFLICT (application, account)
     DO UPDATE SET pending = EXCLUDED.pending, pending_since = EXCLUDED.pending_since`,
    [application.id, account, seal(keys, appSecretIdentity(application.id, account), secret), now],
  )
}

/** The pending secret, unless it has waited too long for its first valid code (R98). */
export function livePendingSecret(
  { limits }: Application,
  row: AppSecretRow | undefined,
  now: number,
): string | null {
  const ageMs = now - (row?.pending_since ?? Number.NEGATIVE_INFINITY)
  return row !== undefined && ageMs < limits.enrollmentLifetimeMs ? row.pending : null
}

/** Matches a code against a sealed secret. */
export function matchSealed(
  keys: Keys,
  application: Application,
  account: string,
  sealed: string,
  code: string,
  now: number,
): StepMatch {
  const secret = open(keys, appSecretIdentity(application.id, account), sealed)
  return matchStep(secret, code, now, application.limits.appStepsAhead)
}

// A step counts once, and no step before it counts, whatever the clock says (R51, R57). The secret must still be the
// one that the code was compared with.
const EVALUATE_CONFIRMED = attemptStatement(
  'app',
  'step bigint, secret text, always_valid boolean',
  `stepped AS (
    UPDATE app_secret SET last_step = greatest(last_step, gate.step) FROM gate
    WHERE gate.open AND NOT gate.disabled AND ${matchAccountSql('app_secret', 'gate')}
      AND ${compareSealedSql('sealed', 'gate.secret')}
      AND (last_step < gate.step OR gate.always_valid)
    RETURNING gate.nr
  ), evaluated AS (
    SELECT nr, EXISTS (SELECT FROM stepped WHERE stepped.nr = gate.nr) AS ok, NULL::text AS challenge, false AS rebound
    FROM gate WHERE gate.open AND NOT gate.disabled
  )`,
)

// The pending secret becomes the confirmed one, its step is used, and the factor's failures are forgotten (R26, R54).
const EVALUATE_PENDING = attemptStatement(
  'pending-app',
  'step bigint, secret text',
  `bound AS (
    UPDATE app_secret
    SET sealed = pending, weak = false, digits = DEFAULT, pending = NULL, last_step = gate.step, bound_at = gate.now
    FROM gate
    WHERE gate.open AND ${matchAccountSql('app_secret', 'gate')}
      AND ${compareSealedSql('pending', 'gate.secret')} AND gate.step IS NOT NULL
    RETURNING gate.nr
  ), evaluated AS (
    SELECT nr, EXISTS (SELECT FROM bound WHERE bound.nr = gate.nr) AS ok, NULL::text AS challenge, true AS rebound
    FROM gate WHERE gate.open
  )`,
)

/** Makes an attempt with the code of `step` for the secret `sealed`; without a step the code is wrong, and counts. */
export const attemptAppCode: MakeAttempt<{
  readonly secretIs: 'confirmed' | 'pending'
  readonly sealed: string | null
  readonly step: number | undefined
  /** The code of test keys that is always valid and belongs to no step. */
  readonly alwaysValid: boolean
}> = ({ store }, application, attempt, now, { secretIs, sealed: secret, step = null, alwaysValid }) => {
  if (secretIs === 'confirmed') {
    const own = { step, secret, always_valid: alwaysValid }
    return makeAttempt(store, EVALUATE_CONFIRMED, application, attempt, now, own)
  }
  const notifying = { ...attempt, notifiesOnSuccess: true }
  return makeAttempt(store, EVALUATE_PENDING, application, notifying, now, { step, secret })
}

/** Deletes the app of an account, confirmed or not, and its failures. Resolves to `true` if it was confirmed. */
export const removeAppSecret: OfAccount<boolean> = async (tx, application, account) => {
  const [row] = await tx.query<{ confirmed: boolean }>(
    'DELETE FROM app_secret WHERE application = $1 AND account = $2 RETURNING sealed IS NOT NULL AS confirmed',
    [application.id, account],
  )
  await forgetFactor(tx, application, account, APP_FACTOR)
  return row?.confirmed ?? false
}

/** A secret that was confirmed elsewhere, as `writeAppSecret` wrote it. */
export interface ConfirmedSecret {
  readonly text: string
  /** Whether it has fewer than 128 bits. */
  readonly weak: boolean
  readonly digits: number
}
