import type { AppOwners } from '../limits/app-owners.js'
import type { Approvals } from '../limits/approvals.js'
import type { Attempts } from '../limits/attempts.js'
import type { MessageBudget } from '../limits/budgets.js'
import type { SentBackupCodes } from '../limits/sent-backup-codes.js'
import type { Contact } from '../protocol/contact.js'
import type { KeyVerbs, RelyingParty } from '../protocol/keys.js'
import type { Method } from '../protocol/methods.js'
import type { MfaService } from '../protocol/service.js'
import type { TranscriptionService } from '../protocol/transcription.js'
import type { Settings } from '../settings.js'
import type { Devices } from '../trust/devices.js'
import type { SessionsValidAfter } from '../trust/sessions-valid-after.js'
import type { BackupCodes } from './backup-codes.js'
import type { DeliveryStates } from './delivery-states.js'
import type { EnrolledFactors } from './enrolled-factors.js'
import type { MfaEventBody } from './events.js'
import type { Refusal } from './refusal.js'

/** What every flow works with, built once from the options. */
export interface Deps {
  readonly settings: Settings
  readonly service: MfaService & Partial<TranscriptionService>
  readonly attempts: Attempts
  readonly approvals: Approvals
  readonly appOwners: AppOwners
  readonly messageBudget: MessageBudget
  readonly deliveries: DeliveryStates
  readonly sentBackupCodes: SentBackupCodes
  readonly backupCodes: BackupCodes
  /** Present if the service says which users have an app or keys that the host does not list. */
  readonly enrolledFactors?: EnrolledFactors | undefined
  /** The verbs for security keys and passkeys. Present if the app offers them. */
  readonly keys?: KeyVerbs | undefined
  /** The relying party of the keys, as the service says. Present if the app offers keys. */
  readonly relyingParty?: (() => Promise<RelyingParty | undefined>) | undefined
  /** Present if the app uses trusted devices. */
  readonly devices?: Devices | undefined
  /** Present if account notices have a "this wasn't me" link, or the app offers recovery. */
  readonly sessionsValidAfter?: SessionsValidAfter | undefined
  /** Passes an event to the host's `onEvent` and to the metrics. */
  emit(event: MfaEventBody): void
}

/** The outcome of a flow that refused. */
export interface Refused {
  readonly outcome: 'refused'
  readonly refusal: Refusal
  /** Present when this attempt disabled the factor (R96). */
  readonly disabled?: DisabledFactor
}

/** A factor that was disabled after too many failures. */
export interface DisabledFactor {
  readonly method: Method | 'backup'
  readonly contact: Contact
}

/** The outcome for a refusal. */
export function refuse(refusal: Refusal): Refused {
  return { outcome: 'refused', refusal }
}
