import { listEventDeliveries, resendEvent, resendGivenUp, sendTestEvent } from './event-deliveries.js'
import {
  createEventEndpoint,
  listEventEndpoints,
  pauseEventEndpoint,
  removeEventEndpoint,
  resumeEventEndpoint,
  rotateEventSecret,
} from './event-endpoints.js'

/** The endpoints for events, not the webhook that delivers messages. Methods that name one throw an `OperatorError` when it does not exist. */
export const EVENT_METHODS = {
  /** Lists the endpoints of an application, the oldest first. */
  list: listEventEndpoints,
  /** Creates an endpoint, one of at most 10, and returns its `secret` this once. Throws an `OperatorError` with everything that is wrong with it. */
  create: createEventEndpoint,
  /** Replaces the secret of an endpoint, and returns the new one this once. For 24 hours, requests are signed with both. */
  rotateSecret: rotateEventSecret,
  /** Lets the events of an endpoint wait until it is resumed. */
  pause: pauseEventEndpoint,
  /** Posts events to a paused or disabled endpoint again, those first that wait. */
  resume: resumeEventEndpoint,
  /** Removes an endpoint and its events. */
  remove: removeEventEndpoint,
  /** Posts a `webhook.test` to an endpoint once, at once, also while it is paused. */
  test: sendTestEvent,
  /** Lists the latest events of an endpoint, newest first. */
  deliveries: listEventDeliveries,
  /** Posts an event once more, at once, with the same id; a failure is repeated. Throws an `OperatorError` when there is no such event. */
  resend: resendEvent,
  /** Posts again the events that were given up by a time, by default now, and counts them. Throws an `OperatorError` when there are none. */
  resendGivenUp,
}
