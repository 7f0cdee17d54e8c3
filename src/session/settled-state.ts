import { isOutage } from '../errors.js'
import { remember } from '../remember.js'
import { pickGiven } from '../shape.js'
import { type Asked, askNow, exemptRecord, ignoreStoreFailure, recordFor } from './first-factor.js'
import { activeState } from './known-account.js'
import { CLOCK_SLACK_MS, pendingState } from './pending-login.js'
import { decide } from './policy.js'
import { haveSameUsers, nameProduct } from './product.js'
import { type ExemptRecord, type MfaRecord, removeActivity, type TrustedRecord } from './record.js'
import { recordOfShown } from './shown-elsewhere.js'
import type { Account, Awaitable, Found, SessionDeps, SessionRequest, SessionState } from './state.js'
import { listOtherRecordsOf, storeFirst } from './store.js'
import { getSessionId } from './transport.js'
import { readAccount, readAccountAtSignIn } from './user-factors.js'

/** The state of a session that was let in without a factor, as long as the decision on it holds (R133). */
export function findSettledState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
): Awaitable<SessionState> {
  const recent = at.deps.factorChanges.recent(found.userId)
  const findNext = (changes: number | undefined) => findHeldState(at, found, record, changes)
  return recent instanceof Promise ? recent.catch(ignoreStoreFailure).then(findNext) : findNext(recent)
}

function findHeldState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
  changes: number | undefined,
): Awaitable<SessionState> {
  const { login, outage } = at.deps.settings
  const { settled, grace } = record
  const isOver = grace !== undefined && grace.until <= Date.now()
  if (settled.changes !== changes || isOver) return decideState(at, found)
  const ageMs = Date.now() - settled.at
  const isWithin = (lifeMs: number) => ageMs > -CLOCK_SLACK_MS && ageMs < lifeMs
  if (isWithin(login.recheckMs)) return findKeptState(at, found, record)
  return decideState(at, found, () => shareAsked(at, found, record)).catch((error: unknown) => {
    if (!isOutage(error) || !isWithin(outage.keepSessionsMs)) throw error
    return findKeptState(at, found, record)
  })
}

/** The state of a decision that still holds, for a trusted device if its device does. */
function findKeptState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
): Awaitable<SessionState> {
  const { trustedDevices } = at.deps
  const { user } = found
  if (record.stage === 'exempt') return activeState({ user }, record)
  const holds = trustedDevices.holds(record, user)
  const findNext = (isHeld: boolean) => (isHeld ? activeState({ user }, record) : decideState(at, found))
  return holds instanceof Promise ? holds.then(findNext) : findNext(holds)
}

/** The state that the host and the service decide on now: which factors the user has, and whether one is required. */
export async function decideState(at: SessionRequest, found: Found, ask = askService): Promise<SessionState> {
  const { user, record } = found
  const { deps } = at
  const asked = await ask(at, found)
  const { account, settled } = asked
  if (
    record?.stage === 'trusted' &&
    account.factors.length > 0 &&
    !account.minStrength &&
    (await deps.trustedDevices.holds(record, user, account))
  ) {
    const renewed = { ...record, settled }
    if (!at.shared.readOnly) await storeFirst(at.req, renewed)
    return activeState(account, renewed)
  }
  return decideAgain(at, asked, record)
}

function askService({ deps }: SessionRequest, { user, userId, record }: Found): Promise<Asked> {
  // A browser that is trusted instead of a factor contradicts a record that says that there is none.
  const read = record?.stage === 'trusted' ? readAccount : readAccountAtSignIn
  return askNow(deps, userId, () => read(user, userId, deps))
}

/** How long the requests of a session share an answer, in milliseconds: those that were on their way when it came. */
const SHARED_MS = 10_000

interface SharedAnswer {
  readonly asked: Promise<Asked>
  readonly at: number
}

/** By the count of an app, which is the same object for all its requests. */
const shared = new WeakMap<SessionDeps['factorChanges'], Map<string, SharedAnswer>>()

/** Asks once for concurrent requests of a session whose decision is to be made again because its time is over. */
function shareAsked(
  at: SessionRequest,
  found: Found,
  { settled }: Pick<ExemptRecord, 'settled'>,
): Promise<Asked> {
  const { factorChanges } = at.deps
  const answers = shared.get(factorChanges) ?? new Map<string, SharedAnswer>()
  shared.set(factorChanges, answers)
  const name = JSON.stringify([getSessionId(at.req), found.userId, settled])
  const known = answers.get(name)
  if (known && Date.now() - known.at < SHARED_MS) return known.asked
  const asked = askService(at, found)
  remember(answers, name, { asked, at: Date.now() })
  // A failure is no answer.
  asked.catch(() => answers.delete(name))
  return asked
}

/** The state that follows from an answer of the service. The policy may exempt a login without a factor. */
async function decideAgain(
  at: SessionRequest,
  asked: Asked,
  earlier: MfaRecord | undefined,
): Promise<SessionState> {
  const { req, deps } = at
  const { account, settled } = asked
  const lastEnd = await findLastEnd(at, account, earlier)
  const decision = await decide(req, deps, account, {})
  if (decision.verdict !== 'pass' && earlier?.stage === 'pending') {
    return pendingState(at, activeState(account, earlier))
  }
  if (decision.verdict === 'pass' && earlier?.stage === 'exempt') {
    return storeState(at, account, exemptRecord(removeActivity(earlier, 'grace'), decision, settled))
  }
  const shown = decision.verdict === 'enroll' ? undefined : recordOfShown(at, account, decision)
  const record = shown ?? (await recordFor(decision, at, asked))
  // Who acts for the user at another product does so here.
  const acting = listOtherRecordsOf(req, record).find((other) => other.acting)?.acting
  return storeState(at, account, {
    ...record,
    ...pickGiven({ returnTo: earlier?.returnTo, acting, lastEnd }),
  })
}

/** The last end of the user's sessions that this session comes after: as its records say, and for its first one as the store says. */
async function findLastEnd({ req, deps }: SessionRequest, { userId }: Account, earlier?: MfaRecord) {
  const product = nameProduct(deps.settings)
  const others = listOtherRecordsOf(req, { product, userId })
  const known = earlier ?? others.find((other) => haveSameUsers(other.product, product))
  return known ? known.lastEnd : await deps.sessionsValidAfter.lastEnd(userId)
}

/** The state of a record that is written now, unless the session may only be read. */
export async function storeState(
  { req, deps, shared }: SessionRequest,
  account: Account,
  record: MfaRecord,
): Promise<SessionState> {
  if (shared.readOnly) return activeState(account, record)
  await storeFirst(req, record)
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId: record.userId })
  return activeState(account, record)
}
