import { randomUUID } from 'node:crypto'
import { isAccountAddress } from '../protocol/account-address.js'
import { keyAmr } from '../protocol/amr.js'
import { formatUser } from '../protocol/contact.js'
import type { Key, KeyOptions, KeyResponse } from '../protocol/keys.js'
import type { KeyMethod } from '../protocol/methods.js'
import type { MfaRecord } from '../session/record.js'
import { revokeDevices } from './account-security.js'
import { askService } from './deliver.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { factorBinding } from './factor-binding.js'
import type { KeyAccount } from './key-account.js'
import { forgetKnownFactors } from './known-factors.js'
import { fromService } from './refusal.js'
import { callerOf } from './user.js'
import type { AcceptedCode } from './verify.js'

/** What the browser needs to create a key, and what the session remembers of it. */
export interface PreparedKey {
  readonly outcome: 'prepared'
  readonly registration: NonNullable<MfaRecord['keyRegistration']>
  readonly options: KeyOptions
}

/** The service stored a new key, which counts as shown. */
export interface RegisteredKey extends AcceptedCode {
  readonly key: Key
}

/** What a user posts to add a key. */
export interface NewKey {
  readonly method: KeyMethod
  readonly response: KeyResponse
  readonly name?: string | undefined
}

/** Has the service prepare the registration of a key. Nothing is stored yet. */
export async function prepareKey(
  deps: Deps,
  { user, contact }: KeyAccount,
  method: KeyMethod,
): Promise<PreparedKey | Refused> {
  const { keys } = deps
  if (!keys) return refuse({ code: 'method_off' })
  const registration = { id: randomUUID(), startedAt: Date.now() }
  const request = {
    contact,
    method,
    transaction: registration.id,
    ...(!isAccountAddress(contact) && { userName: formatUser(contact) }),
    ...callerOf(user),
  }
  const answer = await askService(deps, user.userId, () => keys.registrationOptions(request))
  if (answer.outcome === 'refused') return refuse(fromService(answer.refusal))
  return { outcome: 'prepared', registration, options: answer.options }
}

/**
 * Has the service check and store a key that was prepared in this session. Creating it proves possession, so it counts as shown.
 * Nothing can be guessed here, so no attempt is counted.
 */
export async function registerKey(
  deps: Deps,
  { user, contact }: KeyAccount,
  registration: MfaRecord['keyRegistration'],
  { method, response, name }: NewKey,
): Promise<RegisteredKey | Refused> {
  const { keys, approvals } = deps
  if (!keys) return refuse({ code: 'method_off' })
  if (!registration) return refuse({ code: 'no_challenge' })
  const request = {
    contact,
    method,
    transaction: registration.id,
    response,
    ...(name !== undefined && { name }),
    ...callerOf(user),
  }
  const answer = await askService(deps, user.userId, () => keys.register(request))
  if (answer.outcome === 'refused') return refuse(fromService(answer.refusal))
  if (answer.outcome === 'invalid') {
    deps.emit({ type: 'refused', userId: user.userId, method, code: 'invalid_key' })
    return refuse({ code: 'invalid_key', fault: answer.fault })
  }
  if (!(await approvals.acquire(registration.id))) return refuse({ code: 'session_ended' })
  // A passkey is accepted only with user verification; of a security key, only the possession is proven.
  const amr = keyAmr(answer.key, method === 'passkey')
  return { outcome: 'accepted', method, shown: method, amr, key: answer.key }
}

/** Forgets what was known about the user's factors and the failures of earlier keys, and revokes the trusted devices, as a new app does. */
export async function keyAdded(deps: Deps, { user, contact }: KeyAccount, { method }: Key): Promise<void> {
  const { userId } = user
  forgetKnownFactors(user)
  await deps.attempts.enable(factorBinding(userId, method, contact))
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'key_added', userId, method })
}
