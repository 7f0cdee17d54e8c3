import { getStrength, isAtLeast, type Strength } from '../protocol/factor.js'
import { strongestRequired } from './known-account.js'
import { newRecord } from './pending-login.js'
import { isRunning } from './policy.js'
import { haveSameUsers, nameProduct } from './product.js'
import { listMethods, type MfaRecord, type VerifiedRecord } from './record.js'
import type { Account, SessionRequest } from './state.js'
import { listOtherRecordsOf, type ProductUser } from './store.js'
import { getSessionId } from './transport.js'

/*
 * A factor that was shown at one product counts at another one with the same users, as far as that one requires it (R142, R144). What an issuer
 * said does not: each product names its own issuers.
 */

/** The record of a user who showed at another product what this one requires, such as its decision; `undefined` if they did not. */
export function recordOfShown(
  { req, deps }: SessionRequest,
  account: Account,
  { minStrength, grace }: Pick<MfaRecord, 'minStrength' | 'grace'>,
): VerifiedRecord | undefined {
  const owner = { product: nameProduct(deps.settings), userId: account.userId }
  const found = findShownElsewhere(
    listOtherRecordsOf(req, owner),
    owner,
    strongestRequired(account.minStrength, minStrength),
  )
  if (!found || account.reset) return undefined
  const { verifiedAt, amr, shown, setUp } = found
  const isRunningOn = grace && listMethods(found).every((method) => isRunning(grace, getStrength(method)))
  const base = newRecord(owner, getSessionId(req))
  return { ...base, stage: 'verified', verifiedAt, amr, shown, setUp, ...(isRunningOn && { grace }) }
}

/** Whether the user of a pending login may have shown at another product what is missing here, so that it is worth asking. */
export function isShownElsewhere({ req, deps }: SessionRequest, record: MfaRecord): boolean {
  const { minStrength, mustEnroll, recovery } = record
  const required = deps.settings.login.noDowngrade ? getStrength('passkey') : minStrength
  return (
    !mustEnroll &&
    !recovery &&
    findShownElsewhere(listOtherRecordsOf(req, record), record, required) !== undefined
  )
}

function findShownElsewhere(
  records: readonly MfaRecord[],
  { product }: ProductUser,
  minStrength: Strength = 'weak',
): VerifiedRecord | undefined {
  return records.find(
    (record): record is VerifiedRecord =>
      record.stage === 'verified' &&
      haveSameUsers(record.product, product) &&
      listMethods(record).some((method) => isAtLeast(method, minStrength)),
  )
}
