import { randomBytes } from 'node:crypto'
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from 'countersign/protocol'
import { ownWebhookAgent } from '../messages/carriers/webhook.js'
import { newEventSecret } from '../messages/event-delivery/event-table.js'
import { eventEndpointIdentity, seal } from '../store/secrets/seal.js'
import { queryOne, type Value } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'

const MAX_URL_LENGTH = 1_000
/** Each event is written once for every endpoint that asked for it. */
const MAX_ENDPOINTS = 10

/** How long a former secret still signs requests, so that the receiver can change to the new one. */
const FORMER_SECRET_MS = 86_400_000

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

interface Row {
  readonly id: string
  readonly url: string
  readonly types: readonly WebhookEventType[]
  readonly paused_at: number | null
  readonly disabled_at: number | null
  readonly failing_since: number | null
  readonly queued: number
  readonly former_until: number | null
  readonly created_at: number
}

/** The endpoints of an application, the oldest first. */
export async function listEventEndpoints({ store }: Actor, application: string): Promise<EventEndpoint[]> {
  await mustExist(store, application)
  const rows = await store.query<Row>(
    `SELECT id, url, types, paused_at, disabled_at, failing_since, former_until, created_at, (
       SELECT count(*)::integer FROM (
         SELECT FROM event_delivery WHERE application = $1 AND endpoint = event_endpoint.id AND state = 'queued' LIMIT 10000
       ) AS waiting) AS queued
     FROM event_endpoint WHERE application = $1 ORDER BY created_at, id`,
    [application],
  )
  return rows.map((row) => ({
    id: row.id,
    url: row.url,
    types: row.types,
    state: row.disabled_at !== null ? 'disabled' : row.paused_at !== null ? 'paused' : 'active',
    failingSince: row.failing_since,
    queued: row.queued,
    formerSecretUntil: row.former_until !== null && row.former_until > Date.now() ? row.former_until : null,
    createdAt: row.created_at,
  }))
}

/** Creates an endpoint. Its secret is returned this once. */
export async function createEventEndpoint(
  actor: Actor,
  application: string,
  given: NewEventEndpoint,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { url, types } = checked(given)
  const id = `ep_${randomBytes(8).toString('hex')}`
  const secret = newEventSecret()
  const sealed = seal(actor.keys(), eventEndpointIdentity(application, id), secret)
  await auditedChange(
    actor,
    async (tx) => {
      // Two operators at once count one after the other.
      const known = await queryOne(tx, 'SELECT FROM application WHERE application = $1 FOR UPDATE', [
        application,
      ])
      if (!known) await mustExist(tx, application)
      const row = await queryOne<{ count: number }>(
        tx,
        'SELECT count(*)::integer AS count FROM event_endpoint WHERE application = $1',
        [application],
      )
      if ((row?.count ?? 0) >= MAX_ENDPOINTS) {
        throw new OperatorError(`"${application}" has ${MAX_ENDPOINTS} endpoints already: remove one first.`)
      }
      await tx.query(
        `INSERT INTO event_endpoint (application, id, url, types, sealed, created_at)
         VALUES ($1, $2, $3, $4::text[], $5, $6)`,
        [application, id, url.href, types, sealed, Date.now()],
      )
    },
    () => ({
      application,
      action: 'endpoint.created',
      detail: `${id} ${url.origin}${url.pathname} ${types.join(',')}`,
    }),
  )
  return { id, secret }
}

/** Replaces the secret of an endpoint. For 24 hours, requests are signed with both. */
export async function rotateEventSecret(
  actor: Actor,
  reference: EndpointReference,
): Promise<{ readonly secret: string }> {
  const { application, endpoint } = reference
  const secret = newEventSecret()
  const sealed = seal(actor.keys(), eventEndpointIdentity(application, endpoint), secret)
  const set = 'former = sealed, sealed = $3, former_until = $4'
  const values = [sealed, Date.now() + FORMER_SECRET_MS]
  await change(actor, reference, { action: 'endpoint.secret_rotated', set, values })
  return { secret }
}

/** Lets the events of an endpoint wait until it is resumed. */
export function pauseEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  return change(actor, reference, { action: 'endpoint.paused', set: 'paused_at = $3', values: [Date.now()] })
}

/** Posts events to a paused or disabled endpoint again, those first that wait. */
export function resumeEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  const set = 'paused_at = NULL, disabled_at = NULL, failing_since = NULL'
  return change(actor, reference, { action: 'endpoint.resumed', set, values: [] })
}

/** Removes an endpoint and its events. */
export async function removeEventEndpoint(actor: Actor, reference: EndpointReference): Promise<void> {
  const { application, endpoint } = reference
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const removed = await tx.query(
        'DELETE FROM event_endpoint WHERE application = $1 AND id = $2 RETURNING id',
        [application, endpoint],
      )
      if (removed.length === 0) throw unknownEndpoint(reference)
      await tx.query('DELETE FROM event_delivery WHERE application = $1 AND endpoint = $2', [
        application,
        endpoint,
      ])
    },
    () => ({ application, action: 'endpoint.removed', detail: endpoint }),
  )
}

async function change(
  actor: Actor,
  reference: EndpointReference,
  made: { readonly action: string; readonly set: string; readonly values: readonly Value[] },
): Promise<void> {
  const { application, endpoint } = reference
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const text = `UPDATE event_endpoint SET ${made.set} WHERE application = $1 AND id = $2 RETURNING id`
      const changed = await tx.query(text, [application, endpoint, ...made.values])
      if (changed.length === 0) throw unknownEndpoint(reference)
    },
    () => ({ application, action: made.action, detail: endpoint }),
  )
}

/** The error for an endpoint that does not exist. */
export function unknownEndpoint({ application, endpoint }: EndpointReference): OperatorError {
  return new OperatorError(
    `"${application}" has no endpoint "${endpoint}": list its endpoints to see their ids.`,
  )
}

function checked({ url: address, types }: NewEventEndpoint): {
  readonly url: URL
  readonly types: readonly WebhookEventType[]
} {
  const faults = types
    .filter((type) => !WEBHOOK_EVENT_TYPES.some((known) => known === type))
    .map((type) => `"${type}" is not an event: use ${WEBHOOK_EVENT_TYPES.join(', ')}.`)
  if (types.length === 0) faults.push(`An endpoint needs events: ${WEBHOOK_EVENT_TYPES.join(', ')}.`)
  if (address.length > MAX_URL_LENGTH || !ownWebhookAgent(address)) {
    faults.push(
      'The address of an endpoint must be https://, on port 443 of a public host, without user and password. ' +
        'Outside production it can also be one of this machine, such as http://localhost:8080/events.',
    )
  }
  if (faults.length > 0) throw new OperatorError(...faults)
  return { url: new URL(address), types: WEBHOOK_EVENT_TYPES.filter((type) => types.includes(type)) }
}
