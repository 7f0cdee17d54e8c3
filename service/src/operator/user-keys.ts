import type { Key } from 'countersign/protocol'
import { holdAccount } from '../accounts/account.js'
import { deleteKey, keyFactor, keyFrom, listKeys } from '../accounts/account-key.js'
import { partitionOf } from '../application.js'
import { writeEvent } from '../events/write-events.js'
import { accountReference } from '../secrets/keys.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'
import { accountOf, maskedUser, type UserReference } from './users.js'

/** The security keys and passkeys of an account, in the order in which they were registered. */
export async function listUserKeys({ store }: Actor, user: UserReference): Promise<readonly Key[]> {
  await mustExist(store, user.application)
  const rows = await listKeys(store, { id: partitionOf(user.application, user.mode) }, accountOf(user))
  return rows.map(keyFrom)
}

/** Removes a key of an account. No notice is sent: the operator knows why. */
export async function removeUserKey(actor: Actor, user: UserReference, id: string): Promise<void> {
  const partition = { id: partitionOf(user.application, user.mode) }
  const account = accountOf(user)
  const reference = accountReference(actor.keys(), partition, account)
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, user.application)
      const known = await listKeys(tx, partition, account)
      if (!known.some((key) => key.id === id)) throw unknownKey(user)
      await holdAccount(tx, partition, account)
      const removed = await deleteKey(tx, partition, account, id)
      if (!removed) throw unknownKey(user)
      const data = { factor: keyFactor(removed.method), key: id, by: 'operator' }
      await writeEvent(tx, { application: partition.id, account, type: 'factor.removed', data }, Date.now())
      return removed
    },
    ({ method }) => ({
      application: user.application,
      action: 'factor.removed',
      detail: `${keyFactor(method)} of account ${reference}`,
    }),
  )
}

/** The error for a key that the account does not have. */
export function unknownKey(user: UserReference): OperatorError {
  return new OperatorError(
    `${maskedUser(user)} has no such key in "${user.application}": list them with user keys.`,
  )
}
