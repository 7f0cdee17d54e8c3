import { formatUser, type keyTypes } from 'countersign/protocol'
import { findAccount, holdAccount, lockedForSeconds } from '../accounts/account.js'
import { listKeys, obtainUserHandle } from '../accounts/account-key.js'
import { createKeyChallenge, KEY_CHALLENGE_MS } from '../accounts/key-challenge.js'
import type { Application } from '../application.js'
import { locked, tooManyKeys } from '../refusals.js'
import type { KeyAuthenticationOptionsInput, KeyRegistrationOptionsInput } from '../requests/key-inputs.js'
import { TEST_KEY } from '../test-mode/test-key.js'
import { creationOptions, requestOptions } from '../webauthn/options.js'
import type { FlowContext } from './context.js'
import { keyRelyingParty } from './key-relying-party.js'

const expiresInSeconds = KEY_CHALLENGE_MS / 1000
const timeoutMs = KEY_CHALLENGE_MS

/** Creates the challenge of a registration, and the account's user id for its keys. */
export async function prepareKeyRegistration(
  { store }: FlowContext,
  application: Application,
  input: KeyRegistrationOptionsInput,
): Promise<keyTypes.KeyOptionsAnswer> {
  const relyingParty = keyRelyingParty(application, input)
  if ('outcome' in relyingParty) return relyingParty
  const now = Date.now()
  const { account: name, method, transaction, userName = formatUser(input.contact) } = input
  return store.transaction(async (tx): Promise<keyTypes.KeyOptionsAnswer> => {
    const seconds = lockedForSeconds(await holdAccount(tx, application, name), now)
    if (seconds > 0) return locked(seconds)
    const keys = await listKeys(tx, application, name)
    if (keys.length >= application.limits.keysPerAccount) return tooManyKeys
    const userHandle = await obtainUserHandle(tx, application, name)
    const ceremony = { account: name, method, purpose: 'registration', transaction } as const
    const options = creationOptions(relyingParty, application.keyPolicy, {
      method,
      challenge: await createKeyChallenge(tx, application, ceremony, now),
      user: { id: userHandle, name: userName },
      exclude: keys.filter((key) => key.method === method),
      timeoutMs,
    })
    return { outcome: 'prepared', options, expiresInSeconds }
  })
}

/** Creates the challenge of an assertion, for the account's keys of one kind. */
export async function prepareKeyAuthentication(
  { store }: FlowContext,
  application: Application,
  input: KeyAuthenticationOptionsInput,
): Promise<keyTypes.KeyOptionsAnswer> {
  const relyingParty = keyRelyingParty(application, input)
  if ('outcome' in relyingParty) return relyingParty
  const now = Date.now()
  const { account: name, method, purpose, transaction } = input
  const account = await findAccount(store, application, name)
  const seconds = account ? lockedForSeconds(account, now) : 0
  if (seconds > 0) return locked(seconds)
  const keys = await listKeys(store, application, name)
  const testKeys = application.mode === 'test' ? [{ id: TEST_KEY.id, transports: [] }] : []
  const ceremony = { account: name, method, purpose, transaction }
  const options = requestOptions(relyingParty, application.keyPolicy, {
    method,
    challenge: await createKeyChallenge(store, application, ceremony, now),
    allow: [...keys.filter((key) => key.method === method), ...testKeys],
    timeoutMs,
  })
  return { outcome: 'prepared', options, expiresInSeconds }
}
