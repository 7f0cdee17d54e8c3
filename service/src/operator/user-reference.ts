import { type Contact, canonicalUser, maskContact, parseUser } from 'countersign/protocol'
import type { Mode } from '../application.js'
import { OperatorError } from './operator-error.js'

/** Identifies an account: by a contact, or by the application's own name for it. */
export interface UserReference {
  /** The name of the application. */
  readonly application: string
  /** `test` stands for the data of test keys. */
  readonly mode: Mode
  /** A mailbox, a phone number or `mailbox:number`; if `isAccount`, the `Account` that the application sends. */
  readonly user: string
  /** Whether `user` is the application's own name for the account. */
  readonly isAccount: boolean
}

/** The account in rows. Throws an `OperatorError` when `user` is neither a contact nor marked as an account's name. */
export function accountOf({ user, isAccount }: UserReference): string {
  return isAccount ? `account:${user}` : `contact:${canonicalUser(contactOf(user))}`
}

function contactOf(text: string): Contact {
  const contact = parseUser(text)
  if (contact) return contact
  throw new OperatorError(
    `"${text}" is not a contact: write ann@example.com, +447700900123, or both separated by a colon. ` +
      'If it is the name that the application sends as Account, add --account.',
  )
}

/** The account as it may be shown. */
export function maskedUser({ user, isAccount }: UserReference): string {
  return isAccount ? user : masked(user)
}

/** A contact as it may be shown. */
export function masked(text: string): string {
  const contact = parseUser(text)
  return contact ? maskContact(contact) : '•••'
}

/** The error for an account that does not exist. */
export function unknownUser(user: UserReference): OperatorError {
  const isTest = user.mode === 'test'
  const where = isTest ? ' in its test data' : ''
  const hint = isTest ? '' : ' For data of test keys, add --test.'
  return new OperatorError(
    `${maskedUser(user)} has no account in "${user.application}"${where}. ` +
      `If the application names its accounts itself, write that name and add --account.${hint}`,
  )
}
