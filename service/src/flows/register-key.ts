import {
  type AnswerOf,
  type Contact,
  formatUser,
  isAccountAddress,
  KEY_TYPE,
  type KeyMethod,
  type Refused,
} from 'countersign/protocol'
import { countLockedSeconds, findAccount, holdAccount } from '../accounts/account.js'
import { insertKey, keyFrom, listKeys, obtainUserHandle } from '../accounts/account-key.js'
import type { Application, RelyingPartySettings } from '../accounts/application.js'
import { refuseConditional, requireRelyingParty } from '../accounts/applications/offered-methods.js'
import {
  consumeKeyChallenge,
  createKeyChallenge,
  KEY_CHALLENGE_MS,
  type KeyCeremony,
} from '../accounts/challenge.js'
import { faultInClientData, readClientData } from '../accounts/webauthn/authenticator-data.js'
import { creationOptions, nameForKey, requestOptions } from '../accounts/webauthn/options.js'
import type { Credential, RegistrationVerdict } from '../accounts/webauthn/verify.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import { writeEvent } from '../messages/events/write-events.js'
import { writeNotice } from './account-notice.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import type { InputOf } from './inputs.js'
import { refuseLocked, tooManyKeys } from './refusals.js'
import { simulateRefusal } from './test-mode/simulated-carrier.js'
import { isTestKey, TEST_KEY } from './test-mode/test-key.js'

interface Stored {
  readonly answer: AnswerOf<'register'>
  readonly notices: readonly QueuedMessage[]
}

/** Stores a key after checking the response of the authenticator, and notifies the account holder. */
export const registerKey: Flow<'register'> = async (context, application, input) => {
  const relyingParty = keyRelyingParty(application, input)
  if ('outcome' in relyingParty) return relyingParty
  const now = Date.now()
  const verdict = await verify(context, application, relyingParty, input, now)
  const { answer, notices }: Stored =
    verdict.fault === undefined
      ? await store(context, application, input, verdict.credential, now)
      : { answer: { outcome: 'invalid', fault: verdict.fault }, notices: [] }
  if (notices.length > 0) void context.outbox.dispatch(notices)
  logRegistration(context, application, input, answer)
  return answer
}

/** Consumes the challenge before anything is verified. */
async function verify(
  context: FlowContext,
  application: Application,
  relyingParty: RelyingPartySettings,
  { account, method, transaction, response }: InputOf<'register'>,
  now: number,
): Promise<RegistrationVerdict> {
  const clientData = readClientData(response.response.clientDataJSON)
  if (!clientData) return { fault: 'malformed' }
  const given = { challenge: clientData.challenge, now }
  const consume = (purpose: KeyCeremony['purpose']) =>
    consumeKeyChallenge(context.store, application, { account, method, purpose, transaction }, given)
  // The challenge says whether the key may be created without a prompt; the response says nothing about that.
  const isConditional = !(await consume('registration'))
  if (isConditional && !(await consume('conditional registration'))) return { fault: 'challenge' }
  const fault = faultInClientData(clientData, 'webauthn.create', relyingParty)
  if (fault) return { fault }
  const expected = { relyingPartyId: relyingParty.id, method, policy: application.keyPolicy, isConditional }
  // Loaded with the first key, since loading the library would take a fifth of the time of each start.
  const { verifyRegistration } = await import('../accounts/webauthn/verify.js')
  const verdict = await verifyRegistration(response, clientData, expected)
  if (verdict.fault !== undefined || !isTestKey(verdict.credential)) return verdict
  // Everyone knows the private key of the test key.
  if (application.mode === 'live') return { fault: 'attestation' }
  return verdict.credential.id === TEST_KEY.id ? { fault: 'registered' } : verdict
}

async function store(
  context: FlowContext,
  application: Application,
  input: InputOf<'register'>,
  credential: Credential,
  now: number,
): Promise<Stored> {
  const { account: name, contact } = input
  const row = createRow(input, credential, now)
  const refuse = (answer: AnswerOf<'register'>): Stored => ({ answer, notices: [] })
  return context.store.transaction(async (tx): Promise<Stored> => {
    const account = await holdAccount(context.keys, tx, application, name)
    const seconds = countLockedSeconds(account, now)
    if (seconds > 0) return refuse(refuseLocked(seconds))
    const keys = await listKeys(tx, application, name)
    if (keys.length >= application.limits.keysPerAccount) return refuse(tooManyKeys)
    const isNew = await insertKey(tx, application, name, row)
    if (!isNew) return refuse({ outcome: 'invalid', fault: 'registered' })
    const data = { factor: KEY_TYPE[row.method], key: row.id, by: 'user' }
    await writeEvent(tx, { application: application.id, account: name, type: 'factor.added', data }, now)
    const fallback = isAccountAddress(contact) ? undefined : contact
    const notice = { notice: 'key-added', account: name, fallback } as const
    const notices = await writeNotice(context, tx, application, account, notice, now)
    return { answer: { outcome: 'registered', key: keyFrom(row) }, notices }
  })
}

function createRow({ method, name, response }: InputOf<'register'>, credential: Credential, now: number) {
  return {
    id: credential.id,
    method,
    name: name ?? nameForKey(method, credential.aaguid),
    public_key: credential.publicKey,
    counter: credential.counter,
    backup_eligible: credential.backupEligible,
    backed_up: credential.backedUp,
    transports: response.response.transports ?? [],
    aaguid: credential.aaguid,
    created_at: now,
    last_used_at: null,
  }
}

function logRegistration(
  context: FlowContext,
  application: Application,
  { account, method }: InputOf<'register'>,
  answer: AnswerOf<'register'>,
): void {
  const { log } = context
  const fields = factorFields(context, application, { account }, KEY_TYPE[method])
  if (answer.outcome === 'registered') return log({ level: 'info', event: 'factor.bound', ...fields })
  const reason = answer.outcome === 'invalid' ? answer.fault : answer.refusal.reason
  log({ level: 'info', event: 'key.refused', ...fields, reason })
}

const expiresInSeconds = KEY_CHALLENGE_MS / 1000
const timeoutMs = KEY_CHALLENGE_MS

/** Creates the challenge of a registration, and the account's user id for its keys. */
export const prepareKeyRegistration: Flow<'registrationOptions'> = async (context, application, input) => {
  const relyingParty = keyRelyingParty(application, input)
  if ('outcome' in relyingParty) return relyingParty
  const isConditional = input.mediation === 'conditional'
  const refusal = isConditional && refuseConditional(application)
  if (refusal) return refusal
  const now = Date.now()
  const { account: name, method, transaction, userName = formatUser(input.contact) } = input
  return context.store.transaction(async (tx): Promise<AnswerOf<'registrationOptions'>> => {
    const seconds = countLockedSeconds(await holdAccount(context.keys, tx, application, name), now)
    if (seconds > 0) return refuseLocked(seconds)
    const keys = await listKeys(tx, application, name)
    if (keys.length >= application.limits.keysPerAccount) return tooManyKeys
    const userHandle = await obtainUserHandle(tx, application, name)
    const purpose = isConditional ? 'conditional registration' : 'registration'
    const ceremony = { account: name, method, purpose, transaction } as const
    const options = creationOptions(relyingParty, application.keyPolicy, {
      method,
      challenge: await createKeyChallenge(tx, application, ceremony, now),
      user: { id: userHandle, name: userName },
      exclude: keys.filter((key) => key.method === method),
      timeoutMs,
      isConditional,
    })
    return { outcome: 'prepared', options, expiresInSeconds }
  })
}

/** Creates the challenge of an assertion, for the account's keys of one kind. */
export const prepareKeyAuthentication: Flow<'authenticationOptions'> = async (
  { store },
  application,
  input,
) => {
  const relyingParty = keyRelyingParty(application, input)
  if ('outcome' in relyingParty) return relyingParty
  const now = Date.now()
  const { account: name, method, purpose = 'sign-in', transaction, approval } = input
  const account = await findAccount(store, application, name)
  const seconds = account ? countLockedSeconds(account, now) : 0
  if (seconds > 0) return refuseLocked(seconds)
  const keys = await listKeys(store, application, name)
  const testKeys = application.mode === 'test' ? [{ id: TEST_KEY.id, transports: [] }] : []
  const ceremony = { account: name, method, purpose, transaction }
  const options = requestOptions(relyingParty, application.keyPolicy, {
    method,
    challenge: await createKeyChallenge(store, application, ceremony, now, approval?.digest),
    allow: [...keys.filter((key) => key.method === method), ...testKeys],
    timeoutMs,
  })
  return { outcome: 'prepared', options, expiresInSeconds }
}

/** The relying party of a ceremony with a key, unless the application does not offer the method or test mode simulates a refusal. */
function keyRelyingParty(
  application: Application,
  { contact, method }: { readonly contact: Contact; readonly method: KeyMethod },
): RelyingPartySettings | Refused {
  return simulateRefusal(application, contact) ?? requireRelyingParty(application, method)
}

/** The relying party of an application as its pages publish it; `undefined` if it has none. */
export const publishRelyingParty: Flow<'relyingParty'> = async (_context, { relyingParty }) => {
  if (!relyingParty) return undefined
  const { topOrigins: _topOrigins, ...published } = relyingParty
  return published
}
