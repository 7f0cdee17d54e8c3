import type { Sends } from '../limits/sends.js'
import type { Tries } from '../limits/tries.js'
import type { Caller, MfaService } from '../protocol/service.js'
import type { Settings } from '../settings.js'
import type { Cutoffs } from '../trust/cutoffs.js'
import type { Devices } from '../trust/devices.js'
import type { DeliveryStates } from './delivery-states.js'
import type { MfaEventBody } from './events.js'
import type { Person } from './person.js'
import type { Refusal } from './refusal.js'

/** What every flow is given: built once from the options. */
export interface Deps {
  readonly settings: Settings
  readonly service: MfaService
  readonly tries: Tries
  readonly sends: Sends
  readonly deliveries: DeliveryStates
  /** Only when the app asked for trusted devices. */
  readonly devices?: Devices | undefined
  /** Only when there are links by which somebody can end everything. */
  readonly cutoffs?: Cutoffs | undefined
  /** Tells the host what happened. */
  tell(event: MfaEventBody): void
}

/** A flow's "no". */
export interface Refused {
  readonly outcome: 'refused'
  readonly refusal: Refusal
}

export function refuse(refusal: Refusal): Refused {
  return { outcome: 'refused', refusal }
}

/** What the service may know of the person. */
export function callerOf(person: Person): Caller {
  return {
    account: person.userId,
    ...(person.clientAddress && { clientAddress: person.clientAddress }),
    ...(person.locale && { locale: person.locale }),
  }
}
