import { randomBytes } from 'node:crypto'
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from 'countersign/protocol'
import { TEST_EVENT } from '../messages/event-delivery/deliver-event.js'
import { newEventSecret } from '../messages/event-delivery/event-table.js'
import { eventEndpointIdentity, seal } from '../store/secrets/seal.js'
import type { Value } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { checkReceiver, FORMER_SECRET_MS } from './checked-receiver.js'

/** Each event is written once for every endpoint that asked for it. */
const MAX_ENDPOINTS = 10

/** Names an endpoint of an application. */
export interface EndpointReference {
  readonly application: string
  /** The id of the endpoint. */
  readonly endpoint: string
}

/** An endpoint to which events are posted, without its secret. */
export interface EventEndpoint {
  /** Identifies the endpoint in commands. */
  readonly id: string
  readonly url: string
  /** The types of the events that it gets. */
  readonly types: readonly WebhookEventType[]
  /** `paused`: its events wait. `disabled`: it failed for three days or responded with 410, and gets no events. */
  readonly state: 'active' | 'paused' | 'disabled'
  /** Since when every attempt failed, in milliseconds since 1970; `null` after one that was accepted. */
  readonly failingSince: number | null
  /** How many events wait, the first 10,000 counted. */
  readonly queued: number
  /** How many events were given up, the first 10,000 counted. */
  readonly givenUp: number
  /** Until when the former secret signs requests too, in milliseconds since 1970; `null` when there is none. */
  readonly formerSecretUntil: number | null
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number
}

/** An endpoint as an operator creates it. */
export interface NewEventEndpoint {
  /** An https address of a public host. */
  readonly url: string
  /** The types of the events that it gets. */
  readonly types: readonly string[]
}

const countOf = (condition: string) => `(SELECT count(*)::integer FROM (
         SELECT FROM event_delivery WHERE application = $1 AND endpoint = event_endpoint.id AND ${condition} LIMIT 10000
       ) AS counted)`

/** Lists the endpoints of an application, without their secrets. */
export async function listEventEndpoints({ store }: Actor, application: string): Promise<EventEndpoint[]> {
  await mustExist(store, application)
  return store.query<EventEndpoint>(
    `SELECT id, url, types, failing_since AS "failingSince", created_at AS "createdAt",
       CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN paused_at IS NOT NULL THEN 'paused' ELSE 'active' END AS state,
       CASE WHEN former_until > $2::bigint THEN former_until END AS "formerSecretUntil",
       ${countOf("state = 'queued'")} AS queued, ${countOf(`state = 'failed' AND type <> '${TEST_EVENT}'`)} AS "givenUp"
     FROM event_endpoint WHERE application = $1 ORDER BY created_at, id`,
    [application, Date.now()],
  )
}

/** Creates an endpoint. Its secret is in the result and nowhere else. */
export async function createEventEndpoint(
  actor: Actor,
  application: string,
  given: NewEventEndpoint,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { url, items: types } = checkReceiver({
    ...{ name: 'An endpoint', address: given.url, kind: 'event', path: 'events' },
    ...{ items: given.types, known: WEBHOOK_EVENT_TYPES },
  })
  const id = `ep_${randomBytes(8).toString('hex')}`
  const secret = newEventSecret()
  const sealed = seal(actor.keys(), eventEndpointIdentity(application, id), secret)
  await changeWithAudit(actor, async (tx, record) => {
    // Two operators at once count one after the other.
    const [known] = await tx.query('SELECT FROM application WHERE application = $1 FOR UPDATE', [application])
    if (!known) await mustExist(tx, application)
    const endpoints = await tx.query('SELECT FROM event_endpoint WHERE application = $1', [application])
    if (endpoints.length >= MAX_ENDPOINTS) {
      throw new OperatorError(`"${application}" has ${MAX_ENDPOINTS} endpoints already: remove one first.`)
    }
    await tx.query(
      `INSERT INTO event_endpoint (application, id, url, types, sealed, created_at)
       VALUES ($1, $2, $3, $4::text[], $5, $6)`,
      [application, id, url.href, types, sealed, Date.now()],
    )
    const detail = `${id} ${url.origin}${url.pathname} ${types.join(',')}`
    record({ application, action: 'endpoint.created', detail })
  })
  return { id, secret }
}

/** Gives an endpoint a new secret. */
export async function rotateEventSecret(
  actor: Actor,
  reference: EndpointReference,
): Promise<{ readonly secret: string }> {
  const secret = newEventSecret()
  const sealed = seal(actor.keys(), eventEndpointIdentity(reference.application, reference.endpoint), secret)
  const values = [sealed, Date.now() + FORMER_SECRET_MS]
  await change(actor, reference, 'secret_rotated', 'former = sealed, sealed = $3, former_until = $4', values)
  return { secret }
}

/** Pauses an endpoint: its events wait. */
export function pauseEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  return change(actor, reference, 'paused', 'paused_at = $3', [Date.now()])
}

/** Resumes an endpoint that was paused or disabled. */
export function resumeEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  return change(actor, reference, 'resumed', 'paused_at = NULL, disabled_at = NULL, failing_since = NULL')
}

async function change(
  actor: Actor,
  reference: EndpointReference,
  what: string,
  set: string,
  values: readonly Value[] = [],
): Promise<void> {
  const { application, endpoint } = reference
  await changeRows(actor, {
    ...{
      application,
      action: `endpoint.${what}`,
      detail: endpoint,
      otherwise: describeMissingEndpoint(reference),
    },
    sql: `UPDATE event_endpoint SET ${set} WHERE application = $1 AND id = $2 RETURNING id`,
    values: [application, endpoint, ...values],
  })
}

/** Removes an endpoint with its events. */
export async function removeEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  const { application, endpoint } = reference
  await changeRows(actor, {
    ...{
      application,
      action: 'endpoint.removed',
      detail: endpoint,
      otherwise: describeMissingEndpoint(reference),
    },
    sql: `WITH events AS (DELETE FROM event_delivery WHERE application = $1 AND endpoint = $2)
      DELETE FROM event_endpoint WHERE application = $1 AND id = $2 RETURNING id`,
    values: [application, endpoint],
  })
}

/** The error about an endpoint that does not exist. */
export function describeMissingEndpoint({ application, endpoint }: EndpointReference): string {
  return `"${application}" has no endpoint "${endpoint}": list its endpoints to see their ids.`
}
