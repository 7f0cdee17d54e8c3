import { digestOf } from '../digest.js'
import { ServiceError } from '../errors.js'
import { type Caller, type Contact, canonicalUser } from '../protocol/contact.js'
import type { Factor, Strength } from '../protocol/factor.js'
import { isKeyMethod, type Method, VERIFY_TYPE } from '../protocol/methods.js'
import type { MfaService, RequestOf } from '../protocol/service.js'
import type { MfaRecord, RequestedApproval } from '../session/record.js'
import { pickGiven } from '../shape.js'
import { APPROVAL_MS } from '../stores/limits/approval-requests.js'
import type { AccountLimits } from '../stores/limits/attempts.js'
import type { MfaEventBody } from './events.js'

/** The user behind a request, as the flows see them. */
export interface MfaUser {
  readonly userId: string
  /** The factors that the user can be asked for. */
  readonly factors: readonly Factor[]
  /** Those that exist and cannot be used now. They are not offered and not accepted, but their user has MFA (R132). */
  readonly withheld: readonly Factor[]
  /** Every factor of the account, also those that are too weak or cannot be used now: what it is named and judged by. */
  readonly existing: readonly Factor[]
  /** The least strength of the factor that signs the user in, or steps up (R115, R116). */
  readonly minStrength?: Strength | undefined
  /** Whether a weaker factor is accepted at this step, which leads to a reset's new factor or a recovery, but not into the account. */
  readonly acceptsLess?: boolean
  /** While a reset of the account is open: the contact that names the account to the service, in case no factor is left. */
  readonly resetContact?: Contact | undefined
  /** The ids of the factors that are disabled after too many failures (R96), `backup` for backup codes, once they were read. */
  readonly disabled?: ReadonlySet<string> | undefined
  /** Reads the limits of the account and of this login, once for each request. */
  limits(): Promise<AccountLimits>
  /** The language for messages, a BCP 47 tag. */
  readonly locale?: string | undefined
  /** From where the user signs in, as an email with a code says. */
  readonly signIn?: RequestOf<'send'>['signIn']
  /** The client's IP address, as `trust proxy` of Express determines it. */
  readonly clientAddress?: string | undefined
}

/** Why a user cannot show a usable factor: there is none yet, or it is withheld (R132). */
export function refusalWithoutFactor({
  factors,
  withheld,
  resetContact,
}: Pick<MfaUser, 'factors' | 'withheld' | 'resetContact'>) {
  if (factors.length > 0) return undefined
  if (withheld.length > 0) return { code: 'factors_withheld' } as const
  return resetContact ? undefined : ({ code: 'enrollment_required' } as const)
}

/** The factor with that id, else the first factor of the method with that name. */
export function findFactor(user: MfaUser, name: string): Factor | undefined {
  return user.factors.find(({ id }) => id === name) ?? user.factors.find(({ method }) => method === name)
}

/** The factors that a user may be offered: all that are not disabled. */
export function listOfferedFactors({ factors, disabled }: MfaUser): readonly Factor[] {
  return disabled?.size ? factors.filter(({ id }) => !disabled.has(id)) : factors
}

/** The facts that the service learns about the user: account id, client address and language. */
export function createCaller({ userId: account, clientAddress, locale }: MfaUser): Caller {
  return { account, ...pickGiven({ clientAddress, locale }) }
}

/** Calls the service. A failure is an event (R89), `onFailure` refunds what was counted. @throws the error. */
export async function askService<Answer>(
  { emit }: { emit(event: MfaEventBody): void },
  userId: string,
  call: () => Promise<Answer>,
  onFailure?: (error: unknown) => Promise<void>,
): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ServiceError) emit({ type: 'service_failed', userId, errorCode: error.code })
    await onFailure?.(error)
    throw error
  }
}

/** Whether the time of a request or an approval is over. A time in the future proves nothing (R17). */
export function isOver({ at }: Pick<RequestedApproval, 'at'>): boolean {
  const ageMs = Date.now() - at
  return ageMs < 0 || ageMs >= APPROVAL_MS
}

/** The request that the user of this session is asked to approve. */
export function openApproval({ stage, approval }: MfaRecord): RequestedApproval | undefined {
  return stage !== 'pending' && approval && !approval.granted && !isOver(approval) ? approval : undefined
}

/** The purpose of a second factor: a session that is signed in steps up, or its user approves a request. */
export function getPurpose(record: MfaRecord): 'sign-in' | 'step-up' {
  const { stage } = record
  return stage === 'verified' || stage === 'trusted' || openApproval(record) ? 'step-up' : 'sign-in'
}

/** The purpose of a code or key, as the service is told. One for an approval counts for nothing else (R121). */
export function useOf(
  record: MfaRecord,
  { approvals }: Pick<MfaService, 'approvals'>,
): Pick<RequestOf<'authenticate'>, 'purpose' | 'transaction' | 'approval'> {
  const open = openApproval(record)
  const transaction = open?.id ?? record.transaction
  if (!open || !approvals) return { purpose: getPurpose(record), transaction }
  return { purpose: 'approval', transaction, approval: { digest: open.digest, lines: open.lines } }
}

/** Names a factor for the count of its failures (R96) without its contact. One phone number is one factor. */
export function factorBinding(userId: string, method: Method | 'backup', contact: Contact): string {
  const type = method === 'backup' ? 'BACKUP' : isKeyMethod(method) ? method : VERIFY_TYPE[method]
  return digestOf(JSON.stringify([userId, type, canonicalUser(contact)]))
}
