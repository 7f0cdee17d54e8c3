import { type HttpResponse, httpRequest, isTemporary } from '../carriers/http-request.js'
import { asDeliveryError } from '../delivery/carrier.js'
import type { ConnectionAgent } from '../outbound/public-agent.js'
import type { Keys } from '../secrets/keys.js'
import { open } from '../secrets/seal.js'
import { eventEndpointIdentity } from '../secrets/seal-identity.js'
import type { Queries } from '../store/store.js'
import { withTimeLimit } from '../time-limit.js'
import { eventBody } from './event-body.js'
import { signedHeaders } from './event-secret.js'
import { type DueEvent, type EventAttempt, recordEventAttempt } from './event-table.js'
import { eventRetryDelay } from './retry-delay.js'

const ATTEMPT_TIMEOUT_MS = 15_000
const GONE = 410

/** How much of a response is kept for the operator. */
const ANSWER_LENGTH = 300

/** The type of the events that an operator sends to test an endpoint. They are attempted once. */
export const TEST_EVENT = 'webhook.test'

/** What attempts are made with. */
export interface EventAttemptParts {
  readonly store: Queries
  readonly keys: Keys
  /** The agent for an address, which decides what it may connect to; `undefined` when the address is not allowed. */
  readonly agentFor: (url: string) => ConnectionAgent | undefined
  /** How long one attempt may take. Defaults to 15 s, which is also the maximum. */
  readonly timeoutMs?: number | undefined
}

/** The result of an attempt, and whether it disabled the endpoint. */
export interface AttemptedEvent extends EventAttempt {
  readonly disabled: boolean
}

/** Posts an event once, and records the result. Any 2xx response accepts it; redirects are not followed. */
export async function attemptEvent(parts: EventAttemptParts, event: DueEvent): Promise<AttemptedEvent> {
  const response = await post(parts, event)
  const now = Date.now()
  const attempt = evaluate(event, response, now)
  const disabled = await recordEventAttempt(parts.store, event, attempt, now)
  return { ...attempt, disabled }
}

/** The response, or why there was none. */
async function post(parts: EventAttemptParts, event: DueEvent): Promise<HttpResponse | string> {
  const { keys, agentFor, timeoutMs = ATTEMPT_TIMEOUT_MS } = parts
  const { application, endpoint, id, url, sealed, former, formerUntil } = event
  const agent = agentFor(url)
  if (!agent) return 'The address of the endpoint is not allowed.'
  try {
    const now = Date.now()
    const identity = eventEndpointIdentity(application, endpoint)
    const isFormerValid = former !== null && formerUntil !== null && formerUntil > now
    const secrets = (isFormerValid ? [sealed, former] : [sealed]).map((text) => open(keys, identity, text))
    const body = eventBody(keys, event)
    const headers = { 'content-type': 'application/json', ...signedHeaders(secrets, { id, body, now }) }
    const request = { method: 'POST', headers, body, agent } as const
    return await withTimeLimit(timeoutMs, [], (signal) => httpRequest('The endpoint', url, request, signal))
  } catch (error) {
    return asDeliveryError(error).message
  }
}

function evaluate({ type, attempts }: DueEvent, response: HttpResponse | string, now: number): EventAttempt {
  const isResponse = typeof response !== 'string'
  const status = isResponse ? response.status : null
  const answer = shortened(isResponse ? response.body : response)
  const isGone = status === GONE
  const result = { status, answer, isGone, dueAt: now }
  if (status !== null && status >= 200 && status < 300) return { ...result, state: 'delivered' }
  const retryAfterMs = isResponse && isTemporary(response.status) ? response.retryAfterMs : undefined
  const delayMs = type === TEST_EVENT || isGone ? undefined : eventRetryDelay(attempts + 1, retryAfterMs)
  if (delayMs === undefined) return { ...result, state: 'failed' }
  return { ...result, state: 'queued', dueAt: now + delayMs }
}

/** The beginning of a response as it can be stored and shown: PostgreSQL stores no null characters. */
function shortened(text: string): string {
  return Array.from(text.replace(/\p{Cc}+/gu, ' ').trim())
    .slice(0, ANSWER_LENGTH)
    .join('')
}
