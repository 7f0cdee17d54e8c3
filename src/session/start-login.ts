import type { Request } from 'express'
import { sessionEnded } from '../errors.js'
import { addAmr, reaches } from '../protocol/factor.js'
import { pickGiven } from '../shape.js'
import { type EvidenceRead, OWN_ISSUER, readEvidence, WIRING_FAULTS } from './evidence.js'
import { setState } from './find-state.js'
import { askNow, recordFor } from './first-factor.js'
import { activeState } from './known-account.js'
import { type Login, regenerate } from './new-session.js'
import { newRecord, signOut } from './pending-login.js'
import { type Decision, decide, findRequiredStrength, isRunning, listForHost } from './policy.js'
import { nameProduct } from './product.js'
import type { Evidence, MfaRecord, PendingRecord, VerifiedRecord } from './record.js'
import type { Account, SessionRequest } from './state.js'
import { findRememberedTarget, isUnchanged, recordOf } from './store.js'
import { getSessionId } from './transport.js'
import { readAccountAtSignIn } from './user-factors.js'

/** A first factor was shown. */
export async function startLogin(at: SessionRequest, login: Login, userId: string): Promise<void> {
  const { req, deps, shared } = at
  const { user, options } = login
  // Read first, so that an end during this login ends its session.
  const lastEnd = await deps.sessionsValidAfter.lastEnd(userId)
  const asked = await askNow(deps, userId, () => readAccountAtSignIn(user, userId, deps))
  const { account } = asked
  const owner = { product: nameProduct(deps.settings), userId }
  const earlier = recordOf(req, owner)
  await endStepUpOfAnother(at, userId)
  const { evidence: given } = await readEvidenceOf(at, account, { ...options }, earlier)
  const decision = await decide(req, deps, account, { ...options })
  const evidence = given && enoughEvidence(at, account, given, decision)
  const proven = evidence && provenRecord(newRecord(owner, getSessionId(req)), evidence, decision)
  const record = proven ?? addEvidence(await recordFor(decision, at, asked), evidence)
  // As the sign-in with a key does. If the store fails, the user is not signed in.
  if (proven?.shown.passkey) await deps.recoveries.cancel(userId, 'strong_factor')
  const returnTo = earlier?.returnTo ?? findRememberedTarget(req, deps.settings)
  const stored: MfaRecord = {
    ...record,
    ...(await challengeOf(req, earlier, record)),
    ...pickGiven({ returnTo, lastEnd }),
    // The form that sent the browser to the issuer is taken up again.
    ...(earlier?.issuerStepUp && earlier.interrupted && { interrupted: earlier.interrupted }),
  }
  await regenerate(req, login, {
    record: stored,
    keepSessionInfo: false,
    returnTo,
  })
  shared.loggedInAs = getSessionId(req)
  deps.diagnostics.inspectLogin(req)
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId })
  if (proven?.shown.passkey) deps.emit({ type: 'verified', userId, method: 'passkey', purpose: 'sign-in' })
  else if (evidence?.strength) {
    const { issuer, strength } = evidence
    deps.emit({ type: 'evidence_accepted', userId, issuer, strength })
  }
  setState(at, activeState(account, { ...stored, sessionId: getSessionId(req) }))
  if (record.stage !== 'pending') deps.newBrowsers.signedIn(req, { user, userId })
}

/**
 * The live challenge of a pending login whose user shows the first factor again. It goes on in the next session, with the
 * attempts, messages and time that it has left, in its own transaction (R38), unless another request ended the session (R06, R07).
 */
async function challengeOf(
  req: Request,
  earlier: MfaRecord | undefined,
  { stage }: MfaRecord,
): Promise<Pick<MfaRecord, 'transaction' | 'challenge'> | undefined> {
  if (stage !== 'pending' || earlier?.stage !== 'pending' || earlier.recovery) return undefined
  const { transaction, challenge } = earlier
  if (!challenge || challenge.expiresAt <= Date.now()) return undefined
  return (await isUnchanged(req, earlier)) ? { transaction, challenge } : undefined
}

/** Ends the session if another user comes back from the issuer (R113). @throws {SessionEndedError} then. */
async function endStepUpOfAnother({ req, shared }: SessionRequest, userId: string): Promise<void> {
  const before = shared.session?.state
  if (!before || before.stage === 'none' || before.userId === userId || !findIssuerAsked(before.record))
    return
  await signOut(req, undefined)
  throw sessionEnded()
}

/** The evidence that the login brought along. A user whose account was reset must show a new factor first, whatever anyone says. */
async function readEvidenceOf(
  { req, deps }: SessionRequest,
  account: Account,
  login: Readonly<Record<string, unknown>>,
  earlier: MfaRecord | undefined,
): Promise<EvidenceRead> {
  const { settings, emit, diagnostics } = deps
  const { user, userId, reset } = account
  if (!settings.login.evidence || reset) return {}
  const given: unknown = await settings.login.evidence({ user, req, login, factors: listForHost(account) })
  if (given === undefined || given === null) return {}
  const read = readEvidence(given, {
    req,
    issuers: settings.login.issuers,
    askedAt: findIssuerAsked(earlier),
  })
  if (read.fault) {
    if (WIRING_FAULTS.includes(read.fault)) diagnostics.warn('MFA_WARN_EVIDENCE')
    emit({ type: 'evidence_refused', userId, reason: read.fault })
  }
  return read
}

/** The factor that the evidence counts as where the policy, or the account, requires a strength that it may not have (R115, R116). */
function enoughEvidence(
  { deps: { emit } }: SessionRequest,
  account: Account,
  evidence: Evidence,
  decision: Decision,
): Evidence {
  const { strength, ...rest } = evidence
  const minStrength = findRequiredStrength(decision, account)
  if (!strength || !minStrength || reaches(strength, minStrength)) return evidence
  emit({ type: 'evidence_refused', userId: account.userId, reason: 'too_weak' })
  return rest
}

/** A pending login remembers what the first factor was. */
function addEvidence(record: MfaRecord, evidence: Evidence | undefined): MfaRecord {
  return record.stage === 'pending' && evidence ? { ...record, evidence } : record
}

/** How long the user has for a step-up at an issuer. */
const STEP_UP_LIFETIME_MS = 15 * 60_000

/** When this session asked an issuer for a step-up, if that was lately. */
function findIssuerAsked(record: MfaRecord | undefined): number | undefined {
  const { askedAt } = record?.issuerStepUp ?? {}
  return askedAt !== undefined && Date.now() - askedAt < STEP_UP_LIFETIME_MS ? askedAt : undefined
}

/** The record of a session that evidence verifies; `undefined` if it does not count. */
function provenRecord(
  record: PendingRecord,
  evidence: Evidence,
  { grace }: Decision,
): VerifiedRecord | undefined {
  const { issuer, strength, amr, authTime } = evidence
  if (!strength) return undefined
  // The host's own passkey sign-in shows a factor of the account, where an issuer only says that it saw one.
  const isOwnPasskey = issuer === OWN_ISSUER && strength === 'phishing-resistant'
  return {
    ...record,
    stage: 'verified',
    verifiedAt: authTime,
    amr: addAmr([], amr),
    shown: isOwnPasskey ? { passkey: authTime } : {},
    ...(!isOwnPasskey && { evidence }),
    ...(grace && isRunning(grace, strength) && { grace }),
  }
}
