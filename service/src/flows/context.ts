import type { BudgetLeft } from '../accounts/message-budget.js'
import type { ActivityCounter } from '../activity/count-activity.js'
import type { Outbox } from '../delivery/outbox.js'
import type { Logger } from '../log/logger.js'
import type { Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'
import type { TranscriptionJobs } from '../transcription/jobs/transcription-jobs.js'
import type { LiveTranscription } from '../transcription/live/live-transcription.js'
import type { Transcription } from '../transcription/transcription.js'
import type { PhoneTraffic } from './phone-traffic.js'
import type { RequestsUnderWay } from './requests-under-way.js'

/** What every flow works with, the same for all applications. */
export interface FlowContext {
  readonly store: Store
  readonly keys: Keys
  readonly outbox: Outbox
  readonly transcription: Transcription
  readonly jobs: TranscriptionJobs
  readonly live: LiveTranscription
  readonly phoneTraffic: PhoneTraffic
  readonly underWay: RequestsUnderWay
  /** Counts attempts, for the charts of operators. */
  readonly activity: ActivityCounter
  readonly log: Logger
  /** The id of the current request, for the log. */
  readonly requestId?: string
  /** Receives the state of the message budgets whenever a message was requested. */
  readonly onBudgets?: (budgets: readonly BudgetLeft[]) => void
}
