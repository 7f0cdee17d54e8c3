import { type Factor, findStronger, findStrongest, isAtLeast, type Strength } from '../protocol/factor.js'
import { pickGiven } from '../shape.js'
import type { MfaRecord } from './record.js'
import type { Account, ActiveState, KnownAccount, LoginRequirement, OpenReset } from './state.js'

/** The state of a session that holds this record. */
export function activeState(account: Account | Pick<Account, 'user'>, record: MfaRecord): ActiveState {
  const { stage, userId } = record
  const known = 'factors' in account && !account.unconfirmed ? createKnownAccount(account, record) : undefined
  return { stage, user: account.user, userId, record, account: known }
}

/** The facts known of an account in a session with this record. */
export function createKnownAccount(account: Account, record: MfaRecord): KnownAccount {
  const { factors, withheld, existing, reset, weakApp } = account
  const required = record.stage === 'pending' ? record.minStrength : undefined
  const minStrength = strongestRequired(account.minStrength, required)
  const known = { factors, withheld, existing, ...pickGiven({ minStrength, weakApp }) }
  const requirement = findRequirement(record, reset)
  // The access left of an account that was reset is enough to set up the new factor.
  if (!minStrength || requirement.open || existing.length === 0) return { requirement, ...known }
  // The user lost what is strong enough, so a weaker factor is accepted for a recovery.
  if (record.stage === 'pending' && record.recovery && !record.recovery.shown) {
    return { requirement: { requires: 'recovery' }, ...known }
  }
  const hasEnough = existing.some(({ method }) => isAtLeast(method, minStrength))
  const least = hasEnough ? minStrength : findStrongest(existing.map(({ method }) => method))
  const isAsked = ({ method }: Factor) => isAtLeast(method, least)
  return {
    ...known,
    factors: factors.filter(isAsked),
    withheld: withheld.filter(isAsked),
    requirement: hasEnough
      ? NOTHING
      : { requires: record.mustEnroll === STRONGER ? 'enrollment' : 'factor', open: undefined },
  }
}

/** The stronger one of two requirements, either of which may be absent. */
export function strongestRequired(one: Strength | undefined, other: Strength | undefined) {
  return one && other ? findStronger(one, other) : (one ?? other)
}

/** Stands for a reset where an account has no factor that is strong enough. */
const STRONGER = 'stronger'

/** The factor that the record of a session names that showed enough to set up a factor. */
export function describeEnrollment({ open }: LoginRequirement): string {
  return open?.id ?? STRONGER
}

const NOTHING: LoginRequirement = { requires: 'nothing' }

/** The permission of a reset ends with it, so the record names the reset that its session showed enough for. */
function findRequirement({ stage, mustEnroll }: MfaRecord, open: OpenReset | undefined): LoginRequirement {
  if (stage !== 'pending' || !open) return NOTHING
  if (mustEnroll === open.id) return { requires: 'enrollment', open }
  return { requires: open.kind === 'help_desk' ? 'bypass_code' : 'factor', open }
}
