import { matchStep } from '../app-factor/totp.js'
import type { Application } from '../application.js'
import type { Core } from '../core.js'
import { open, seal } from '../secrets/seal.js'
import { one, type Queries } from '../store/store.js'
import type { AccountRow } from './account.js'
import { resetFactor } from './failures.js'

/** An account's authenticator app: the confirmed secret and one that waits for its first right code. */
export interface AppSecretRow {
  readonly sealed: string | null
  readonly last_step: number
  readonly pending: string | null
}

/** The name of the authenticator app among an account's factors. */
export const APP_FACTOR = 'APP'

/** The account's authenticator secrets, still sealed. */
export function findAppSecret(
  tx: Queries,
  application: Application,
  account: string,
): Promise<AppSecretRow | undefined> {
  return one<AppSecretRow>(
    tx,
    'SELECT sealed, last_step, pending FROM app_secret WHERE application = $1 AND account = $2',
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
    [application.id, account, seal(core.keys, identity(application, account), secret)],
  )
}

/** The step of a sealed secret that the code belongs to, if any. */
export function stepOf(
  core: Core,
  application: Application,
  account: string,
  sealed: string,
  code: string,
  now: number,
): number | undefined {
  const secret = open(core.keys, identity(application, account), sealed)
  return matchStep(secret, code, now, application.limits.appStepsAhead)
}

/** Uses a step up; `false` when it or a later one was used before (R51, R57). */
export async function useStep(
  tx: Queries,
  application: Application,
  account: string,
  step: number,
): Promise<boolean> {
  const row = await one(
    tx,
    'UPDATE app_secret SET last_step = $3 WHERE application = $1 AND account = $2 AND last_step < $3 RETURNING last_step',
    [application.id, account, step],
  )
  return row !== undefined
}

/** Makes the pending secret the confirmed one, its step used, its failures forgotten (R26). */
export async function confirmPending(
  tx: Queries,
  application: Application,
  account: AccountRow,
  pending: string,
  step: number,
  now: number,
): Promise<boolean> {
  const row = await one(
    tx,
    `UPDATE app_secret SET sealed = pending, pending = NULL, last_step = $4, bound_at = $5
     WHERE application = $1 AND account = $2 AND pending = $3 RETURNING last_step`,
    [application.id, account.account, pending, step, now],
  )
  if (row) await resetFactor(tx, application, account, APP_FACTOR)
  return row !== undefined
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
    [application.id, account, seal(core.keys, identity(application, account), secret), now],
  )
  return row !== undefined
}

function identity(application: Application, account: string): string[] {
  return ['app secret', application.id, account]
}
