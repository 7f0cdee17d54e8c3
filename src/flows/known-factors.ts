import { canonicalUser } from '../protocol/contact.js'
import { type Factor, isAtLeast, type ShownMethod } from '../protocol/factor.js'
import { isKeyMethod, VERIFY_TYPE } from '../protocol/methods.js'
import type { AnswerOf } from '../protocol/service.js'
import { askForFactors } from './backup-codes.js'
import { backupShown, backupTarget } from './backup-target.js'
import type { Deps } from './deps.js'
import type { Freshness } from './freshness.js'
import type { MfaUser } from './user.js'

/** The answers of the service about a user of the current request, so that it is asked once. */
const asked = new WeakMap<MfaUser, Promise<AnswerOf<'factorsOf'> | undefined>>()

/** A user's factors as the service knows them, if it can tell within half a second. Never fails. */
export function findKnownFactors(deps: Deps, user: MfaUser): Promise<AnswerOf<'factorsOf'> | undefined> {
  const answer = asked.get(user) ?? askForFactors(deps.service, user)
  asked.set(user, answer)
  return answer
}

/** When a code of this factor was last accepted, in milliseconds since 1970, if the service says. */
export function findLastUse(
  { method, contact }: Pick<Factor, 'method' | 'contact'>,
  known: AnswerOf<'factorsOf'> | undefined,
): number | undefined {
  if (isKeyMethod(method)) return undefined
  const type = VERIFY_TYPE[method]
  const use = known?.lastUsed?.find(
    // An account has one app, whatever its contact.
    (use) => use.type === type && (type === 'APP' || use.user === canonicalUser(contact)),
  )
  return use?.at
}

/** How many digits the codes of a user's app have; 0 if nothing says so where they may differ. */
export async function findDigits(deps: Deps, user: MfaUser, app: Factor): Promise<number> {
  if (app.digits) return app.digits
  const known = (await findKnownFactors(deps, user))?.existing.find(({ method }) => method === 'app')?.digits
  const { shortest, longest } = deps.service.codes?.app ?? { shortest: 6, longest: 6 }
  return known ?? (shortest === longest ? shortest : 0)
}

/** When a backup code was last accepted, in milliseconds since 1970, if the service says. */
export function lastBackupUse(known: AnswerOf<'factorsOf'> | undefined): number | undefined {
  return known?.lastUsed?.find(({ type }) => type === 'BACKUP')?.at
}

/** Asks again from now on, since a factor of the user has changed. */
export function forgetKnownFactors(user: MfaUser): void {
  asked.delete(user)
}

/** Whether a user can have backup codes that the login accepts. */
export async function hasBackupCodes(deps: Deps, user: MfaUser): Promise<boolean> {
  const { backupCodes } = deps
  if (!(await isStrongEnough(deps, user))) return false
  return backupTarget(user) !== undefined || ((await backupCodes.leftRecently(user)) ?? 0) !== 0
}

/** Whether a backup code of this user is as strong as the login requires. */
export async function isStrongEnough(deps: Deps, user: MfaUser): Promise<boolean> {
  const { minStrength, acceptsLess } = user
  if (minStrength === undefined || acceptsLess) return true
  return acceptsBackup(deps, user, (shown) => isAtLeast(shown, minStrength))
}

/** Whether a backup code of this user would be accepted. Codes that were shown on a page count as such, whatever the contact. */
async function acceptsBackup(
  deps: Deps,
  user: MfaUser,
  accepts: (shown: ShownMethod) => boolean,
): Promise<boolean> {
  const sent = backupShown(user)
  const acceptsSent = sent !== undefined && accepts(sent)
  const acceptsPage = accepts('page_backup')
  // The service is asked only where its answer matters.
  if (acceptsSent && acceptsPage) return true
  if (!acceptsSent && !acceptsPage) return false
  const known = await findKnownFactors(deps, user)
  return known?.backupDelivery === 'page' ? acceptsPage : acceptsSent
}

/** The factors of a user that a route accepts, and whether it accepts a backup code. */
export async function findAcceptedFactors(
  deps: Deps,
  user: MfaUser,
  { accepts }: Pick<Freshness, 'accepts'>,
): Promise<{ readonly factors: readonly Factor[]; readonly backup: boolean }> {
  return {
    factors: user.factors.filter(({ method }) => accepts(method)),
    backup: await acceptsBackup(deps, user, accepts),
  }
}

/** Whether backup codes can be shown on a page: the service returns them, and tells them from those that were sent. */
export async function canShowBackupCodes(deps: Deps, user: MfaUser): Promise<boolean> {
  return deps.service.createBackupCodes !== undefined && (await findKnownFactors(deps, user)) !== undefined
}
