import { LimitsStoreError } from '../errors.js'
import { newRecord } from './pending-login.js'
import { type Decision, findRequiredStrength } from './policy.js'
import { nameProduct } from './product.js'
import type { ExemptRecord, MfaRecord, PendingRecord, Settled } from './record.js'
import type { Account, SessionDeps, SessionRequest } from './state.js'
import { getSessionId } from './transport.js'

/** A user's account, and when it was asked for. */
export interface Asked {
  readonly account: Account
  readonly settled: Settled
}

/** A decision that is made again at the next request: the service did not answer, or the changes could not be read. */
const UNSETTLED: Settled = { at: 0, changes: 0 }

/** Asks for the user's account, after the number of changes was read. @throws {ServiceError} */
export async function askNow(
  { factorChanges }: SessionDeps,
  userId: string,
  read: () => Promise<Account>,
): Promise<Asked> {
  const at = Date.now()
  const changes = await factorChanges.read(userId).catch(ignoreStoreFailure)
  const account = await read()
  return { account, settled: changes === undefined || account.unconfirmed ? UNSETTLED : { at, changes } }
}

/** Returns `undefined` for an error of the limits store, and throws every other one. */
export function ignoreStoreFailure(error: unknown): undefined {
  if (!(error instanceof LimitsStoreError)) throw error
}

/** The record that follows from a decision about a user who has just shown the first factor. */
export async function recordFor(
  decision: Decision,
  { req, deps: { trustedDevices, settings }, shared }: SessionRequest,
  { account, settled }: Asked,
): Promise<MfaRecord> {
  const record = newRecord({ product: nameProduct(settings), userId: account.userId }, getSessionId(req))
  if (decision.verdict === 'pass') return exemptRecord(record, decision, settled)
  const { verdict, minStrength, grace } = decision
  // A trusted device takes the place of a factor that could be shown, not of one that cannot (R132), nor of a strength (R115).
  const isEnough =
    verdict === 'verify' && !findRequiredStrength(decision, account) && account.factors.length > 0
  // Nor where nothing can be stored (R134): its new token could not be sent.
  const mayTrust = isEnough && !shared.readOnly
  const recognized = mayTrust ? await trustedDevices.recognize(req, account) : undefined
  const required = { ...record, ...(minStrength && { minStrength }), ...(grace && { grace }) }
  return recognized ? { settled, ...recognized, ...required, stage: 'trusted' } : required
}

/** The record of a session that needs no factor. */
export function exemptRecord(
  record: PendingRecord | ExemptRecord,
  { exemption, grace }: Extract<Decision, { verdict: 'pass' }>,
  settled: Settled,
): ExemptRecord {
  return { ...record, stage: 'exempt', exemption, settled, ...(grace && { grace }) }
}
