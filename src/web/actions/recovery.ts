import { HostError } from '../../errors.js'
import { backupShown } from '../../flows/backup-target.js'
import { type Refused, refuse } from '../../flows/deps.js'
import { type AccountRecovery, factorsToEnd, type Sender } from '../../flows/recovery.js'
import type { MfaUser } from '../../flows/user.js'
import { checkShown } from '../../flows/verify.js'
import type { Settings } from '../../options/settings.js'
import type { ShownMethod } from '../../protocol/factor.js'
import { enrollmentFor } from '../../session/known-account.js'
import { requireNotEnded } from '../../session/log-in.js'
import { continueLogin } from '../../session/renew.js'
import type { ActiveState } from '../../session/state.js'
import { requireCurrent } from '../../session/store.js'
import { readAccount, userIdOf } from '../../session/user-factors.js'
import { onlyGiven } from '../../shape.js'
import { type BypassCode, NO_RESETS } from '../../stores/trust/resets.js'
import type { Problem } from '../http/problem.js'
import type { RequestContext, RouteDeps } from './context.js'
import { contactsOf, factsOf } from './notify.js'
import type { Verified } from './verification.js'

/** Who resets an account, and why. */
export interface AccountReset {
  /** Who does it: the id of a member of your staff, at most 200 characters. It is part of the event `account_reset`. */
  readonly by: string
  /** Who approved it, if that is another person. */
  readonly approvedBy?: string | undefined
  /** Why, in at most 500 characters. It is part of the event, so it must not contain a code or a contact. */
  readonly reason: string
  /** The ids of the factors that end. Defaults to all. */
  readonly factors?: readonly string[] | undefined
}

const MAX_NAME_LENGTH = 200
const MAX_REASON_LENGTH = 500

/** Resets the account of a user for the host's staff. @throws {TypeError} for an invalid order, {HostError} without two people. */
export async function resetAccount(
  deps: RouteDeps,
  recovery: AccountRecovery | undefined,
  { user, order }: { readonly user: Express.User; readonly order: AccountReset },
): Promise<BypassCode> {
  const { settings } = deps
  if (!recovery || !settings.recovery) {
    throw new TypeError(
      'account.reset needs the option recovery, for its store and its notices. Give recovery.',
    )
  }
  const by = textIn(order, 'by', MAX_NAME_LENGTH)
  const reason = textIn(order, 'reason', MAX_REASON_LENGTH)
  const approvedBy = order.approvedBy === undefined ? undefined : textIn(order, 'approvedBy', MAX_NAME_LENGTH)
  if (settings.recovery.requireTwoApprovers && (!approvedBy || isSame(by, approvedBy))) {
    throw new HostError(
      'ERR_MFA_RESET_APPROVAL',
      'account.reset needs two different people, and nothing was reset. Give by and approvedBy, or leave recovery.requireTwoApprovers at false.',
    )
  }
  // Also those that an earlier reset ended: their contacts are notified again.
  const account = await readAccount(user, userIdOf(user, settings), { ...deps, resets: NO_RESETS })
  const factors = account.existing
  const chosen = order.factors ?? factors.map(({ id }) => id)
  const unknown = chosen.find((id) => !factors.some((factor) => factor.id === id))
  if (unknown !== undefined) {
    throw new TypeError(
      `account.reset: the user has no factor with the id ${unknown}, and nothing was reset. Give ids of factors that the option factors returns.`,
    )
  }
  const ended = factors.filter(({ id }) => chosen.includes(id))
  const contacts = contactsOf(settings, user, factors)
  return recovery.reset(account, ended, {
    by,
    ...(approvedBy && { approvedBy }),
    reason,
    contacts,
    locales: [],
  })
}

function textIn(order: AccountReset, name: 'by' | 'approvedBy' | 'reason', maxLength: number): string {
  const value: unknown = order[name]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return value.trim()
  throw new TypeError(
    `account.reset: ${name} must be text of 1 to ${maxLength} characters, and nothing was reset.`,
  )
}

/** Two spellings of one name are one person. */
function isSame(one: string, other: string): boolean {
  const folded = (name: string) => name.normalize('NFKC').trim().toLowerCase()
  return folded(one) === folded(other)
}

/** Checks the bypass code of a reset, as all codes (R20), and has the user enroll. @throws {SessionEndedError} */
export async function verifyBypassCode(context: RequestContext, code: string): Promise<Verified | Refused> {
  const { req, deps, state, requirement } = context
  if (requirement.requires !== 'bypass_code') return refuse({ code: 'session_ended' })
  const { resets, emit } = deps
  const { userId, record } = state
  const verdict = await checkShown(deps, {
    attempt: { userId, challenge: `${record.transaction}:bypass`, approval: record.transaction },
    evaluate: async () => ({ outcome: (await resets.redeem(userId, code)) ? 'valid' : 'invalid' }),
  })
  if (verdict.outcome === 'refused') {
    await requireCurrent(req, record)
    return verdict
  }
  await requireNotEnded(context, record)
  emit({ type: 'bypass_code_used', userId })
  await continueLogin(context, state, { mustEnroll: enrollmentFor(requirement) })
  return { outcome: 'verified', method: 'backup', mustEnroll: true }
}

export function senderOf({ req, deps }: RequestContext): Sender {
  const { browser, address, location } = factsOf(req, deps.settings, { type: 'recovery_requested' })
  return onlyGiven({ browser, address, location })
}

type Withheld = Pick<MfaUser, 'factors' | 'withheld' | 'existing' | 'minStrength'>

/** Whether the user has something weaker than the strongest factor, with which a recovery can be requested. */
export function canRecover(
  user: Withheld,
  mayHaveBackup: boolean,
  shown: readonly ShownMethod[] = [],
): boolean {
  const { factors, existing, minStrength } = user
  const usable = [
    ...(minStrength ? existing : factors).map(({ method }) => method),
    mayHaveBackup ? backupShown(user) : undefined,
    ...shown,
  ]
  return usable.some((one) => one && factorsToEnd(existing, [one]).length > 0)
}

/** The page of the recovery, if the user has a factor or a session with which one can be requested. */
export function recoverPathFor(
  { recovery, urls }: Pick<Settings, 'recovery' | 'urls'>,
  user: Withheld,
  { stage }: Pick<ActiveState, 'stage'>,
  mayHaveBackup = true,
): string | undefined {
  const isPossible = canRecover(user, mayHaveBackup) || (user.withheld.length > 0 && stage === 'verified')
  return recovery?.selfService && isPossible ? `${urls.path}/recover` : undefined
}

/** The problem for a JSON client whose user's factors are all withheld: what happened, and what the user can do (R132). */
export function withheldProblem(
  settings: Pick<Settings, 'recovery' | 'urls' | 'pages'>,
  user: Withheld,
  state: Pick<ActiveState, 'stage'>,
): Problem {
  const { help } = settings.pages
  return {
    code: 'factors_withheld',
    next: settings.urls.path,
    ...onlyGiven({ recover: recoverPathFor(settings, user, state), help }),
  }
}
