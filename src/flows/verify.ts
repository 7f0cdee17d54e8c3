import {
  type Amr,
  isAtLeast,
  METHOD_AMR,
  methodShown,
  type ShownCode,
  type ShownMethod,
} from '../protocol/factor.js'
import type { KeyFault } from '../protocol/keys.js'
import {
  type CodeMethod,
  canonicalBackupCode,
  canonicalCode,
  hasShape,
  isCodeShaped,
  isKeyMethod,
  type Method,
} from '../protocol/methods.js'
import type { AnswerOf, RequestOf } from '../protocol/service.js'
import type { Refused as ServiceRefused } from '../protocol/service-refusal.js'
import type { MfaRecord } from '../session/record.js'
import type { Attempt, AttemptPermit } from '../stores/limits/attempts.js'
import { backupOwner, backupShown, backupTarget } from './backup-target.js'
import { type Deps, type DisabledFactor, type Refused, refuse } from './deps.js'
import { isStrongEnough } from './known-factors.js'
import { type Refusal, translateRefusal } from './refusal.js'
import {
  askService,
  createCaller,
  factorBinding,
  findFactor,
  getPurpose,
  type MfaUser,
  refusalWithoutFactor,
  useOf,
} from './user.js'

/** The service accepted a code. */
export interface AcceptedCode {
  readonly outcome: 'accepted'
  readonly method: Method | 'backup'
  /** The factor that it counts as: a backup code that the service cannot tell from others counts as its contact (R97). */
  readonly shown: ShownMethod
  readonly amr: readonly Amr[]
  /** The id of the factor. Absent for a backup code, and for one that was just set up. */
  readonly factor?: string
  /** After a backup code: how many are left, if the service says. */
  readonly backupCodesLeft?: number
}

/** The input of a user. `factor` is a factor's id or method, or `backup`; it defaults to the factor of the live challenge. */
export interface TypedCode {
  readonly code: string
  readonly factor?: string | undefined
  /** As of `Check`. */
  readonly whileSettling?: Check<Valid>['whileSettling']
}

/** Checks a code that the user typed for one of their factors. */
export async function verifyCode(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  typed: TypedCode,
): Promise<AcceptedCode | Refused> {
  const named = typed.factor ?? record.challenge?.factorId
  const none = refusalWithoutFactor(user)
  // Backup codes are left to a user whose factors are withheld.
  if (none && !(none.code === 'factors_withheld' && named === 'backup')) return refuse(none)
  const target = findTarget(deps, user, record, named)
  if ('outcome' in target) return target
  if (target.method === 'backup' && user.minStrength && !(await isStrongEnough(deps, user))) {
    return refuse({ code: 'unknown_factor' })
  }
  const { request, challenge, method, digits } = target
  const code = (method === 'backup' ? canonicalBackupCode : canonicalCode)(typed.code)
  if (isMalformed(deps, method, code, digits)) return refuse({ code: 'malformed_code' })
  const binding = factorBinding(user.userId, method, request.contact)
  const { transaction } = record
  const signsIn = getPurpose(record) === 'sign-in'
  const attempt = { userId: user.userId, challenge, transaction, binding, signsIn }

  // The form of backup codes is open in the published API, so their case may matter.
  const asTyped = method === 'backup' && !deps.service.codes
  const { purpose: _purpose, ...used } = useOf(record, deps.service)
  const checked = { code: asTyped ? typed.code.trim() : code, ...request, ...createCaller(user), ...used }
  const verdict = await checkShown<Valid>(deps, {
    attempt,
    factor: { method, contact: request.contact },
    evaluate: () => evaluateCode(deps, user.userId, checked),
    accepts: findAcceptance(user, target),
    whileSettling: typed.whileSettling,
  })
  if (verdict.outcome === 'refused') return verdict
  const shown = createShownCode(user, target, verdict)
  const left = method === 'backup' ? await countLeftAfterUse(deps, user, verdict) : undefined
  return {
    outcome: 'accepted',
    method,
    shown,
    amr: METHOD_AMR[methodShown(shown)],
    ...(target.factor !== undefined && { factor: target.factor }),
    ...(left !== undefined && { backupCodesLeft: left }),
  }
}

/** Whether a canonical code cannot be one of the service or, with `digits`, of the user's app. Costs no attempt. */
export function isMalformed(
  { service }: Deps,
  method: CodeMethod | 'backup',
  code: string,
  digits = code.length,
): boolean {
  if (!service.codes) return false
  const kind = method === 'app' || method === 'backup' ? method : 'delivered'
  return code.length !== digits || !hasShape(code, service.codes[kind])
}

/** The factor that a correct code counts as. */
function createShownCode(
  user: MfaUser,
  { method, request }: Target,
  { kind, backupDelivery }: Valid,
): ShownCode {
  if (method !== 'backup') return method
  // Without a factor that can be used, there is no contact that the code could be worth.
  if (kind !== 'backup') return user.factors.length > 0 ? request.method : 'backup'
  return backupDelivery === 'page' ? 'page_backup' : (backupShown(user) ?? 'backup')
}

/** Which correct codes are accepted, where not all of them are. */
function findAcceptance(user: MfaUser, target: Target): ((answer: Valid) => boolean) | undefined {
  const { factors, minStrength, acceptsLess, resetContact } = user
  // After a reset that left no factor, only a code that the account itself owns counts, and no contact received.
  if (resetContact) return factors.length === 0 ? isPageCode : undefined
  if (!minStrength || acceptsLess || target.method !== 'backup') return undefined
  return (answer) => isAtLeast(createShownCode(user, target, answer), minStrength)
}

/** Whether it was a backup code that was shown on a page. */
function isPageCode({ kind, backupDelivery }: Valid): boolean {
  return kind === 'backup' && backupDelivery === 'page'
}

/** The answer to a correct code. */
type Valid = Extract<AnswerOf<'verify'>, { outcome: 'valid' }>

/** How many backup codes are left after one was used, as the service says or the plugin remembers. */
async function countLeftAfterUse(
  { backupCodes, sentBackupCodes }: Deps,
  { userId }: MfaUser,
  { backupCodesLeft }: Valid,
): Promise<number | undefined> {
  backupCodes.forget(userId)
  try {
    if (backupCodesLeft === undefined) {
      const left = await sentBackupCodes.used(userId)
      return left === 'some' ? undefined : left
    }
    await sentBackupCodes.remember(userId, backupCodesLeft)
    return backupCodesLeft
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
  const purpose = getPurpose(record)
  const since = record.challenge?.startedAt ?? (purpose === 'step-up' ? undefined : record.startedAt)
  emit({
    type: 'verified',
    userId: record.userId,
    method,
    purpose,
    ...(since !== undefined && { afterMs: Math.max(0, Date.now() - since) }),
  })
}

/** The proof for a factor: the limits that it counts in, and how it is evaluated. */
export interface Check<Valid> {
  readonly attempt: Attempt
  /** The factor that the code belongs to; absent for a bypass code. */
  readonly factor?: DisabledFactor
  /** Says whether it is correct. If it refuses or throws, the attempt is refunded (R77). */
  evaluate(): Promise<Evaluation<Valid>>
  /** Which correct ones are accepted, where not all of them are. The others count as wrong. */
  readonly accepts?: ((answer: Valid) => boolean) | undefined
  /** Called while the limits record the result, so that a step that waits as well can begin. */
  readonly whileSettling?: ((answer: 'valid' | 'invalid') => void) | undefined
}

/** Whether a code, or the response of a key, is correct. */
type Evaluation<Valid> = Valid | Invalid | ServiceRefused

interface Invalid {
  readonly outcome: 'invalid'
  readonly clockSteps?: number
  /** Why the response of a key was not accepted. */
  readonly fault?: KeyFault
}

/** Has the service evaluate a code. A code that no service could have sent is wrong. */
export async function evaluateCode(
  deps: Deps,
  userId: string,
  request: RequestOf<'verify'>,
): Promise<Evaluation<Valid>> {
  if (!isCodeShaped(canonicalCode(request.code))) return { outcome: 'invalid' }
  return askService(deps, userId, () => deps.service.verify(request))
}

/** Consumes an attempt, has the code or key evaluated, and settles the account, the same way for all (R20, R21). */
export async function checkShown<Valid extends { readonly outcome: 'valid' }>(
  { attempts, emit }: Pick<Deps, 'attempts' | 'emit'>,
  { attempt, factor, evaluate, accepts, whileSettling }: Check<Valid>,
): Promise<Valid | Refused> {
  const { userId } = attempt
  const refuseCode = (refusal: Refusal): Refused => {
    emit({ type: 'refused', userId, method: factor?.method ?? 'bypass', code: refusal.code })
    return refuse(refusal)
  }
  const permit = await attempts.consume(attempt)
  if (!permit.ok) return refuseCode(refuseAttempt(permit))
  const { attempt: consumed, attemptsLeft } = permit

  const answer = await evaluate().catch(async (error: unknown) => {
    await attempts.refund(consumed)
    throw error
  })
  if (answer.outcome === 'refused') {
    await attempts.refund(consumed)
    return refuseCode(translateRefusal(answer.refusal))
  }

  if (answer.outcome === 'valid' && (accepts?.(answer) ?? true)) {
    const acquired = attempts.recordSuccess(consumed)
    whileSettling?.('valid')
    return (await acquired) ? answer : refuse({ code: 'session_ended' })
  }
  const recorded = attempts.recordFailure(consumed)
  whileSettling?.('invalid')
  const { lockedForSeconds: forSeconds, disabled, repeated } = await recorded
  if (forSeconds > 0) emit({ type: 'locked', userId, forSeconds })
  if (disabled && factor) {
    emit({ type: 'factor_disabled', userId, method: factor.method })
    return { repeated, disabled: factor, ...refuseCode({ code: 'factor_disabled' }) }
  }
  return { repeated, ...refuseCode(wrong(answer, attemptsLeft)) }
}

/** The refusal of a wrong code, or of a correct one that is not accepted. */
function wrong(answer: Invalid | { readonly outcome: 'valid' }, attemptsLeft: number): Refusal {
  if (answer.outcome === 'valid') return { code: 'invalid_code', attemptsLeft }
  const { clockSteps, fault } = answer
  if (fault) return { code: 'invalid_key', fault, attemptsLeft }
  return { code: 'invalid_code', attemptsLeft, ...(clockSteps !== undefined && { clockSteps }) }
}

/** The refusal of a code for which no attempt is left. */
function refuseAttempt(permit: AttemptPermit & { ok: false }): Refusal {
  if (permit.why === 'disabled') return { code: 'factor_disabled' }
  const { why, retryAfterSeconds } = permit
  return { code: why === 'locked' ? 'locked' : 'challenge_exhausted', retryAfterSeconds }
}

type Target = {
  /** The id of the factor; absent for a backup code. */
  readonly factor?: string
  readonly method: CodeMethod | 'backup'
  /** The id of the challenge under which attempts are counted. */
  readonly challenge: string
  /** How many digits the codes of the user's app have, if that is known. */
  readonly digits?: number | undefined
  readonly request: Pick<RequestOf<'verify'>, 'method' | 'contact' | 'kind' | 'challenge'>
}

/** The factor and challenge that a code is for. */
function findTarget(
  { service }: Deps,
  user: MfaUser,
  record: MfaRecord,
  name: string | undefined,
): Target | Refused {
  if (name === undefined) return refuse({ code: 'no_challenge' })
  if (name === 'backup') {
    // Only codes that were shown on a page need no contact.
    const target = service.createBackupCodes ? backupOwner(user) : backupTarget(user)
    if (!target) return refuse({ code: 'unknown_factor' })
    return {
      method: 'backup',
      challenge: challengeIdFor(record, 'backup'),
      request: { ...target, kind: 'backup' },
    }
  }
  const factor = findFactor(user, name)
  if (!factor) return refuse({ code: 'unknown_factor' })
  const { id, method, contact, digits } = factor
  // A key signs a challenge and has no codes.
  if (isKeyMethod(method)) return refuse({ code: 'no_challenge' })
  if (method === 'app') {
    const request = { method, contact, kind: 'code' } as const
    return { factor: id, method, digits, challenge: challengeIdFor(record, id), request }
  }
  const live = record.challenge?.factorId === id ? record.challenge : undefined
  if (!live) return refuse({ code: 'no_challenge' })
  if (live.expiresAt <= Date.now()) return refuse({ code: 'code_expired' })
  return {
    factor: id,
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
