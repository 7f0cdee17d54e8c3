import { HostError } from '../../errors.js'
import { backupShown } from '../../flows/backup-target.js'
import { type Refused, refuse } from '../../flows/deps.js'
import { type AccountRecovery, listFactorsToEnd, type Sender } from '../../flows/recovery.js'
import type { MfaUser } from '../../flows/user.js'
import { checkShown } from '../../flows/verify.js'
import type { Settings } from '../../options/settings.js'
import type { ShownMethod } from '../../protocol/factor.js'
import { isKeyMethod } from '../../protocol/methods.js'
import { describeEnrollment } from '../../session/known-account.js'
import { requireNotEnded } from '../../session/log-in.js'
import { continueLogin } from '../../session/renew.js'
import type { ActiveState } from '../../session/state.js'
import { requireCurrent } from '../../session/store.js'
import { readAccount, readUserId } from '../../session/user-factors.js'
import { pickGiven } from '../../shape.js'
import { type BypassCode, NO_RESETS } from '../../stores/trust/resets.js'
import type { Problem } from '../http/problem.js'
import type { RequestContext, RouteDeps } from './context.js'
import { describeSender, listContacts } from './notify.js'
import type { Verified } from './verification.js'

/** Who resets an account, and why. */
export interface AccountReset {
  /** Who does it: the id of a member of your staff, at most 200 characters. It is part of the event `account_reset`. */
  readonly by: string
  /** Who approved it, as you say yourself. `requestReset` and `approveReset` prove it instead, so this is a warning. */
  readonly approvedBy?: string | undefined
  /** Why, in at most 500 characters. It is part of the event, so it must not contain a code or a contact. */
  readonly reason: string
  /** The ids of the factors that end. Defaults to all. */
  readonly factors?: readonly string[] | undefined
}

const MAX_NAME_LENGTH = 200
const MAX_REASON_LENGTH = 500

/** A reset, and the function of `account` that was called. */
interface OrderedReset {
  readonly name?: 'reset' | 'requestReset'
  readonly user: Express.User
  readonly order: AccountReset
}

/** Checks the order of a reset before anything ends. @throws {TypeError} for an invalid one */
export async function checkReset(
  deps: RouteDeps,
  recovery: AccountRecovery | undefined,
  { name = 'reset', user, order }: OrderedReset,
) {
  const { settings } = deps
  if (!recovery || !settings.recovery) {
    throw new TypeError(
      `account.${name} needs the option recovery, for its store and its notices. Give recovery.`,
    )
  }
  const by = requireText(name, order, 'by', MAX_NAME_LENGTH)
  const reason = requireText(name, order, 'reason', MAX_REASON_LENGTH)
  const { factors: chosen } = order
  const userId = readUserId(user, settings)
  // Also those that an earlier reset ended: their contacts are notified again.
  const read = () => readAccount(user, userId, { ...deps, resets: NO_RESETS })
  const { existing } = await read()
  const unknown = chosen?.find((id) => !existing.some((factor) => factor.id === id))
  if (unknown !== undefined) {
    throw new TypeError(
      `account.${name}: the user has no factor with the id ${unknown}, and nothing was reset. Give ids of factors that the option factors returns.`,
    )
  }
  const left = existing.filter(({ id }) => chosen && !chosen.includes(id))
  if (
    !deps.service.removeFactor &&
    settings.login.noDowngrade &&
    left.some(({ method }) => isKeyMethod(method))
  ) {
    throw new HostError(
      'ERR_MFA_RESET_SERVICE',
      `account.${name}: the MFA service has no function removeFactor, so the user could set up an authenticator app only, which login.noDowngrade does not accept beside a key, and nothing was reset. Implement removeFactor, or reset all factors.`,
    )
  }
  return {
    recovery,
    rules: settings.recovery,
    requests: recovery.resetRequests,
    by,
    reason,
    chosen,
    userId,
    read,
    // Asked before anything ends, since the host's function may fail.
    contacts: listContacts(settings, user, existing),
  }
}

/** Resets the account of a user for the host's staff. @throws {TypeError} for an invalid order, {HostError} without two people. */
export async function resetAccount(
  deps: RouteDeps,
  recovery: AccountRecovery | undefined,
  { isProven = false, ...ordered }: OrderedReset & { readonly isProven?: boolean },
): Promise<BypassCode> {
  const { diagnostics } = deps
  const { order } = ordered
  const checked = await checkReset(deps, recovery, ordered)
  const { by, reason, chosen, userId, read, contacts } = checked
  const approvedBy =
    order.approvedBy === undefined ? undefined : requireText('reset', order, 'approvedBy', MAX_NAME_LENGTH)
  if (!isProven && checked.rules.requireTwoApprovers && (!approvedBy || isSame(by, approvedBy))) {
    throw new HostError(
      'ERR_MFA_RESET_APPROVAL',
      'account.reset needs two different people, and nothing was reset. Call account.requestReset and account.approveReset in their sessions, or leave recovery.requireTwoApprovers at false.',
    )
  }
  if (approvedBy && !isProven) diagnostics.warn('MFA_WARN_APPROVED_BY')
  // Read after the end of all sessions: what one of them confirmed until then is listed, what it confirms later is taken back.
  await deps.sessionsValidAfter.set(userId)
  const account = await read()
  const ended = account.existing.filter(({ id }) => !chosen || chosen.includes(id))
  return checked.recovery.reset(account, ended, {
    by,
    ...(approvedBy && { approvedBy }),
    reason,
    endsAll: !chosen,
    contacts,
    locales: [],
  })
}

function requireText(
  called: string,
  order: AccountReset,
  name: 'by' | 'approvedBy' | 'reason',
  maxLength: number,
): string {
  const value: unknown = order[name]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return value.trim()
  throw new TypeError(
    `account.${called}: ${name} must be text of 1 to ${maxLength} characters, and nothing was reset.`,
  )
}

/** Latin letters, each with letters and digits that look like it (Unicode Technical Standard 39). */
const LOOK_ALIKES =
  'aаαɑ bьƅ cсϲ dԁ eеєҽ fƒ gɡց hһհ iіιıӏ jјϳ kкκ l1ⅼ| mм nпηո o0оοօσ pрρ qԛգ rг sѕꜱ tтτ uυսц vѵν wԝωա xхχ yуγү zᴢ'
const LATIN = new Map(
  LOOK_ALIKES.split(' ').flatMap(([latin = '', ...rest]) => rest.map((letter) => [letter, latin])),
)

/** Two spellings of one name are one person, also if letters only look alike or cannot be seen. */
function isSame(one: string, other: string): boolean {
  const foldName = (name: string) => {
    const letters = name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
    return [...letters].map((letter) => LATIN.get(letter) ?? letter).join('')
  }
  return foldName(one) === foldName(other)
}

/** Checks the bypass code of a reset, as all codes (R20), and has the user enroll. @throws {SessionEndedError} */
export async function verifyBypassCode(context: RequestContext, code: string): Promise<Verified | Refused> {
  const { req, deps, state, requirement } = context
  if (requirement.requires !== 'bypass_code') return refuse({ code: 'session_ended' })
  const { resets, emit } = deps
  const { userId, record } = state
  const verdict = await checkShown(deps, {
    attempt: { userId, challenge: `${record.transaction}:bypass`, transaction: record.transaction },
    evaluate: async () => ({ outcome: (await resets.redeem(userId, code)) ? 'valid' : 'invalid' }),
  })
  if (verdict.outcome === 'refused') {
    await requireCurrent(req, record)
    return verdict
  }
  await requireNotEnded(context, record)
  emit({ type: 'bypass_code_used', userId })
  await continueLogin(context, state, { mustEnroll: describeEnrollment(requirement) })
  return { outcome: 'verified', method: 'backup', mustEnroll: true }
}

/** The sender of a request, for the notice of a recovery. */
export function describeRecoverySender({ req, deps }: RequestContext): Sender {
  const { browser, address, location } = describeSender(req, deps.settings, { type: 'recovery_requested' })
  return pickGiven({ browser, address, location })
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
  return usable.some((method) => method && listFactorsToEnd(existing, [method]).length > 0)
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
export function createWithheldProblem(
  settings: Pick<Settings, 'recovery' | 'urls' | 'pages'>,
  user: Withheld,
  state: Pick<ActiveState, 'stage'>,
): Problem {
  const { help } = settings.pages
  return {
    code: 'factors_withheld',
    next: settings.urls.path,
    ...pickGiven({ recover: recoverPathFor(settings, user, state), help }),
  }
}
