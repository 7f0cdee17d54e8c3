import type { Contact } from './contact.js'

/** The user and browser behind a request, for services that support these parameters. */
export interface Caller {
  /**
   * The host's id for the account, opaque to the service. All factors of an account share its limits (R23). Defaults to
   * the contact.
   */
  readonly account?: string
  /** IP address of the browser, as Express determines it (R31). */
  readonly clientAddress?: string
  /** Language of the message, a BCP 47 tag. Defaults to the language of the application. */
  readonly locale?: string
}

/** A request about an account. */
export interface UserRequest extends Caller {
  /** A contact of the account, which names it for a service without `account`. */
  readonly contact: Contact
}
