import type { BudgetLeft } from '../accounts/message-budget.js'
import type { Outbox } from '../delivery/outbox.js'
import type { Logger } from '../log/logger.js'
import type { Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'
import type { Transcription } from '../transcription/transcription.js'

/** What every verb works with, the same for all applications. */
export interface Core {
  readonly store: Store
  readonly keys: Keys
  readonly outbox: Outbox
  readonly transcription: Transcription
  readonly log: Logger
  /** The request that is being answered, as the log names it. */
  readonly request?: string
  /** Hears what is left of the budgets whenever a message was asked for. */
  readonly tellBudgets?: (budgets: readonly BudgetLeft[]) => void
}
