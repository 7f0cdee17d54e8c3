import type { Outbox } from './delivery/outbox.js'
import type { Logger } from './log.js'
import type { Keys } from './secrets/keys.js'
import type { Store } from './store/store.js'

/** What every verb works with, the same for all applications. */
export interface Core {
  readonly store: Store
  readonly keys: Keys
  readonly outbox: Outbox
  readonly log: Logger
}
