import { randomBytes } from 'node:crypto'
import { attemptEvent, eventAgents, TEST_EVENT } from '../messages/event-delivery/deliver-event.js'
import { takeEvent } from '../messages/event-delivery/event-table.js'
import { mustExist } from './applications.js'
import { type Actor, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { describeMissingEndpoint, type EndpointReference } from './event-endpoints.js'

/** An event at an endpoint. Times in milliseconds since 1970. */
export interface EventDelivery {
  /** The `webhook-id` of its requests. */
  readonly id: string
  readonly type: string
  /** `queued`: an attempt is due, or follows. `failed`: it was given up. */
  readonly state: 'queued' | 'delivered' | 'failed'
  readonly attempts: number
  /** When it happened. */
  readonly createdAt: number
  /** When the last attempt was made; `null` before the first. */
  readonly attemptedAt: number | null
  /** The HTTP status of the last response; `null` when there was none. */
  readonly status: number | null
  /** The first bytes of the last response, or why there was none. */
  readonly answer: string | null
}

/** The result of one attempt. */
export type AttemptSummary = Pick<EventDelivery, 'state' | 'status' | 'answer'> & { readonly id: string }

/** Lists the deliveries of events, the newest first. */
export async function listEventDeliveries(
  { store }: Actor,
  { application, endpoint }: EndpointReference,
  limit: number,
): Promise<EventDelivery[]> {
  await mustExist(store, application)
  const key = [application, endpoint]
  const [known] = await store.query('SELECT FROM event_endpoint WHERE application = $1 AND id = $2', key)
  if (!known) throw new OperatorError(describeMissingEndpoint({ application, endpoint }))
  return store.query(
    `SELECT id, type, state, attempts, created_at AS "createdAt", attempted_at AS "attemptedAt", status, answer
     FROM event_delivery WHERE application = $1 AND endpoint = $2 ORDER BY created_at DESC, id LIMIT $3`,
    [...key, limit],
  )
}

/** Sends an event to an endpoint to try it. */
export async function sendTestEvent(
  actor: Actor,
  { application, endpoint }: EndpointReference,
): Promise<AttemptSummary> {
  const id = `evt_${randomBytes(16).toString('hex')}`
  await changeRows(actor, {
    ...{ application, action: 'endpoint.tested', detail: `${endpoint} ${id}` },
    sql: `INSERT INTO event_delivery (application, endpoint, id, type, data, created_at, due_at, state)
      SELECT application, id, $3, $4, '{}', $5, $5, 'failed' FROM event_endpoint WHERE application = $1 AND id = $2
      RETURNING id`,
    values: [application, endpoint, id, TEST_EVENT, Date.now()],
    otherwise: describeMissingEndpoint({ application, endpoint }),
  })
  return attemptNow(actor, { application, endpoint, id })
}

/** Sends a stored event to an endpoint at once. */
export async function resendEvent(
  actor: Actor,
  { application, endpoint }: EndpointReference,
  id: string,
): Promise<AttemptSummary> {
  await changeRows(actor, {
    ...{ application, action: 'endpoint.resent', detail: `${endpoint} ${id}` },
    sql: 'SELECT FROM event_delivery WHERE application = $1 AND endpoint = $2 AND id = $3',
    values: [application, endpoint, id],
    otherwise: `The endpoint has no event "${id}": events are kept for 7 days.`,
  })
  return attemptNow(actor, { application, endpoint, id })
}

/** Queues all events of an endpoint that were given up, and returns how many. */
export async function resendGivenUp(
  actor: Actor,
  { application, endpoint }: EndpointReference,
  attemptedBy = Date.now(),
): Promise<number> {
  const resent = await changeRows(actor, {
    ...{ application, action: 'endpoint.resent' },
    detail: ({ length }) => `${endpoint} ${length} events`,
    sql: `UPDATE event_delivery SET state = 'queued', attempts = 0, due_at = $3
      WHERE application = $1 AND endpoint = $2 AND state = 'failed' AND type <> '${TEST_EVENT}' AND attempted_at <= $4
      RETURNING 1`,
    values: [application, endpoint, Date.now(), attemptedBy],
    otherwise: 'None of these events is given up any more.',
  })
  return resent.length
}

async function attemptNow(actor: Actor, event: EndpointReference & { readonly id: string }) {
  const { store } = actor
  const taken = await takeEvent(store, event, Date.now())
  if (!taken) throw new OperatorError(describeMissingEndpoint(event))
  const agents = eventAgents()
  try {
    const { agentFor } = agents
    const { state, status, answer } = await attemptEvent({ store, keys: actor.keys(), agentFor }, taken)
    return { id: event.id, state, status, answer }
  } finally {
    agents.close()
  }
}
