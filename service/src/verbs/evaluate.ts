import { canonicalBackupCode, canonicalCode, type Refused } from 'countersign/protocol'
import type { AccountRow } from '../accounts/account.js'
import { APP_FACTOR, confirmPending, findAppSecret, stepOf, useStep } from '../accounts/app-secret.js'
import { BACKUP_FACTOR, useBackupCode } from '../accounts/backup-set.js'
import { codeOf, endChallenge, findLiving, spendTry } from '../accounts/challenge.js'
import type { Failure } from '../accounts/failures.js'
import { isDisabled, resetFactor } from '../accounts/failures.js'
import { matchStep, newAppSecret } from '../app-factor/totp.js'
import type { Application } from '../application.js'
import { notTaken } from '../applications/offers.js'
import type { Core } from '../core.js'
import { isAlwaysRight } from '../rehearsal/code.js'
import { isBackupShaped } from '../secrets/backup-code.js'
import { sameCode } from '../secrets/delivered-code.js'
import type { Queries } from '../store/store.js'
import type { VerifyInput } from './requests.js'

/** What a code turned out to be. */
export type Judgement =
  | {
      readonly verdict: 'right'
      readonly as: 'delivered' | 'app' | 'app-bound' | 'backup'
      readonly challenge?: string
    }
  /** It was evaluated and counts as a failure. */
  | { readonly verdict: 'wrong'; readonly failure: Failure }
  /** There was nothing left to evaluate it against. */
  | { readonly verdict: 'unevaluated' }
  | { readonly verdict: 'disabled' }
  /** The application does not offer what the code is meant for. */
  | { readonly verdict: 'off'; readonly answer: Refused }

/** What a judgement needs; the account's row is held by the transaction. */
export interface Bench {
  readonly core: Core
  readonly tx: Queries
  readonly application: Application
  readonly account: AccountRow
  readonly now: number
}

// Stands in for the secret of an account that has none, so that it takes the same time (R90).
const NOBODYS_SECRET = newAppSecret()

/** Judges a code as what it is meant as (R91), or without a word about that, as what it looks like. */
export function evaluate(bench: Bench, input: VerifyInput): Promise<Judgement> {
  const backupCode = canonicalBackupCode(input.code)
  const looksLikeBackup = isBackupShaped(backupCode, bench.application.limits.backupCodeLength)
  if (input.kind === 'backup' || (input.kind === undefined && looksLikeBackup)) {
    return evaluateBackup(bench, input, backupCode)
  }
  const code = canonicalCode(input.code)
  return input.type === 'APP' ? evaluateApp(bench, input, code) : evaluateDelivered(bench, input, code)
}

async function evaluateDelivered(bench: Bench, input: VerifyInput, code: string): Promise<Judgement> {
  const { core, tx, application, account, now } = bench
  const off = notTaken(application, input.type)
  if (off) return { verdict: 'off', answer: off }
  // A code to confirm an app with is never one that was delivered.
  if (input.kind === 'confirm') return { verdict: 'unevaluated' }
  const factor = `${input.type}:${input.user}`
  const disabled = await isDisabled(tx, application, account, factor)
  const living = await findLiving(tx, application, input, input.challenge, now)
  if (disabled && living?.purpose !== 'enrolment') return { verdict: 'disabled' }
  const row = living && (await spendTry(tx, application, input, living.id, now))
  if (!row) return { verdict: 'unevaluated' }
  const right = sameCode(core.keys.codes, code, codeOf(core.keys, application, row))
  if (!right && !isAlwaysRight(application, code)) {
    return { verdict: 'wrong', failure: { factor, challenge: row.id } }
  }
  if (!(await endChallenge(tx, application, row.id, now))) return { verdict: 'unevaluated' }
  if (row.purpose === 'enrolment') await resetFactor(tx, application, account, factor)
  return { verdict: 'right', as: 'delivered', challenge: row.id }
}

async function evaluateApp(bench: Bench, input: VerifyInput, code: string): Promise<Judgement> {
  const { tx, application, account, now } = bench
  const row = await findAppSecret(tx, application, input.account)
  const disabled = await isDisabled(tx, application, account, APP_FACTOR)
  const pending = input.kind === 'code' ? null : (row?.pending ?? null)
  const confirmed = input.kind === 'confirm' || disabled ? null : (row?.sealed ?? null)
  const pendingStep = stepIn(bench, input, pending, code)
  const confirmedStep = stepIn(bench, input, confirmed, code)
  if (isAlwaysRight(application, code) && (pending || confirmed)) return rehearseApp(bench, pending)
  if (confirmedStep !== undefined && (await useStep(tx, application, input.account, confirmedStep))) {
    return { verdict: 'right', as: 'app' }
  }
  if (pending && pendingStep !== undefined) {
    const bound = await confirmPending(tx, application, account, pending, pendingStep, now)
    if (bound) return { verdict: 'right', as: 'app-bound' }
  }
  if (disabled && input.kind !== 'confirm') return { verdict: 'disabled' }
  return { verdict: 'wrong', failure: { factor: APP_FACTOR } }
}

/** A test key's code that is always right belongs to no step, so that it is right again at once. */
async function rehearseApp(bench: Bench, pending: string | null): Promise<Judgement> {
  const { tx, application, account, now } = bench
  const bound = pending !== null && (await confirmPending(tx, application, account, pending, -1, now))
  return { verdict: 'right', as: bound ? 'app-bound' : 'app' }
}

function stepIn(bench: Bench, input: VerifyInput, sealed: string | null, code: string): number | undefined {
  const { core, application, now } = bench
  if (sealed) return stepOf(core, application, input.account, sealed, code, now)
  matchStep(NOBODYS_SECRET, code, now, application.limits.appStepsAhead)
  return undefined
}

async function evaluateBackup(bench: Bench, input: VerifyInput, code: string): Promise<Judgement> {
  const { core, tx, application, account } = bench
  if (await isDisabled(tx, application, account, BACKUP_FACTOR)) return { verdict: 'disabled' }
  if (await useBackupCode(core, tx, application, input, code)) return { verdict: 'right', as: 'backup' }
  return { verdict: 'wrong', failure: { factor: BACKUP_FACTOR } }
}
