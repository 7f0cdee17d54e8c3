import { canonicalBackupCode, canonicalCode } from '../protocol/code.js'
import type { Method } from '../protocol/methods.js'
import type { VerifyAnswer, VerifyRequest } from '../protocol/service.js'
import type { ShownMethod } from '../protocol/strength.js'
import type { MfaRecord } from '../session/record.js'
import { checkCode } from './check-code.js'
import { callerOf, type Deps, type Refused, refuse } from './deps.js'
import { factorBinding } from './factor-binding.js'
import { backupShown, backupTarget, findFactor, type MfaUser } from './user.js'

/** The service accepted a code. */
export interface AcceptedCode {
  readonly outcome: 'accepted'
  readonly method: Method | 'backup'
  /** What it counts as: a backup code that the service cannot tell from others counts as its contact (R97). */
  readonly shown: ShownMethod
  /** After a backup code: how many are left, if the service says. */
  readonly backupCodesLeft?: number
}

/** What a user typed. `factor` is a factor's id or method, or `backup`; it defaults to the factor of the live challenge. */
export interface TypedCode {
  readonly code: string
  readonly factor?: string | undefined
  /** Whether the user wants to trust the browser from now on. */
  readonly trust?: boolean | undefined
}

/** Checks a code that the user typed for one of their factors. */
export async function verifyCode(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  typed: TypedCode,
): Promise<AcceptedCode | Refused> {
  if (user.factors.length === 0) return refuse({ code: 'enrollment_required' })
  const target = targetOf(user, record, typed.factor ?? record.challenge?.factorId)
  if ('outcome' in target) return target
  const { request, challenge, method } = target
  const code = (method === 'backup' ? canonicalBackupCode : canonicalCode)(typed.code)
  const binding = factorBinding(user.userId, method, request.contact)
  const attempt = { userId: user.userId, challenge, binding }

  const { transaction } = record
  const checked = { ...request, ...callerOf(user), transaction, code }
  const verdict = await checkCode(deps, attempt, transaction, checked)
  if (verdict.outcome === 'refused') return verdict
  const left = method === 'backup' ? await leftAfterUse(deps, user, verdict) : undefined
  const shown = method !== 'backup' ? method : verdict.kind === 'backup' ? backupShown(user) : undefined
  return {
    outcome: 'accepted',
    method,
    shown: shown ?? request.method,
    ...(left !== undefined && { backupCodesLeft: left }),
  }
}

type Valid = Extract<VerifyAnswer, { outcome: 'valid' }>

/** How many backup codes are left after one was used, as the service says or the plugin remembers. */
async function leftAfterUse(
  { sentBackupCodes }: Deps,
  { userId }: MfaUser,
  { backupCodesLeft }: Valid,
): Promise<number | undefined> {
  try {
    if (backupCodesLeft === undefined) await sentBackupCodes.used(userId)
    else await sentBackupCodes.remember(userId, backupCodesLeft)
    const left = await sentBackupCodes.left(userId)
    return left === 'some' ? undefined : left
  } catch {
    // The code is used up and was correct. A store that fails now must not keep the user out.
    return backupCodesLeft
  }
}

/** Emits that a second factor was shown, with the time since the challenge or, if there was none, since the first factor. */
export function emitVerified(
  { emit }: Pick<Deps, 'emit'>,
  record: MfaRecord,
  method: Method | 'backup',
): void {
  const isSignedIn = record.stage === 'verified' || record.stage === 'trusted'
  const since = record.challenge?.startedAt ?? (isSignedIn ? undefined : record.startedAt)
  emit({
    type: 'verified',
    userId: record.userId,
    method,
    purpose: isSignedIn ? 'step-up' : 'sign-in',
    ...(since !== undefined && { afterMs: Math.max(0, Date.now() - since) }),
  })
}

type Target = {
  readonly method: Method | 'backup'
  /** The id of the challenge under which attempts are counted. */
  readonly challenge: string
  readonly request: Pick<VerifyRequest, 'method' | 'contact' | 'kind' | 'challenge'>
}

/** The factor and challenge that a code is for. */
function targetOf(user: MfaUser, record: MfaRecord, name: string | undefined): Target | Refused {
  if (name === undefined) return refuse({ code: 'no_challenge' })
  if (name === 'backup') {
    const target = backupTarget(user)
    if (!target) return refuse({ code: 'unknown_factor' })
    return {
      method: 'backup',
      challenge: challengeIdFor(record, 'backup'),
      request: { ...target, kind: 'backup' },
    }
  }
  const factor = findFactor(user, name)
  if (!factor) return refuse({ code: 'unknown_factor' })
  const { id, method, contact } = factor
  if (method === 'app') {
    return { method, challenge: challengeIdFor(record, id), request: { method, contact, kind: 'code' } }
  }
  const live = record.challenge?.factorId === id ? record.challenge : undefined
  if (!live) return refuse({ code: 'no_challenge' })
  if (live.expiresAt <= Date.now()) return refuse({ code: 'code_expired' })
  return {
    method,
    challenge: live.id,
    request: { method, contact, kind: 'code', ...(live.service && { challenge: live.service }) },
  }
}

/** The id under which attempts are counted: of the live challenge, or an id of its own for a factor that needs none. */
export function challengeIdFor(record: MfaRecord, factorId: string): string {
  const { challenge, transaction } = record
  return challenge?.factorId === factorId ? challenge.id : `${transaction}:${factorId}`
}
