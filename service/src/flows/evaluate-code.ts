import { canonicalBackupCode, canonicalCode, findTransaction, type Refused } from 'countersign/protocol'
import {
  APP_FACTOR,
  attemptAppCode,
  findAppSecret,
  livePendingSecret,
  matchSealed,
} from '../accounts/app-secret.js'
import type { Application } from '../accounts/application.js'
import { refuseType } from '../accounts/applications/offered-methods.js'
import { type Attempt, type AttemptResult, attemptDeliveredCode } from '../accounts/attempt.js'
import {
  countClockSteps,
  matchStep,
  newAppSecret,
  type StepMatch,
} from '../accounts/authenticator-app/totp.js'
import { attemptBackupCode, BACKUP_FACTOR, backupCodesLeft } from '../accounts/backup-set.js'
import { isBackupShaped, listHashedForms } from '../store/secrets/codes.js'
import { contactHashes } from '../store/secrets/keys.js'
import type { Queries } from '../store/store.js'
import type { FlowContext } from './context.js'
import type { InputOf } from './inputs.js'
import { isAlwaysValid } from './test-mode/simulated-carrier.js'

/** The kind of code as which a code is evaluated. */
export type EvaluatedAs = 'delivered' | 'app' | 'app-bound' | 'backup'

/** Writes the account notice of an attempt, in the transaction of the attempt. */
export type NotifyOfAttempt = (tx: Queries, as: EvaluatedAs, result: AttemptResult) => Promise<void>

/** The result of evaluating a code. */
export type Evaluation =
  | {
      readonly as: EvaluatedAs
      /** `undefined` when the account is unknown. */
      readonly result: AttemptResult | undefined
      /** After a valid backup code: how many are left, if they could be counted. */
      readonly backupCodesLeft?: number
      /** After a valid backup code that was shown on a page and sent to no contact. */
      readonly backupDelivery?: 'page'
      /** For an unused code of an authenticator app that has expired: how many steps ago it was valid, as a negative number. */
      readonly clockSteps?: number
    }
  /** The application does not offer the methods of such codes. */
  | { readonly as: 'off'; readonly answer: Refused }

// Is matched in place of a missing secret, so that an account without one takes the same time (R90).
const PLACEHOLDER_SECRET = newAppSecret()

// The always valid code of test keys belongs to no step, so that it stays valid after use.
const NO_STEP = -1

// No challenge has this id.
const NO_CHALLENGE = ''

/** Evaluates a code as the kind that the caller names (R91); without a kind, as what its form suggests. */
export async function evaluateCode(
  context: FlowContext,
  application: Application,
  input: InputOf<'verify'>,
  notify: NotifyOfAttempt,
  now: number,
): Promise<Evaluation> {
  const backupCode = canonicalBackupCode(input.code)
  const looksLikeBackup = isBackupShaped(backupCode, application.limits.backupCodeLength)
  if (input.kind === 'backup' || (input.kind === undefined && looksLikeBackup)) {
    return evaluateBackup(context, application, input, backupCode, notify, now)
  }
  const refusal = refuseType(application, input.type)
  if (refusal) return { as: 'off', answer: refusal }
  const code = canonicalCode(input.code)
  const evaluate = input.type === 'APP' ? evaluateApp : evaluateDelivered
  return evaluate(context, application, input, code, notify, now)
}

type Evaluate = (
  context: FlowContext,
  application: Application,
  input: InputOf<'verify'>,
  code: string,
  notify: NotifyOfAttempt,
  now: number,
) => Promise<Evaluation>

const evaluateDelivered: Evaluate = async (context, application, input, code, notify, now) => {
  const { account, canonicalContact, type, contact, locale } = input
  const transaction = findTransaction(input)
  // A code that confirms an authenticator app is never a delivered one.
  const challenge = input.kind === 'confirm' ? NO_CHALLENGE : input.challenge
  const attempt: Attempt = {
    account,
    factor: `${type}:${canonicalContact}`,
    transaction,
    proven: { contact, hashes: contactHashes(context.keys, contact), locale },
    notifiesOnSuccess: input.approval !== undefined,
    notify: (tx, result) => notify(tx, 'delivered', result),
  }
  const owner = { account, canonicalContact, type, transaction }
  const typed = { owner, code, challenge, alwaysValid: isAlwaysValid(application, code) }
  const result = await attemptDeliveredCode(context, application, attempt, now, typed)
  return { as: 'delivered', result }
}

const evaluateApp: Evaluate = async (context, application, input, code, notify, now) => {
  const row = await findAppSecret(context.store, application, input.account)
  const pending = input.kind === 'code' ? null : livePendingSecret(application, row, now)
  const confirmed = input.kind === 'confirm' ? null : (row?.sealed ?? null)
  const alwaysValid = isAlwaysValid(application, code)
  const match = (sealed: string | null): StepMatch => {
    if (alwaysValid && sealed) return { step: NO_STEP, expiredStep: undefined }
    if (sealed) return matchSealed(context.keys, application, input.account, sealed, code, now)
    matchStep(PLACEHOLDER_SECRET, code, now, application.limits.appStepsAhead)
    return { step: undefined, expiredStep: undefined }
  }
  const matches = { pending: match(pending), confirmed: match(confirmed) }
  const confirms =
    input.kind === 'confirm' ||
    (matches.pending.step !== undefined && (alwaysValid || matches.confirmed.step === undefined))
  const as = confirms ? 'app-bound' : 'app'
  const attempt: Attempt = {
    account: input.account,
    factor: APP_FACTOR,
    transaction: input.transaction,
    notifiesOnSuccess: input.approval !== undefined,
    notify: (tx, result) => notify(tx, as, result),
  }
  const typed = confirms
    ? { secretIs: 'pending' as const, sealed: pending, step: matches.pending.step, alwaysValid }
    : { secretIs: 'confirmed' as const, sealed: confirmed, step: matches.confirmed.step, alwaysValid }
  const { expiredStep } = confirms ? matches.pending : matches.confirmed
  // A used step, or one before a used step, must reveal nothing to an attacker who replays its code.
  const isUnused = expiredStep !== undefined && (confirms || expiredStep > (row?.last_step ?? NO_STEP))
  return {
    as,
    result: await attemptAppCode(context, application, attempt, now, typed),
    ...(isUnused && { clockSteps: countClockSteps(now, expiredStep) }),
  }
}

const evaluateBackup: Evaluate = async (context, application, input, code, notify, now) => {
  const attempt: Attempt = {
    account: input.account,
    factor: BACKUP_FACTOR,
    transaction: input.transaction,
    notify: (tx, result) => notify(tx, 'backup', result),
  }
  const typed = { owner: input, forms: [code, ...listHashedForms(code)] }
  const { result, isShown } = await attemptBackupCode(context, application, attempt, now, typed)
  if (!result?.ok) return { as: 'backup', result }
  // The code is used up: an error while counting must not make the verification fail.
  const left = await backupCodesLeft(context.store, application, input.account).catch(() => undefined)
  return {
    as: 'backup',
    result,
    ...(left !== undefined && { backupCodesLeft: left }),
    ...(isShown && { backupDelivery: 'page' }),
  }
}
