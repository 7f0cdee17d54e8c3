import { isAccountAddress, type keyTypes } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { insertKey, type KeyRow, keyFactor, keyFrom, listKeys } from '../accounts/account-key.js'
import { consumeKeyChallenge } from '../accounts/key-challenge.js'
import type { Application, RelyingPartySettings } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import { writeEvent } from '../events/write-events.js'
import { locked, tooManyKeys } from '../refusals.js'
import type { RegisterKeyInput } from '../requests/key-inputs.js'
import { accountReference } from '../secrets/account-reference.js'
import { isTestKey, TEST_KEY } from '../test-mode/test-key.js'
import { faultInClientData, readClientData } from '../webauthn/client-data.js'
import { nameForKey } from '../webauthn/names.js'
import {
  type Credential,
  type RegistrationVerdict,
  verifyRegistration,
} from '../webauthn/verify-registration.js'
import { writeNotice } from './account-notice.js'
import type { FlowContext } from './context.js'
import { keyRelyingParty } from './key-relying-party.js'

interface Stored {
  readonly answer: keyTypes.RegisterKeyAnswer
  readonly notices: readonly QueuedMessage[]
}

/** Stores a key after checking the response of the authenticator, and notifies the account holder. */
export async function registerKey(
  context: FlowContext,
  application: Application,
  input: RegisterKeyInput,
): Promise<keyTypes.RegisterKeyAnswer> {
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
  { account, method, transaction, response }: RegisterKeyInput,
  now: number,
): Promise<RegistrationVerdict> {
  const clientData = readClientData(response.response.clientDataJSON)
  if (!clientData) return { fault: 'malformed' }
  const ceremony = { account, method, purpose: 'registration', transaction } as const
  const { challenge } = clientData
  const isConsumed = await consumeKeyChallenge(context.store, application, ceremony, { challenge, now })
  if (!isConsumed) return { fault: 'challenge' }
  const fault = faultInClientData(clientData, 'webauthn.create', relyingParty)
  if (fault) return { fault }
  const expected = { relyingPartyId: relyingParty.id, method, policy: application.keyPolicy }
  const verdict = await verifyRegistration(response, clientData, expected)
  if (verdict.fault !== undefined || !isTestKey(verdict.credential)) return verdict
  // Everyone knows the private key of the test key.
  if (application.mode === 'live') return { fault: 'attestation' }
  return verdict.credential.id === TEST_KEY.id ? { fault: 'registered' } : verdict
}

async function store(
  context: FlowContext,
  application: Application,
  input: RegisterKeyInput,
  credential: Credential,
  now: number,
): Promise<Stored> {
  const { account: name, contact } = input
  const row = rowFrom(input, credential, now)
  const refused = (answer: keyTypes.RegisterKeyAnswer): Stored => ({ answer, notices: [] })
  return context.store.transaction(async (tx): Promise<Stored> => {
    const account = await holdAccount(tx, application, name)
    const seconds = lockedForSeconds(account, now)
    if (seconds > 0) return refused(locked(seconds))
    const keys = await listKeys(tx, application, name)
    if (keys.length >= application.limits.keysPerAccount) return refused(tooManyKeys)
    const isNew = await insertKey(tx, application, name, row)
    if (!isNew) return refused({ outcome: 'invalid', fault: 'registered' })
    const data = { factor: keyFactor(row.method), key: row.id, by: 'user' }
    await writeEvent(tx, { application: application.id, account: name, type: 'factor.added', data }, now)
    const fallback = isAccountAddress(contact) ? undefined : contact
    const notice = { notice: 'key-added', account: name, fallback } as const
    const notices = await writeNotice(context, tx, application, account, notice, now)
    return { answer: { outcome: 'registered', key: keyFrom(row) }, notices }
  })
}

function rowFrom({ method, name, response }: RegisterKeyInput, credential: Credential, now: number): KeyRow {
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
  { keys, log }: FlowContext,
  application: Application,
  { account, method }: RegisterKeyInput,
  answer: keyTypes.RegisterKeyAnswer,
): void {
  const fields = {
    application: application.id,
    account: accountReference(keys, application, account),
    factor: keyFactor(method),
  }
  if (answer.outcome === 'registered') return log({ level: 'info', event: 'factor.bound', ...fields })
  const reason = answer.outcome === 'invalid' ? answer.fault : answer.refusal.reason
  log({ level: 'info', event: 'key.refused', ...fields, reason })
}
