import type { AccountExport } from '../accounts/export-schema.js'
import { type Mode, partitionOf } from '../application.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'
import { OperatorError } from './operator-error.js'
import { type ErasedUser, eraseUserData, exportUserData, listUserData, type UserPage } from './user-data.js'
import { accountOf, type UserReference, unknownUser } from './user-reference.js'

/** Which accounts are listed. */
export interface UserFilter {
  /** The name of the application. */
  readonly application: string
  /** `test` lists the accounts of test keys. */
  readonly mode: Mode
  /** The maximum number of accounts on the page, at most 1000. */
  readonly limit: number
  /** The `next` of the page before. Defaults to the first page. */
  readonly after?: string | undefined
}

/** A page of accounts. */
export async function listUsers(actor: Actor, filter: UserFilter): Promise<UserPage> {
  const { application, mode, ...page } = filter
  await mustExist(actor.store, application)
  const partition = { id: partitionOf(application, mode) }
  const found = await listUserData(actor.store, actor.keys(), partition, page)
  if (!found)
    throw new OperatorError('This page does not exist: use the `next` of an earlier page of the same list.')
  return found
}

/** Everything that is stored about an account. */
export async function exportUser(actor: Actor, user: UserReference): Promise<AccountExport> {
  await mustExist(actor.store, user.application)
  const partition = { id: partitionOf(user.application, user.mode) }
  const exported = await exportUserData(actor, partition, accountOf(user))
  if (!exported) throw unknownUser(user)
  return exported
}

/** Deletes everything that is stored about an account. */
export async function eraseUser(actor: Actor, user: UserReference): Promise<ErasedUser> {
  await mustExist(actor.store, user.application)
  return eraseUserData(actor, { id: partitionOf(user.application, user.mode) }, accountOf(user))
}
