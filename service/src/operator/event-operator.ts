import { listEventDeliveries, resendEvent, resendGivenUp, sendTestEvent } from './event-deliveries.js'
import {
  createEventEndpoint,
  listEventEndpoints,
  pauseEventEndpoint,
  removeEventEndpoint,
  resumeEventEndpoint,
  rotateEventSecret,
} from './event-endpoints.js'

/**
 * The endpoints to which events of an application are posted, such as `user.locked`. They have nothing to do with the webhook that
 * delivers an application's messages. A method that names an endpoint throws an `OperatorError` when it does not exist.
 */
export const EVENT_METHODS = {
  /** Lists the endpoints of an application, the oldest first. */
  list: listEventEndpoints,
  /**
   * Creates an endpoint; an application has at most 10. The `secret` that signs its requests is returned this once. Throws an
   * `OperatorError` that lists everything that is wrong with the address and the events.
   */
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
  /**
   * Posts an event once more, at once, with the same id. When that fails, it is repeated like a new event. Throws an
   * `OperatorError` when the endpoint has no such event.
   */
  resend: resendEvent,
  /**
   * Posts again, like new ones, the events of an endpoint that were given up, and counts them: those whose last attempt was made by a
   * time in milliseconds since 1970, by default now. Throws an `OperatorError` when there are none.
   */
  resendGivenUp,
}
