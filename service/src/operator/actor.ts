import type { RelyingPartyOption } from '../applications/key-settings.js'
import type { Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'

/** The operator who makes changes, at a command line or in a process of their own. */
export interface Actor {
  /** The store that is changed. */
  readonly store: Store
  /** The operator's name in the audit log. */
  readonly name: string
  /** The operator who asked for the change, if this one approves it. Links and roles then relate to the one who asked. */
  readonly asker?: string | undefined
  /** The country whose phone numbers a new application serves, unless its settings say otherwise. */
  readonly homeCountry?: string | undefined
  /** The relying party of the application `default`, unless its settings say otherwise; `null` if this process does not know. */
  readonly relyingParty: RelyingPartyOption | undefined | null
  /** The keys of the service. Throws an `OperatorError` when they are not configured. */
  keys(): Keys
  /** Is called after a change to an application, so that this process reads the application again. */
  onApplicationChanged(application: string): void
}
