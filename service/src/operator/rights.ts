import type { AccountExport } from '../accounts/export-schema.js'
import { type Mode, partitionOf } from '../application.js'
import { mustExist } from './applications.js'
import { type Actor, OperatorError } from './audited-change.js'
import { type ErasedUser, eraseUserData, exportUserData, listUserData, type UserPage } from './user-data.js'
import { accountOf, type UserReference, unknownUser } from './users.js'

/** The roles of operators in the console, from the least to the most powerful. */
export const ROLES = ['viewer', 'support', 'admin'] as const

/** What an operator may do in the console: `viewer` reads, `support` helps users, `admin` changes everything. */
export type Role = (typeof ROLES)[number]

/** Whether a role may do what `least` may do. */
export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least)
}

/** Throws an `OperatorError` when a text is not a role. */
export function checkRole(text: string): asserts text is Role {
  if (ROLES.some((role) => role === text)) return
  throw new OperatorError(`"${text}" is not a role: use ${ROLES.join(', ')}.`)
}

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
