import type { LookupFunction } from 'node:net'
import { maskContact, parseUser, type WebhookEvent } from 'countersign/protocol'
import type { ConnectionAgent } from '../../safe-fetch/public-agent.js'
import { accountReference, type Keys } from '../../store/secrets/keys.js'
import { eventEndpointIdentity, open } from '../../store/secrets/seal.js'
import type { Queries } from '../../store/store.js'
import { HOUR_MS, limitTime, MINUTE_MS } from '../../time.js'
import { type HttpResponse, httpRequest, isTemporary } from '../carriers/http-request.js'
import { ownWebhookAgent } from '../carriers/webhook.js'
import { ensureDeliveryError } from '../delivery/carrier.js'
import { type DueEvent, type EventAttempt, recordEventAttempt, signHeaders } from './event-table.js'

const ATTEMPT_TIMEOUT_MS = 15_000
const GONE = 410

/** How much of a response is kept for the operator. */
const ANSWER_LENGTH = 300

/** The type of the events that an operator sends to test an endpoint. They are attempted once. */
export const TEST_EVENT = 'webhook.test'

/** The parts that attempts need. */
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
    const headers = { 'content-type': 'application/json', ...signHeaders(secrets, { id, body, now }) }
    const request = { method: 'POST', headers, body, agent } as const
    return await limitTime(timeoutMs, [], (signal) => httpRequest('The endpoint', url, request, signal))
  } catch (error) {
    return ensureDeliveryError(error).message
  }
}

function evaluate({ type, attempts }: DueEvent, response: HttpResponse | string, now: number): EventAttempt {
  const isResponse = typeof response !== 'string'
  const status = isResponse ? response.status : null
  const answer = shorten(isResponse ? response.body : response)
  const isGone = status === GONE
  const result = { status, answer, isGone, dueAt: now }
  if (status !== null && status >= 200 && status < 300) return { ...result, state: 'delivered' }
  const retryAfterMs = isResponse && isTemporary(response.status) ? response.retryAfterMs : undefined
  // An event that is refused by 410 waits with the others until an operator resumes the endpoint.
  const delayMs = type === TEST_EVENT ? undefined : eventRetryDelay(attempts + 1, retryAfterMs)
  if (delayMs === undefined) return { ...result, state: 'failed' }
  return { ...result, state: 'queued', dueAt: now + delayMs }
}

/** The beginning of a response as it can be stored and shown: PostgreSQL stores no null characters. */
function shorten(text: string): string {
  return Array.from(text.replace(/\p{Cc}+/gu, ' ').trim())
    .slice(0, ANSWER_LENGTH)
    .join('')
}

const MAX_AGENTS = 200

/** The agents of the latest addresses, which keep their connections. `lookup` resolves names, and defaults to the system's resolver. */
export function eventAgents(lookup?: LookupFunction) {
  const agents = new Map<string, ConnectionAgent>()
  return {
    /** The agent for an address; `undefined` when it is not allowed (R87). */
    agentFor(url: string): ConnectionAgent | undefined {
      const agent = agents.get(url) ?? ownWebhookAgent(url, lookup)
      if (!agent) return undefined
      agents.delete(url)
      agents.set(url, agent)
      const [oldest] = agents.keys()
      // Not destroyed: a request may be in progress.
      if (agents.size > MAX_AGENTS && oldest !== undefined) agents.delete(oldest)
      return agent
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

const ACCOUNT_PREFIX = 'account:'

/** The body of an event, the same for every attempt. It has no secret and no full contact. */
function eventBody(keys: Keys, { application, type, account, data, createdAt }: DueEvent): string {
  const user = account === null ? {} : { user: createUser(keys, application, account) }
  return JSON.stringify({
    type,
    timestamp: new Date(createdAt).toISOString(),
    data: { application, ...user, ...data },
  })
}

type WebhookUser = Extract<WebhookEvent, { readonly data: { readonly user: unknown } }>['data']['user']

function createUser(keys: Keys, application: string, account: string): WebhookUser {
  const reference = accountReference(keys, application, account)
  const name = account.slice(account.indexOf(':') + 1)
  const contact = parseUser(name)
  const shown = contact ? maskContact(contact) : name
  return account.startsWith(ACCOUNT_PREFIX)
    ? { account: shown, reference }
    : { contact: contact ? shown : '•••', reference }
}

/** The delays between the attempts to deliver an event: about 36 hours together. */
const DELAYS_MS = [
  ...[5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
] as const

/** A receiver cannot postpone an event for longer. */
const MAX_RETRY_AFTER_MS = 12 * HOUR_MS

/** The delay before the next attempt after this many, and not before the receiver asks for it; `undefined` when none is left. */
function eventRetryDelay(attempts: number, retryAfterMs = 0): number | undefined {
  const delayMs = DELAYS_MS[attempts - 1]
  if (delayMs === undefined) return undefined
  // Jitter spreads the events that failed together.
  const jitter = 0.8 + Math.random() * 0.4
  return Math.round(Math.max(delayMs * jitter, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}
