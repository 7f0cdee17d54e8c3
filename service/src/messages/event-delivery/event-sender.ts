import type { LookupFunction } from 'node:net'
import { accountReference, type Keys } from '../../store/secrets/keys.js'
import type { Store } from '../../store/store.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { pollTimer } from '../delivery/outbox.js'
import { type AttemptedEvent, attemptEvent, eventAgents } from './deliver-event.js'
import { type DueEvent, takeDueEvents } from './event-table.js'

const POLL_INTERVAL_MS = 5_000
const MAX_CONCURRENT = 100
/** An endpoint that responds slowly must not use up all attempts of a process. */
const MAX_PER_ENDPOINT = 20

/** Posts the events of applications to their endpoints, every five seconds, without keeping the process alive. */
export function eventSender(parts: {
  readonly store: Store
  readonly keys: Keys
  readonly log: Logger
  /** Resolves names. Defaults to the system's resolver. */
  readonly lookup?: LookupFunction
  /** How long one attempt may take. Defaults to 15 s, which is also the maximum. */
  readonly timeoutMs?: number
}) {
  const { store, keys, log, lookup, timeoutMs } = parts
  const agents = eventAgents(lookup)
  const running = new Map<Promise<void>, string>()
  let polling = Promise.resolve()
  let closing = false
  const timer = pollTimer(poll, POLL_INTERVAL_MS)

  function poll(): Promise<void> {
    polling = polling.then(postDue).catch(logUnavailable)
    return polling
  }

  async function postDue(): Promise<void> {
    while (!closing) {
      const busy = [...new Set(running.values())]
      const taken = await takeDueEvents(store, Date.now(), {
        busy,
        perEndpoint: MAX_PER_ENDPOINT,
        limit: MAX_CONCURRENT - running.size,
      })
      for (const event of taken) start(event)
      if (taken.length === 0 && busy.length === 0) return
      // One slow endpoint must not hold up the others.
      const isFull = running.size > MAX_CONCURRENT / 2
      if (running.size > 0 && (taken.length === 0 || isFull)) await Promise.race(running.keys())
    }
    await Promise.all(running.keys())
  }

  function start(event: DueEvent): void {
    const attempt: Promise<void> = attemptEvent({ store, keys, agentFor: agents.agentFor, timeoutMs }, event)
      .then((attempted) => record(event, attempted), logUnavailable)
      .finally(() => running.delete(attempt))
    running.set(attempt, event.endpoint)
  }

  function record(event: DueEvent, { state, status, disabled, isGone }: AttemptedEvent): void {
    const { application, type: reason, account: name, id: message, endpoint } = event
    const account = name === null ? {} : { account: accountReference(keys, application, name) }
    const fields = { application, reason, message, ...account, ...(status !== null && { status }) }
    if (state === 'delivered') return log({ level: 'info', event: 'webhook.delivered', ...fields })
    const what = state === 'failed' ? 'webhook.failed' : 'webhook.postponed'
    log({ level: 'warn', event: what, ...fields, detail: `endpoint ${endpoint}` })
    if (!disabled) return
    const why = isGone ? 'it wants no further events (410)' : 'every attempt of three days failed'
    const detail = `endpoint ${endpoint}: ${why}. Resume it when it works: webhook resume ${application} ${endpoint}`
    log({ level: 'error', event: 'webhook.disabled', application, detail })
  }

  function logUnavailable(error: unknown): void {
    // The events are still in the store and will be due again.
    log({ level: 'error', event: 'webhook.unavailable', detail: describeError(error) })
  }

  return {
    /** Posts all events that are due, of any process. */
    poll,
    /** Stops, and waits for the attempts that are in progress. */
    async close() {
      closing = true
      timer.stop()
      await polling
      await Promise.allSettled(running.keys())
      agents.close()
    },
  }
}
