import { Counter, Histogram, type Registry } from 'prom-client'
import type { Carrier } from '../../messages/delivery/carrier.js'
import type { Channel } from '../../messages/message.js'
import type { LogEvent, Logger } from '../../telemetry/log/logger.js'

const VERDICTS: Readonly<Record<string, string>> = {
  'verify.succeeded': 'valid',
  'verify.failed': 'invalid',
  'verify.refused': 'refused',
}

/** Rare events that alert rules look for. A counter that first appears with the value 1 has not increased for Prometheus. */
const COUNTED_FROM_ZERO = [
  'carrier.certificate_refused',
  'carrier.login_refused',
  'carrier.starttls_missing',
  'console.oidc_refused',
  'key.counter_went_back',
  'key.new_network',
  'outbox.full',
  'report.complaint',
  'report.rejected',
  'store.maintenance_failed',
  'store.unavailable',
  'traffic.budget_nearly_used_up',
  'traffic.budget_used_up',
  'traffic.paused',
  'transcription.jobs_stalled',
  'webhook.not_written',
]

/** A logger that counts verifications, sends, deliveries and all other events. */
export function eventCounter(registry: Registry): Logger {
  const verifications = new Counter({
    name: 'countersign_verifications_total',
    help: 'Verifications of codes, by application, method and outcome (valid, invalid, locked, factor_disabled)',
    labelNames: ['application', 'method', 'outcome'],
    registers: [registry],
  })
  const sends = new Counter({
    name: 'countersign_sends_total',
    help: 'Requests for codes, by application, method and outcome (sent, queued, failed, or why the request was refused)',
    labelNames: ['application', 'method', 'outcome'],
    registers: [registry],
  })
  const deliveries = new Counter({
    name: 'countersign_deliveries_total',
    help: 'Attempts to deliver a message, by application, channel and outcome (sent, missed, postponed, failed)',
    labelNames: ['application', 'channel', 'outcome'],
    registers: [registry],
  })
  const reports = new Counter({
    name: 'countersign_delivery_reports_total',
    help: 'Delivery reports of carriers that changed a message, by provider and outcome (delivered, failed, complaint), and rejected ones',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  })
  const webhooks = new Counter({
    name: 'countersign_webhook_attempts_total',
    help: 'Attempts to post an event to an endpoint, by application, type of event and outcome (delivered, postponed, failed)',
    labelNames: ['application', 'type', 'outcome'],
    registers: [registry],
  })
  const phoneChecks = new Counter({
    name: 'countersign_phone_checks_total',
    help: 'Questions to the phone check, by application and outcome (passed, failed, or why the number was refused)',
    labelNames: ['application', 'outcome'],
    registers: [registry],
  })
  const events = new Counter({
    name: 'countersign_events_total',
    help: 'Events in the log other than requests, by event',
    labelNames: ['event'],
    registers: [registry],
  })
  for (const event of COUNTED_FROM_ZERO) events.inc({ event }, 0)
  const requests = new Counter({
    name: 'countersign_requests_total',
    help: 'Requests with a valid API key, by application and status',
    labelNames: ['application', 'status'],
    registers: [registry],
  })
  return (event) => {
    const { application = '' } = event
    if (event.event === 'http.request') {
      if (application) requests.inc({ application, status: event.status ?? 0 })
      return
    }
    events.inc({ event: event.event })
    const verdict = VERDICTS[event.event]
    if (verdict)
      verifications.inc({ application, method: event.factor ?? '', outcome: describeOutcome(verdict, event) })
    const [kind, outcome = ''] = event.event.split('.')
    if (kind === 'send')
      sends.inc({ application, method: event.factor ?? '', outcome: describeOutcome(outcome, event) })
    if (kind === 'webhook' && event.reason) webhooks.inc({ application, type: event.reason, outcome })
    if (kind === 'phone_check') phoneChecks.inc({ application, outcome: describeOutcome(outcome, event) })
    if (kind === 'report') reports.inc({ provider: event.carrier ?? '', outcome })
    if (kind === 'delivery' && event.channel) deliveries.inc({ application, channel: event.channel, outcome })
  }
}

function describeOutcome(outcome: string, event: LogEvent): string {
  return outcome === 'refused' ? (event.reason ?? outcome) : outcome
}

type Carriers = Readonly<Partial<Record<Channel, Carrier>>>

/** Returns the same carriers; the duration of each handover is measured. */
export function createTimedCarriers(registry: Registry): (carriers: Carriers) => Carriers {
  const times = new Histogram({
    name: 'countersign_delivery_seconds',
    help: 'Time to hand a message over to its carrier, by channel and outcome (sent, failed)',
    labelNames: ['channel', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  })
  const timeCarrier = (carrier: Carrier): Carrier => ({
    ...carrier,
    async deliver(message, signal) {
      const start = performance.now()
      const observe = (outcome: string) =>
        times.observe({ channel: message.channel, outcome }, (performance.now() - start) / 1000)
      try {
        const receipt = await carrier.deliver(message, signal)
        observe('sent')
        return receipt
      } catch (error) {
        observe('failed')
        throw error
      }
    },
  })
  return (carriers) =>
    Object.fromEntries(
      Object.entries(carriers).flatMap(([channel, carrier]) =>
        carrier ? [[channel, timeCarrier(carrier)]] : [],
      ),
    )
}

/** Records a request that was answered. `route` is its template, so that no label contains part of an address. */
export type RequestObserver = (request: {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}) => void

/** Creates the histogram of the time that requests take, and returns its observer. */
export function requestTimes(registry: Registry): RequestObserver {
  const times = new Histogram({
    name: 'countersign_http_request_seconds',
    help: 'Duration of requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 3, 10],
    registers: [registry],
  })
  return ({ method, route, status, seconds }) => times.observe({ method, route, status }, seconds)
}
