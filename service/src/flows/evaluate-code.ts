import { canonicalBackupCode, canonicalCode, type Refused } from 'countersign/protocol'
import { APP_FACTOR, attemptApp, findAppSecret, matchSealed } from '../accounts/app-secret.js'
import type { Attempt, Attempted } from '../accounts/attempt.js'
import { attemptBackup, BACKUP_FACTOR, backupCodesLeft } from '../accounts/backup-set.js'
import { attemptDelivered } from '../accounts/challenge.js'
import { type Match, matchStep, newAppSecret, stepsFrom } from '../authenticator-app/totp.js'
import type { Application } from '../application.js'
import { notTaken } from '../applications/offered-methods.js'
import type { Core } from './context.js'
import { isAlwaysRight } from '../test-mode/code.js'
import { isBackupShaped } from '../secrets/backup-code.js'
import type { Queries } from '../store/store.js'
import type { VerifyInput } from '../requests/inputs.js'

/** What a code can be taken as. */
export type TakenAs = 'delivered' | 'app' | 'app-bound' | 'backup'

/** Writes down, in the transaction of an attempt, what the person is told of it. */
export type Tell = (tx: Queries, as: TakenAs, attempted: Attempted) => Promise<void>

/** What a code was taken as, and what came of it. */
export type Judgement =
  | {
      readonly as: TakenAs
      /** Nothing when there is no such account. */
      readonly attempted: Attempted | undefined
      /** After a right backup code: how many are left, if that could be counted. */
      readonly backupCodesLeft?: number
      /** Of a wrong app code that was right some steps ago and never used: how many, as a negative number. */
      readonly clockSteps?: number
    }
  /** The application does not offer what the code is meant for. */
  | { readonly as: 'off'; readonly answer: Refused }

// Stands in for the secret of an account that has none, so that it takes the same time (R90).
const NOBODYS_SECRET = newAppSecret()

// A test key's code that is always right belongs to no step, so that it is right again at once.
const NO_STEP = -1

/** No challenge has this name. */
const NO_CHALLENGE = ''

/** Judges a code as what it is meant as (R91), or without a word about that, as what it looks like. */
export function evaluate(
  core: Core,
  application: Application,
  input: VerifyInput,
  tell: Tell,
  now: number,
): Promise<Judgement> {
  const backupCode = canonicalBackupCode(input.code)
  const looksLikeBackup = isBackupShaped(backupCode, application.limits.backupCodeLength)
  if (input.kind === 'backup' || (input.kind === undefined && looksLikeBackup)) {
    return evaluateBackup(core, application, input, backupCode, tell, now)
  }
  const code = canonicalCode(input.code)
  const by = input.type === 'APP' ? evaluateApp : evaluateDelivered
  return by(core, application, input, code, tell, now)
}

async function evaluateDelivered(
  core: Core,
  application: Application,
  input: VerifyInput,
  code: string,
  tell: Tell,
  now: number,
): Promise<Judgement> {
  const { account, user, type, transaction, contact, locale } = input
  const off = notTaken(application, type)
  if (off) return { as: 'off', answer: off }
  // A code to confirm an app with is never one that was delivered.
  const challenge = input.kind === 'confirm' ? NO_CHALLENGE : input.challenge
  const attempted: Attempt = {
    account,
    factor: `${type}:${user}`,
    transaction,
    proven: { contact, locale },
    tell: (tx, found) => tell(tx, 'delivered', found),
  }
  return {
    as: 'delivered',
    attempted: await attemptDelivered(
      core.store,
      core.keys,
      application,
      { account, user, type, transaction },
      { code, challenge, alwaysRight: isAlwaysRight(application, code) },
      attempted,
      now,
    ),
  }
}

async function evaluateApp(
  core: Core,
  application: Application,
  input: VerifyInput,
  code: string,
  tell: Tell,
  now: number,
): Promise<Judgement> {
  const row = await findAppSecret(core.store, application, input.account)
  const pending = input.kind === 'code' ? null : (row?.pending ?? null)
  const confirmed = input.kind === 'confirm' ? null : (row?.sealed ?? null)
  const alwaysRight = isAlwaysRight(application, code)
  const match = (sealed: string | null): Match =>
    alwaysRight && sealed
      ? { step: NO_STEP, passed: undefined }
      : matchIn(core, application, input.account, sealed, code, now)
  const matches = { pending: match(pending), confirmed: match(confirmed) }
  const confirms =
    input.kind === 'confirm' ||
    (matches.pending.step !== undefined && (alwaysRight || matches.confirmed.step === undefined))
  const as = confirms ? 'app-bound' : 'app'
  const attempted: Attempt = {
    account: input.account,
    factor: APP_FACTOR,
    transaction: input.transaction,
    tell: (tx, found) => tell(tx, as, found),
  }
  const typed = confirms
    ? { as: 'pending' as const, sealed: pending, step: matches.pending.step, alwaysRight }
    : { as: 'confirmed' as const, sealed: confirmed, step: matches.confirmed.step, alwaysRight }
  const { passed } = confirms ? matches.pending : matches.confirmed
  // A step that was used, or came before one that was, tells nothing to whoever replays its code.
  const isUnused = passed !== undefined && (confirms || passed > (row?.last_step ?? NO_STEP))
  return {
    as,
    attempted: await attemptApp(core.store, application, attempted, now, typed),
    ...(isUnused && { clockSteps: stepsFrom(now, passed) }),
  }
}

function matchIn(
  core: Core,
  application: Application,
  account: string,
  sealed: string | null,
  code: string,
  now: number,
): Match {
  if (sealed) return matchSealed(core, application, account, sealed, code, now)
  matchStep(NOBODYS_SECRET, code, now, application.limits.appStepsAhead)
  return { step: undefined, passed: undefined }
}

async function evaluateBackup(
  core: Core,
  application: Application,
  input: VerifyInput,
  code: string,
  tell: Tell,
  now: number,
): Promise<Judgement> {
  const attempt: Attempt = {
    account: input.account,
    factor: BACKUP_FACTOR,
    transaction: input.transaction,
    tell: (tx, found) => tell(tx, 'backup', found),
  }
  const attempted = await attemptBackup(core, application, input, code, attempt, now)
  if (!attempted?.ok) return { as: 'backup', attempted }
  // The code is used up: a count that cannot be had must not turn its answer into a failure.
  const left = await backupCodesLeft(core.store, application, input.account).catch(() => undefined)
  return { as: 'backup', attempted, ...(left !== undefined && { backupCodesLeft: left }) }
}
