import { randomUUID } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { type Contact, formatUser, isAccountAddress } from '../protocol/contact.js'
import { type Factor, keyAmr } from '../protocol/factor.js'
import { isKeyMethod, type KeyMethod } from '../protocol/methods.js'
import type { AnswerOf, Granted, Key, KeyVerbs, RequestOf } from '../protocol/service.js'
import type { MfaRecord } from '../session/record.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { forgetKnownFactors } from './known-factors.js'
import { type Refusal, translateRefusal } from './refusal.js'
import { forgetBackupCodes, type RemovableFactor, revokeDevices } from './remove-factor.js'
import {
  askService,
  createCaller,
  factorBinding,
  findFactor,
  getPurpose,
  type MfaUser,
  refusalWithoutFactor,
  useOf,
} from './user.js'
import { type AcceptedCode, challengeIdFor, checkShown, type TypedCode } from './verify.js'

/** The keys of a user, as the service lists them. */
export interface ListedKeys extends Granted<'list'> {
  readonly outcome: 'listed'
  readonly relyingPartyId: string
}

/** A key was renamed or removed. */
export interface ChangedKey {
  readonly outcome: 'changed'
  /** The key as it was before. */
  readonly key: Key
}

/** Asks the service for the user's keys, if they can be used. */
export async function listKeys(deps: Deps, account: KeyAccount): Promise<ListedKeys | Refused> {
  const answer = await askForKeys(deps, deps.keys, account)
  if ('outcome' in answer) return answer
  const { relyingPartyId } = answer
  return relyingPartyId === undefined
    ? refuse({ code: 'method_off' })
    : { outcome: 'listed', ...answer, relyingPartyId }
}

async function askForKeys(
  deps: Deps,
  keys: KeyVerbs,
  { user, contact }: KeyAccount,
): Promise<Granted<'list'> | Refused> {
  const answer = await askService(deps, user.userId, () => keys.list({ contact, ...createCaller(user) }))
  return 'outcome' in answer ? refuse(translateRefusal(answer.refusal)) : answer
}

/** Finds a key of a user by its id. */
export async function findKey(
  deps: Deps,
  account: KeyAccount,
  id: string,
): Promise<{ readonly outcome: 'found'; readonly key: Key; readonly all: readonly Key[] } | Refused> {
  const listed = await listKeys(deps, account)
  if (listed.outcome === 'refused') return listed
  const key = listed.keys.find((listedKey) => listedKey.id === id)
  return key ? { outcome: 'found', key, all: listed.keys } : refuse({ code: 'unknown_key' })
}

/** Renames a key of a user. */
export function renameKey(
  deps: Deps,
  account: KeyAccount,
  { key, name }: { readonly key: string; readonly name: string },
): Promise<ChangedKey | Refused> {
  return changeKey(deps, account, key, (request) => deps.keys.rename({ ...request, name }))
}

/** Has the service remove a key of the user. It revokes the trusted devices, as removing the authenticator app does. */
export async function removeKey(deps: Deps, account: KeyAccount, id: string): Promise<ChangedKey | Refused> {
  const changed = await changeKey(deps, account, id, (request) => deps.keys.remove(request))
  if (changed.outcome === 'refused') return changed
  const { userId } = account.user
  forgetKnownFactors(account.user)
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'factor_removed', userId, method: changed.key.method })
  return changed
}

/** Has the service change a key of the user. */
async function changeKey(
  deps: Deps,
  account: KeyAccount,
  id: string,
  change: (request: RequestOf<'remove'>) => Promise<AnswerOf<'remove'> | AnswerOf<'rename'>>,
): Promise<ChangedKey | Refused> {
  const { user, contact } = account
  const found = await findKey(deps, account, id)
  if (found.outcome === 'refused') return found
  const request = { contact, key: id, ...createCaller(user) }
  const answer = await askService(deps, user.userId, () => change(request))
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  const isChanged = answer.outcome === 'renamed' || answer.outcome === 'removed'
  return isChanged ? { outcome: 'changed', key: found.key } : refuse({ code: 'unknown_key' })
}

/** Removes the keys of a reset or of a session that ended, usable or not (R132). @throws {ServiceError}; the reset stays open then. */
export async function removeEndedKeys(
  deps: Deps,
  account: KeyAccount,
  ended: (key: Key) => boolean,
): Promise<void> {
  const { user, contact } = account
  // The service's keys: the app may have switched keys off.
  const { keys } = deps.service
  if (!keys) return
  const listed = await askForKeys(deps, keys, account)
  if ('outcome' in listed) throw notRemoved(listed.refusal)
  for (const { id } of listed.keys.filter(ended)) {
    const answer = await askService(deps, user.userId, () =>
      keys.remove({ contact, key: id, ...createCaller(user) }),
    )
    if (answer.outcome === 'refused') throw notRemoved(translateRefusal(answer.refusal))
  }
}

/** Removes the app or the backup codes of a reset or of a session that ended. @throws {ServiceError}; the reset stays open then. */
export async function removeEndedFactor(
  deps: Deps,
  { user, contact }: KeyAccount,
  factor: RemovableFactor,
): Promise<void> {
  const answer = await askService(
    deps,
    user.userId,
    async () => await deps.service.removeFactor?.({ contact, factor, ...createCaller(user) }),
  )
  if (answer?.outcome === 'refused') throw notRemoved(translateRefusal(answer.refusal))
  // A new app takes the place of the old one, so only what a session confirmed and lost would stay.
  if (!answer && factor === 'app') throw notRemoved({ code: 'method_off' })
  if (factor === 'backup') await forgetBackupCodes(deps, user)
}

function notRemoved(refusal: Refusal): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service did not remove factors that ended with a session or a reset of the account (${refusal.code}), so a reset stays open. The user can set up a factor again later.`,
    { effect: 'none' },
  )
}

type Registration = NonNullable<MfaRecord['keyRegistration']>

/** The options that the browser needs to create a key, and the part of them that the session remembers. */
export interface PreparedKey {
  readonly outcome: 'prepared'
  readonly registration: Registration
  readonly options: Granted<'registrationOptions'>['options']
}

/** The service stored a new key, which counts as shown. */
export interface RegisteredKey extends AcceptedCode {
  readonly key: Key
}

/** The fields that a user posts to add a key. */
export interface NewKey {
  readonly method: KeyMethod
  readonly response: RequestOf<'register'>['response']
  readonly name?: string | undefined
}

/** Has the service prepare the registration of a key. Nothing is stored yet. */
export async function prepareKey(
  deps: Deps,
  { user, contact }: KeyAccount,
  { method, mediation }: Pick<NewKey, 'method'> & Pick<Registration, 'mediation'>,
): Promise<PreparedKey | Refused> {
  const how = mediation && { mediation }
  const registration = { id: randomUUID(), startedAt: Date.now(), ...how }
  const request = {
    contact,
    method,
    transaction: registration.id,
    ...how,
    ...(!isAccountAddress(contact) && { userName: formatUser(contact) }),
    ...createCaller(user),
  }
  const answer = await askService(deps, user.userId, () => deps.keys.registrationOptions(request))
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  return { outcome: 'prepared', registration, options: answer.options }
}

/** Has the service store a key that this session prepared. It counts as shown, unless created without a prompt. */
export async function registerKey(
  deps: Deps,
  { user, contact }: KeyAccount,
  registration: Registration | undefined,
  { method, response, name }: NewKey,
): Promise<RegisteredKey | Refused> {
  if (!registration) return refuse({ code: 'no_challenge' })
  const request = {
    contact,
    method,
    transaction: registration.id,
    response,
    ...(name !== undefined && { name }),
    ...createCaller(user),
  }
  const answer = await askService(deps, user.userId, () => deps.keys.register(request))
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  if (answer.outcome === 'invalid') {
    deps.emit({ type: 'refused', userId: user.userId, method, code: 'invalid_key' })
    return refuse({ code: 'invalid_key', fault: answer.fault })
  }
  if (!(await deps.transactions.acquire(user.userId, registration.id)))
    return refuse({ code: 'session_ended' })
  // A passkey that was created by a prompt is accepted only with user verification; of a security key, only the possession is proven.
  const amr = keyAmr(answer.key, method === 'passkey')
  return { outcome: 'accepted', method, shown: method, amr, key: answer.key }
}

/** Forgets what was known about the user's factors and the failures of earlier keys, and revokes the trusted devices, as a new app does. */
export async function keyAdded(deps: Deps, { user, contact }: KeyAccount, { method }: Key): Promise<void> {
  const { userId } = user
  forgetKnownFactors(user)
  await deps.attempts.enable(userId, factorBinding(userId, method, contact))
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'key_added', userId, method })
}

/** The response of a key for one of the user's factors. `factor` is its id or method; it defaults to the factor of the live challenge. */
export interface KeyAssertion {
  readonly response: RequestOf<'register'>['response']
  readonly factor?: string | undefined
  readonly whileSettling?: TypedCode['whileSettling']
}

/** The options for an assertion, with their expiry. */
export interface PreparedAssertion {
  readonly outcome: 'prepared'
  readonly options: Granted<'registrationOptions'>['options']
  /** When the challenge of the service expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Has the service create the challenge that a key signs. */
export async function prepareAssertion(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  factor: KeyFactor,
): Promise<PreparedAssertion | Refused> {
  const { method, contact } = factor
  const request = { contact, method, ...useOf(record, deps.service), ...createCaller(user) }
  const answer = await askService(deps, user.userId, () => deps.keys.authenticationOptions(request))
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  const { options, expiresInSeconds } = answer
  return { outcome: 'prepared', options, expiresAt: Date.now() + expiresInSeconds * 1000 }
}

/** Checks the response of a key for one of the user's factors, in the limits that all codes have (R20). */
export async function verifyKey(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  { response, factor: name = record.challenge?.factorId, whileSettling }: KeyAssertion,
): Promise<AcceptedCode | Refused> {
  const none = refusalWithoutFactor(user)
  if (none) return refuse(none)
  if (name === undefined) return refuse({ code: 'no_challenge' })
  const factor = keyFactorOf(user, name)
  if (!factor) return refuse({ code: 'unknown_factor' })
  // Nothing is checked, so no attempt is counted.
  if (!deps.keys.areOffered) return refuse({ code: 'method_off' })
  const { id, method, contact } = factor
  const { userId } = user
  const request = { contact, method, ...useOf(record, deps.service), response, ...createCaller(user) }
  const verdict = await checkShown<Extract<AnswerOf<'authenticate'>, { outcome: 'valid' }>>(deps, {
    attempt: {
      userId,
      challenge: challengeIdFor(record, id),
      transaction: record.transaction,
      binding: factorBinding(userId, method, contact),
      signsIn: getPurpose(record) === 'sign-in',
    },
    factor: { method, contact },
    evaluate: () => askService(deps, userId, () => deps.keys.authenticate(request)),
    whileSettling,
  })
  if (verdict.outcome === 'refused') return verdict
  const { key, userVerified } = verdict
  return { outcome: 'accepted', method, shown: method, amr: keyAmr(key, userVerified), factor: id }
}

/** A factor that is confirmed with a key. */
export type KeyFactor = Factor & { readonly method: KeyMethod }

/** The user's key factor with that id or method. */
export function keyFactorOf(user: MfaUser, name: string): KeyFactor | undefined {
  const factor = findFactor(user, name)
  return factor && isKeyMethod(factor.method) ? { ...factor, method: factor.method } : undefined
}

/** The account whose keys are meant. */
export interface KeyAccount {
  readonly user: MfaUser
  /** The contact under which the service stores the account's keys, the same as for its authenticator app. */
  readonly contact: Contact
}
