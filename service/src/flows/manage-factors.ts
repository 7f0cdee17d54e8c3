import { type AnswerOf, KEY_TYPE } from 'countersign/protocol'
import { countLockedSeconds, holdAccount } from '../accounts/account.js'
import { readAccountFactors } from '../accounts/account-factors.js'
import { deleteKey, findUserHandle, keyFrom, listKeys, renameKey } from '../accounts/account-key.js'
import { removeAppSecret } from '../accounts/app-secret.js'
import type { Application } from '../accounts/application.js'
import { relyingPartyOrRefusal, usableMethods } from '../accounts/applications/offered-methods.js'
import { removeBackupSet } from '../accounts/backup-set.js'
import { writeEvent } from '../messages/events/write-events.js'
import type { Queries } from '../store/store.js'
import { writeNotice } from './account-notice.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import type { RequestUser } from './inputs.js'
import { refuseLocked } from './refusals.js'
import { simulateRefusal } from './test-mode/simulated-carrier.js'

/** The keys of an account, also without a relying party, so that they can be removed. */
export const listAccountKeys: Flow<'list'> = async ({ store }, application, { account }) => {
  const rows = await listKeys(store, application, account)
  const userHandle = await findUserHandle(store, application, account)
  return {
    keys: rows.map(keyFrom),
    ...(application.relyingParty && { relyingPartyId: application.relyingParty.id }),
    ...(userHandle !== undefined && { userHandle }),
  }
}

/** Renames a key. */
export const renameAccountKey: Flow<'rename'> = async (
  { store },
  application,
  { account, contact, key, name },
) => {
  const simulated = simulateRefusal(application, contact)
  if (simulated) return simulated
  const relyingParty = relyingPartyOrRefusal(application)
  if ('outcome' in relyingParty) return relyingParty
  const isRenamed = await renameKey(store, application, account, { id: key, name })
  return { outcome: isRenamed ? 'renamed' : 'none' }
}

/** Removes a key, also one that cannot be used now, and notifies every proven contact. */
export const removeAccountKey: Flow<'remove'> = (context, application, user) => {
  return removeNotifying(context, application, user, 'key-removed', async (tx) => {
    const removed = await deleteKey(tx, application, user.account, user.key)
    return removed && { factor: KEY_TYPE[removed.method], key: user.key }
  })
}

/** Removes the authenticator app or all backup codes of an account, and notifies every proven contact. */
export const removeFactor: Flow<'removeFactor'> = (context, application, user) => {
  const remove = user.factor === 'app' ? removeAppSecret : removeBackupSet
  return removeNotifying(context, application, user, 'factor-removed', async (tx) =>
    (await remove(tx, application, user.account)) ? { factor: user.factor.toUpperCase() } : undefined,
  )
}

/** `remove` resolves to what the event says of the factor; `undefined` if the account does not have it. */
async function removeNotifying(
  context: FlowContext,
  application: Application,
  { account: name, contact }: RequestUser,
  kind: 'key-removed' | 'factor-removed',
  remove: (tx: Queries) => Promise<{ readonly factor: string; readonly key?: string } | undefined>,
): Promise<AnswerOf<'remove'>> {
  const simulated = simulateRefusal(application, contact)
  if (simulated) return simulated
  const now = Date.now()
  const removal = await context.store.transaction(async (tx) => {
    const account = await holdAccount(context.keys, tx, application, name)
    const seconds = countLockedSeconds(account, now)
    if (seconds > 0) return refuseLocked(seconds)
    const removed = await remove(tx)
    if (!removed) return { outcome: 'none' } as const
    const data = { ...removed, by: 'user' }
    await writeEvent(tx, { application: application.id, account: name, type: 'factor.removed', data }, now)
    const notice = { notice: kind, account: name, toAll: true } as const
    const notices = await writeNotice(context, tx, application, account, notice, now)
    return { outcome: 'removed', factor: removed.factor, notices } as const
  })
  if (removal.outcome !== 'removed') return removal
  if (removal.notices.length > 0) void context.outbox.dispatch(removal.notices)
  const fields = factorFields(context, application, { account: name }, removal.factor)
  context.log({ level: 'info', event: 'factor.removed', ...fields })
  return { outcome: 'removed' }
}

/** The factors that an account has: its authenticator app, its backup codes for the contact, and when they were last used. */
export const accountFactors: Flow<'factorsOf'> = ({ store }, application, input) => {
  const usable = usableMethods(application.methods, application.relyingParty !== undefined)
  return readAccountFactors(store, application, input, usable)
}
