import type { Contact } from '../protocol/contact.js'
import type { MfaUser } from './user.js'

/** The account whose keys are meant. */
export interface KeyAccount {
  readonly user: MfaUser
  /** The contact under which the service stores the account's keys, the same as for its authenticator app. */
  readonly contact: Contact
}
