import { type AnswerOf, isChallengeFor, KEY_TYPE, type KeyFault } from 'countersign/protocol'
import { countLockedSeconds } from '../accounts/account.js'
import { findKey, type KeyRow, keyFrom } from '../accounts/account-key.js'
import type { Application, RelyingPartySettings } from '../accounts/application.js'
import { requireRelyingParty } from '../accounts/applications/offered-methods.js'
import { type Attempt, type AttemptResult, attemptKey } from '../accounts/attempt.js'
import { consumeKeyChallenge } from '../accounts/challenge.js'
import {
  type AuthenticatorData,
  type ClientData,
  decodeBase64url,
  faultInClientData,
  readClientData,
} from '../accounts/webauthn/authenticator-data.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import type { LogEvent } from '../telemetry/log/logger.js'
import { type AccountNotice, writeNoticeOfAttempt } from './account-notice.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import { countAttempt, eventOfAttempt, writeEventOfAttempt } from './count-verification.js'
import type { InputOf } from './inputs.js'
import { refuseAttempt } from './refusals.js'
import { simulateVerdict } from './test-mode/simulated-carrier.js'
import { TEST_KEY } from './test-mode/test-key.js'

/** The facts that an assertion proves, apart from its signature counter. */
type Assertion =
  | { readonly fault: KeyFault }
  | { readonly fault: undefined; readonly data: AuthenticatorData; readonly key: KeyRow }

type Event = Pick<LogEvent, 'level' | 'event' | 'reason'>

interface Verdict {
  readonly answer: AnswerOf<'authenticate'>
  readonly events: readonly Event[]
}

/**
 * Checks an assertion. Its challenge is consumed before anything is verified. A response without a valid challenge is not
 * evaluated and not counted, so that nobody can lock an account by repeating responses; everything else that is wrong counts like
 * a wrong code.
 */
export const authenticateKey: Flow<'authenticate'> = async (context, application, input) => {
  const simulated = simulateVerdict(application, input.contact)
  if (simulated) return simulated.outcome === 'refused' ? simulated : invalid('challenge')
  const relyingParty = requireRelyingParty(application, input.method)
  if ('outcome' in relyingParty) return relyingParty
  const now = Date.now()
  const clientData = readClientData(input.response.response.clientDataJSON)
  const isConsumed = clientData && (await consume(context, application, input, clientData, now))
  const { answer, events } = isConsumed
    ? await attempt(
        context,
        application,
        input,
        await evaluate(context, application, relyingParty, input, clientData),
        now,
      )
    : reject(clientData ? 'challenge' : 'malformed')
  const fields = factorFields(context, application, input, KEY_TYPE[input.method])
  for (const event of events) context.log({ ...event, ...fields })
  return answer
}

/** Consumes the challenge, and only then compares: for an approval, and for nothing else, it must be derived from a digest (R124). */
async function consume(
  { store }: FlowContext,
  application: Application,
  { account, method, purpose = 'sign-in', transaction, approval }: InputOf<'authenticate'>,
  { challenge }: ClientData,
  now: number,
): Promise<boolean> {
  const ceremony = { account, method, purpose, transaction }
  const isKnown = await consumeKeyChallenge(store, application, ceremony, { challenge, now })
  const hasDetails = (purpose === 'approval') === (approval !== undefined)
  return isKnown && hasDetails && isChallengeFor(challenge, approval?.digest)
}

async function evaluate(
  { store }: FlowContext,
  application: Application,
  relyingParty: RelyingPartySettings,
  { account, method, response }: InputOf<'authenticate'>,
  clientData: ClientData,
): Promise<Assertion> {
  const fault = faultInClientData(clientData, 'webauthn.get', relyingParty)
  if (fault) return { fault }
  const expected = { relyingPartyId: relyingParty.id, method, policy: application.keyPolicy }
  const { isSignedBy, readAssertion } = await import('../accounts/webauthn/verify.js')
  const read = readAssertion(response, expected)
  if (read.fault !== undefined) return read
  const { data } = read
  const found = await findKey(store, application, account, response.id)
  const { userHandle } = response.response
  // Before the key is looked at: only a key of no account is unknown, since password managers delete unknown ones.
  if (found.isOfAnother || (userHandle && userHandle !== found.userHandle)) return { fault: 'user_handle' }
  const key = found.key ?? testKeyFor(application, response.id, method, data)
  if (!key) return { fault: 'unknown_key' }
  // The options of this ceremony did not name it.
  if (key.method !== method) return { fault: 'malformed' }
  if (key.backup_eligible !== data.flags.be) return { fault: 'backup_eligibility' }
  const publicKey = decodeBase64url(key.public_key)
  const isSigned = publicKey && (await isSignedBy(publicKey, response, clientData, relyingParty.id))
  return isSigned ? { fault: undefined, data, key } : { fault: 'signature' }
}

function testKeyFor(
  { mode }: Application,
  id: string,
  method: KeyRow['method'],
  { flags }: AuthenticatorData,
): KeyRow | undefined {
  if (mode !== 'test' || id !== TEST_KEY.id) return undefined
  return {
    id,
    method,
    name: TEST_KEY.name,
    public_key: TEST_KEY.publicKey,
    counter: 0,
    backup_eligible: flags.be,
    backed_up: flags.bs,
    transports: [],
    aaguid: '',
    created_at: 0,
    last_used_at: null,
  }
}

/** Counts the attempt, and compares the signature counter in the same statement. */
async function attempt(
  context: FlowContext,
  application: Application,
  input: InputOf<'authenticate'>,
  assertion: Assertion,
  now: number,
): Promise<Verdict> {
  const { account, method, transaction, contact } = input
  const isRight = assertion.fault === undefined
  const key = isRight ? assertion.key : undefined
  const { counter = 0, flags } = isRight ? assertion.data : {}
  const wentBack = key !== undefined && key.counter > 0 && counter <= key.counter
  const becameSynced = key !== undefined && !key.backed_up && flags?.bs === true
  const notices: QueuedMessage[] = []
  const counted: Attempt = {
    account,
    factor: KEY_TYPE[method],
    transaction,
    notifiesOnSuccess: wentBack || becameSynced || input.approval !== undefined,
    async notify(tx, result) {
      const event = eventOfAttempt(input, KEY_TYPE[method], result)
      if (event) await writeEventOfAttempt(context, tx, application, { account, ...event }, now)
      const notice = noticeOf(result, { wentBack, becameSynced }, now)
      if (!notice) return
      const written = { ...notice, account, fallback: contact }
      notices.push(...(await writeNoticeOfAttempt(context, tx, application, result, written, now)))
    },
  }
  const result = await attemptKey(context, application, counted, now, {
    key: key?.id ?? '',
    verified: isRight,
    counter,
    // The devices of a synced key count each on its own. Whether it is one is what its registration said (R107).
    acceptsAnyCounter: application.keyPolicy.counter === 'flag' || key?.backup_eligible === true,
    backedUp: flags?.bs ?? false,
    isTestKey: application.mode === 'test' && key?.id === TEST_KEY.id,
  })
  if (notices.length > 0) void context.outbox.dispatch(notices)
  if (result) countAttempt(context, application, method, result)
  if (result?.ok && key) {
    const used = { ...key, backed_up: flags?.bs ?? false, last_used_at: now }
    return accept(used, flags?.uv ?? false, wentBack)
  }
  const fault = assertion.fault ?? (await faultOfRightOne(context, application, account, key?.id ?? ''))
  return refuse(result, fault, now)
}

/** Why a response that was right was not taken: its counter, unless the key was removed meanwhile. */
async function faultOfRightOne(
  { store }: FlowContext,
  application: Application,
  account: string,
  id: string,
): Promise<KeyFault> {
  const { key } = await findKey(store, application, account, id)
  return key ? 'counter' : 'unknown_key'
}

function noticeOf(
  { ok, locks_until }: AttemptResult,
  { wentBack, becameSynced }: { readonly wentBack: boolean; readonly becameSynced: boolean },
  now: number,
): Pick<AccountNotice, 'notice' | 'seconds'> | undefined {
  if (locks_until)
    return { notice: 'locked', seconds: countLockedSeconds({ locked_until: locks_until }, now) }
  if (ok === null) return undefined
  if (wentBack) return { notice: 'key-counter' }
  return ok && becameSynced ? { notice: 'key-synced' } : undefined
}

function accept(key: KeyRow, userVerified: boolean, wentBack: boolean): Verdict {
  const succeeded: Event = { level: 'info', event: 'verify.succeeded' }
  return {
    answer: { outcome: 'valid', key: keyFrom(key), userVerified },
    events: wentBack
      ? [succeeded, { level: 'warn', event: 'key.counter_went_back', reason: 'flagged' }]
      : [succeeded],
  }
}

function refuse(result: AttemptResult | undefined, fault: KeyFault, now: number): Verdict {
  const unevaluated = refuseAttempt(result, now)
  if (unevaluated) return unevaluated
  const verdict = reject(fault)
  const events = [...verdict.events]
  if (fault === 'counter') events.push({ level: 'warn', event: 'key.counter_went_back', reason: 'refused' })
  if (result?.locks_until) events.push({ level: 'warn', event: 'account.locked' })
  return { ...verdict, events }
}

function reject(fault: KeyFault): Verdict {
  return { answer: invalid(fault), events: [{ level: 'info', event: 'verify.failed', reason: fault }] }
}

function invalid(fault: KeyFault) {
  return { outcome: 'invalid', fault } as const
}
