import { createHmac, randomBytes } from 'node:crypto'
import { createStatement, type Queries } from '../../store/store.js'

/** How long a process may keep an event before it counts as dead. Longer than an attempt. */
const LEASE_MS = 30_000

/** An endpoint is disabled when all attempts of so long a time failed, */
const FAILING_MS = 3 * 86_400_000
/** and this one is not among the first of its event: a receiver that is down for a moment must not be disabled. */
const ATTEMPTS_BEFORE_DISABLE = 5

/** An event that is due at an endpoint, and what its request needs. */
export interface DueEvent {
  readonly application: string
  readonly endpoint: string
  readonly id: string
  readonly type: string
  readonly account: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: number
  readonly attempts: number
  readonly leasedUntil: number
  readonly url: string
  /** The secret that signs the request, sealed. */
  readonly sealed: string
  readonly former: string | null
  readonly formerUntil: number | null
}

/** The result of an attempt. */
export interface EventAttempt {
  readonly state: 'delivered' | 'queued' | 'failed'
  /** The HTTP status; `null` when there was no response. */
  readonly status: number | null
  /** The first bytes of the response, or why there was none. */
  readonly answer: string
  readonly dueAt: number
  /** Whether the receiver wants no further events (410). */
  readonly isGone: boolean
}

const COLUMNS = `taken.application, taken.endpoint, taken.id, taken.type, taken.account, taken.data,
    taken.created_at AS "createdAt", taken.attempts, taken.due_at AS "leasedUntil", endpoint.url, endpoint.sealed,
    endpoint.former, endpoint.former_until AS "formerUntil"`

// Each endpoint is asked by an index, so that one with a long queue does not hold up the others.
const TAKE_DUE = createStatement<{
  now: number
  leasedUntil: number
  busy: readonly string[]
  perEndpoint: number
  limit: number
}>(`WITH due AS MATERIALIZED (
    SELECT waiting.* FROM event_endpoint AS endpoint, LATERAL (
      SELECT application, endpoint, id FROM event_delivery
      WHERE event_delivery.application = endpoint.application AND event_delivery.endpoint = endpoint.id
        AND state = 'queued' AND due_at <= :now::bigint
      ORDER BY due_at LIMIT :perEndpoint::integer FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE endpoint.paused_at IS NULL AND endpoint.disabled_at IS NULL AND endpoint.id <> ALL (:busy::text[])
    LIMIT :limit::integer
  ), taken AS (
    UPDATE event_delivery SET due_at = :leasedUntil::bigint FROM due
    WHERE event_delivery.application = due.application AND event_delivery.endpoint = due.endpoint
      AND event_delivery.id = due.id
    RETURNING event_delivery.*
  )
  SELECT ${COLUMNS} FROM taken JOIN event_endpoint AS endpoint
    ON endpoint.application = taken.application AND endpoint.id = taken.endpoint`)

/** Leases the events that are due, except those for busy endpoints. */
export function takeDueEvents(
  queries: Queries,
  now: number,
  options: { readonly busy: readonly string[]; readonly perEndpoint: number; readonly limit: number },
): Promise<DueEvent[]> {
  return TAKE_DUE.rows(queries, { now, leasedUntil: now + LEASE_MS, ...options })
}

const TAKE_ONE = createStatement<
  Pick<DueEvent, 'application' | 'endpoint' | 'id' | 'leasedUntil'>
>(`WITH taken AS (
    UPDATE event_delivery SET due_at = :leasedUntil::bigint, state = 'queued',
      attempts = CASE WHEN state = 'queued' THEN attempts ELSE 0 END
    WHERE application = :application AND endpoint = :endpoint AND id = :id RETURNING *
  )
  SELECT ${COLUMNS} FROM taken JOIN event_endpoint AS endpoint
    ON endpoint.application = taken.application AND endpoint.id = taken.endpoint`)

/** Leases one event, whatever its state; `undefined` when it is unknown. Attempts begin anew when it was settled. */
export function takeEvent(
  queries: Queries,
  event: { readonly application: string; readonly endpoint: string; readonly id: string },
  now: number,
): Promise<DueEvent | undefined> {
  return TAKE_ONE.first(queries, { ...event, leasedUntil: now + LEASE_MS })
}

type Recorded = Pick<DueEvent, 'application' | 'endpoint' | 'id' | 'leasedUntil'> &
  Omit<EventAttempt, 'isGone'> & { readonly now: number }

const RECORDED = (condition: string) => `recorded AS (
    UPDATE event_delivery SET state = :state, due_at = :dueAt::bigint, attempts = attempts + 1, attempted_at = :now::bigint,
      status = :status::smallint, answer = :answer
    WHERE application = :application AND endpoint = :endpoint AND id = :id AND state = 'queued' ${condition}
    RETURNING attempts
  )`

const RECORD_DELIVERED = createStatement<Recorded>(`WITH ${RECORDED('')}
  UPDATE event_endpoint SET failing_since = NULL FROM recorded
  WHERE application = :application AND id = :endpoint AND failing_since IS NOT NULL`)

const IS_TO_BE_DISABLED = `(:isGone::boolean OR
    failing_since <= :now::bigint - ${FAILING_MS} AND recorded.attempts >= ${ATTEMPTS_BEFORE_DISABLE})`

// Only while this process has the lease: another one may have taken the event over and delivered it.
const RECORD_FAILED = createStatement<Recorded & Pick<EventAttempt, 'isGone'>>(
  `WITH ${RECORDED('AND due_at = :leasedUntil::bigint')}
  UPDATE event_endpoint SET failing_since = coalesce(failing_since, :now::bigint),
    disabled_at = CASE WHEN ${IS_TO_BE_DISABLED} THEN :now::bigint END
  FROM recorded
  WHERE application = :application AND id = :endpoint AND disabled_at IS NULL
    AND (failing_since IS NULL OR ${IS_TO_BE_DISABLED})
  RETURNING disabled_at`,
)

/** Records an attempt. Resolves to `true` if it disabled the endpoint. */
export async function recordEventAttempt(
  queries: Queries,
  { application, endpoint, id, leasedUntil }: DueEvent,
  { state, status, answer, dueAt, isGone }: EventAttempt,
  now: number,
): Promise<boolean> {
  const recorded = { application, endpoint, id, leasedUntil, state, status, answer, dueAt, now }
  if (state === 'delivered') {
    await RECORD_DELIVERED.rows(queries, recorded)
    return false
  }
  const row = await RECORD_FAILED.first<{ disabled_at: number | null }>(queries, { ...recorded, isGone })
  return row?.disabled_at === now
}

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret of an endpoint, as Standard Webhooks writes it: `whsec_` and base64. */
export function newEventSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The headers of a request by Standard Webhooks, with a signature for each secret. */
export function signHeaders(
  secrets: readonly string[],
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
