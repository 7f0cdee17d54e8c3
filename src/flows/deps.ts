import type { Approvals } from '../limits/approvals.js'
import type { Attempts } from '../limits/attempts.js'
import type { MessageBudget } from '../limits/budgets.js'
import type { Caller, MfaService } from '../protocol/service.js'
import type { Settings } from '../settings.js'
import type { Devices } from '../trust/devices.js'
import type { SessionsValidAfter } from '../trust/sessions-valid-after.js'
import type { DeliveryStates } from './delivery-states.js'
import type { MfaEventBody } from './events.js'
import type { Refusal } from './refusal.js'
import type { MfaUser } from './user.js'

/** What every flow is given: built once from the options. */
export interface Deps {
  readonly settings: Settings
  readonly service: MfaService
  readonly attempts: Attempts
  readonly approvals: Approvals
  readonly messageBudget: MessageBudget
  readonly deliveries: DeliveryStates
  /** Only when the app asked for trusted devices. */
  readonly devices?: Devices | undefined
  /** Only when there are links by which somebody can end everything. */
  readonly sessionsValidAfter?: SessionsValidAfter | undefined
  /** Tells the host what happened. */
  emit(event: MfaEventBody): void
}

/** A flow's "no". */
export interface Refused {
  readonly outcome: 'refused'
  readonly refusal: Refusal
}

export function refuse(refusal: Refusal): Refused {
  return { outcome: 'refused', refusal }
}

/** What the service may know of the user. */
export function callerOf(user: MfaUser): Caller {
  return {
    account: user.userId,
    ...(user.clientAddress && { clientAddress: user.clientAddress }),
    ...(user.locale && { locale: user.locale }),
  }
}
