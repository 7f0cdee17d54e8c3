import { ServiceError } from '../errors.js'
import type { Key, KeyList, KeyVerbs } from '../protocol/keys.js'
import type { KeyMethod } from '../protocol/methods.js'
import { revokeDevices } from './account-security.js'
import { askService } from './deliver.js'
import { type Deps, type Refused, refuse } from './deps.js'
import type { KeyAccount } from './key-account.js'
import { forgetKnownFactors } from './known-factors.js'
import { fromService, type Refusal } from './refusal.js'
import { callerOf } from './user.js'

/** The keys of a user, as the service lists them. */
export interface ListedKeys extends KeyList {
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
  if (!deps.keys) return refuse({ code: 'method_off' })
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
): Promise<KeyList | Refused> {
  const answer = await askService(deps, user.userId, () => keys.list({ contact, ...callerOf(user) }))
  return 'outcome' in answer ? refuse(fromService(answer.refusal)) : answer
}

/** One key of the user. */
export async function findKey(
  deps: Deps,
  account: KeyAccount,
  id: string,
): Promise<{ readonly outcome: 'found'; readonly key: Key; readonly all: readonly Key[] } | Refused> {
  const listed = await listKeys(deps, account)
  if (listed.outcome === 'refused') return listed
  const key = listed.keys.find((one) => one.id === id)
  return key ? { outcome: 'found', key, all: listed.keys } : refuse({ code: 'unknown_key' })
}

/** Has the service rename a key of the user. */
export async function renameKey(
  deps: Deps,
  account: KeyAccount,
  named: { readonly key: string; readonly name: string },
): Promise<ChangedKey | Refused> {
  const { user, contact } = account
  const found = await findKey(deps, account, named.key)
  if (found.outcome === 'refused') return found
  const answer = await askService(
    deps,
    user.userId,
    async () => await deps.keys?.rename({ contact, ...named, ...callerOf(user) }),
  )
  if (answer?.outcome === 'refused') return refuse(fromService(answer.refusal))
  return answer?.outcome === 'renamed'
    ? { outcome: 'changed', key: found.key }
    : refuse({ code: 'unknown_key' })
}

/** Has the service remove a key of the user. It revokes the trusted devices, as removing the authenticator app does. */
export async function removeKey(deps: Deps, account: KeyAccount, id: string): Promise<ChangedKey | Refused> {
  const { user, contact } = account
  const found = await findKey(deps, account, id)
  if (found.outcome === 'refused') return found
  const { userId } = user
  const answer = await askService(
    deps,
    userId,
    async () => await deps.keys?.remove({ contact, key: id, ...callerOf(user) }),
  )
  if (answer?.outcome === 'refused') return refuse(fromService(answer.refusal))
  if (answer?.outcome !== 'removed') return refuse({ code: 'unknown_key' })
  forgetKnownFactors(user)
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'factor_removed', userId, method: found.key.method })
  return { outcome: 'changed', key: found.key }
}

/**
 * Removes the keys that a reset of the account ended, apart from the one that was just added. They do not count while the reset is
 * open, and must not come back when it is closed, also if they cannot be used now (R132).
 * @throws {ServiceError} when the service fails or refuses; the reset stays open then.
 */
export async function removeEndedKeys(
  deps: Deps,
  account: KeyAccount,
  ended: { readonly hasEnded: (method: KeyMethod) => boolean; readonly added?: Key },
): Promise<void> {
  const { user, contact } = account
  // Those of the service: the app may have switched keys off.
  const { keys } = deps.service
  if (!keys) return
  const listed = await askForKeys(deps, keys, account)
  if ('outcome' in listed) throw notRemoved(listed.refusal)
  for (const { id, method } of listed.keys) {
    if (id === ended.added?.id || !ended.hasEnded(method)) continue
    const answer = await askService(deps, user.userId, () =>
      keys.remove({ contact, key: id, ...callerOf(user) }),
    )
    if (answer.outcome === 'refused') throw notRemoved(fromService(answer.refusal))
  }
}

function notRemoved(refusal: Refusal): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service refused to remove the keys that a reset of the account ended (${refusal.code}), so the reset stays open. The user can set up a factor again later.`,
    { effect: 'none' },
  )
}
