import { OptionsError } from '../errors.js'
import type { Settings } from '../options/settings.js'
import type { Contact } from '../protocol/contact.js'
import type { Method } from '../protocol/methods.js'
import type { CompleteMfaService, MfaService } from '../protocol/service.js'
import type { Limits } from '../stores/limits/limits.js'
import type { Devices } from '../stores/trust/devices.js'
import type { SessionsValidAfter } from '../stores/trust/not-me-links.js'
import type { BackupCodes } from './backup-codes.js'
import type { DeliveryStates } from './delivery-states.js'
import type { EnrolledFactors } from './enrolled-factors.js'
import type { MfaEventBody } from './events.js'
import type { FactorRecord } from './factor-record.js'
import type { OfferedKeys } from './offered-keys.js'
import type { Refusal } from './refusal.js'

/** The parts that every flow works with, built once from the options. */
export interface Deps extends Limits {
  readonly settings: Settings
  readonly service: MfaService
  readonly deliveries: DeliveryStates
  readonly backupCodes: BackupCodes
  readonly enrolledFactors: EnrolledFactors
  readonly factorRecord: FactorRecord
  readonly keys: OfferedKeys
  readonly devices: Pick<Devices, 'revokeAll'>
  readonly sessionsValidAfter: SessionsValidAfter
  /** Passes an event to the host's `onEvent` and to the metrics. */
  emit(event: MfaEventBody): void
}

/** The outcome of a flow that refused. */
export interface Refused {
  readonly outcome: 'refused'
  readonly refusal: Refusal
  /** Present when this attempt disabled the factor (R96). */
  readonly disabled?: DisabledFactor
  /** Whether this attempt was one wrong code too many after a correct password, so the user is notified (R34). */
  readonly repeated?: boolean
}

/** A factor that was disabled after too many failures. */
export interface DisabledFactor {
  readonly method: Method | 'backup'
  readonly contact: Contact
}

/** Wraps a refusal as the result of a flow. */
export function refuse(refusal: Refusal): Refused {
  return { outcome: 'refused', refusal }
}

/** The verbs that only some routes call. A host's own service may lack those whose routes it does not mount. */
type OptionalVerb = 'enrollApp' | 'sendBackupCodes'

const CALLED_BY: Readonly<Record<OptionalVerb, string>> = {
  enrollApp: 'the routes for authenticator apps (mfa.enrollAppRouter)',
  sendBackupCodes: 'the routes for backup codes (mfa.backupRouter)',
}

/** A verb that some routes call. @throws {OptionsError} if the host's own service lacks it. */
export function serviceVerb<Verb extends OptionalVerb>(
  service: MfaService,
  verb: Verb,
): CompleteMfaService[Verb] {
  const call = service[verb] as CompleteMfaService[Verb] | undefined
  if (call) return call
  throw new OptionsError([
    `service must have the function ${verb}, which ${CALLED_BY[verb]} call: implement it, or mount only the routers whose verbs the service has, instead of mfa.router`,
  ])
}
