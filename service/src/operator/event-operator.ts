import type { Actor } from './audited-change.js'
import {
  type AttemptSummary,
  type EventDelivery,
  listEventDeliveries,
  resendEvent,
  sendTestEvent,
} from './event-deliveries.js'
import {
  createEventEndpoint,
  type EndpointReference,
  type EventEndpoint,
  listEventEndpoints,
  type NewEventEndpoint,
  pauseEventEndpoint,
  removeEventEndpoint,
  resumeEventEndpoint,
  rotateEventSecret,
} from './event-endpoints.js'

/**
 * The endpoints to which events of an application are posted, such as `user.locked`. They have nothing to do with the webhook that
 * delivers an application's messages. A method that names an endpoint throws an `OperatorError` when it does not exist.
 */
export interface EventOperator {
  /** Lists the endpoints of an application, the oldest first. */
  list(application: string): Promise<EventEndpoint[]>
  /**
   * Creates an endpoint; an application has at most 10. The `secret` that signs its requests is returned this once. Throws an
   * `OperatorError` that lists everything that is wrong with the address and the events.
   */
  create(
    application: string,
    endpoint: NewEventEndpoint,
  ): Promise<{ readonly id: string; readonly secret: string }>
  /** Replaces the secret of an endpoint, and returns the new one this once. For 24 hours, requests are signed with both. */
  rotateSecret(endpoint: EndpointReference): Promise<{ readonly secret: string }>
  /** Lets the events of an endpoint wait until it is resumed. */
  pause(endpoint: EndpointReference): Promise<void>
  /** Posts events to a paused or disabled endpoint again, those first that wait. */
  resume(endpoint: EndpointReference): Promise<void>
  /** Removes an endpoint and its events. */
  remove(endpoint: EndpointReference): Promise<void>
  /** Posts a `webhook.test` to an endpoint once, at once, also while it is paused. */
  test(endpoint: EndpointReference): Promise<AttemptSummary>
  /** Lists the latest events of an endpoint, newest first. */
  deliveries(endpoint: EndpointReference, limit: number): Promise<EventDelivery[]>
  /**
   * Posts an event once more, at once, with the same id. When that fails, it is repeated like a new event. Throws an
   * `OperatorError` when the endpoint has no such event.
   */
  resend(endpoint: EndpointReference, id: string): Promise<AttemptSummary>
}

/** The endpoints of applications, for an operator. */
export function eventOperator(actor: Actor): EventOperator {
  return {
    list: (application) => listEventEndpoints(actor, application),
    create: (application, endpoint) => createEventEndpoint(actor, application, endpoint),
    rotateSecret: (endpoint) => rotateEventSecret(actor, endpoint),
    pause: (endpoint) => pauseEventEndpoint(actor, endpoint),
    resume: (endpoint) => resumeEventEndpoint(actor, endpoint),
    remove: (endpoint) => removeEventEndpoint(actor, endpoint),
    test: (endpoint) => sendTestEvent(actor, endpoint),
    deliveries: (endpoint, limit) => listEventDeliveries(actor, endpoint, limit),
    resend: (endpoint, id) => resendEvent(actor, endpoint, id),
  }
}
