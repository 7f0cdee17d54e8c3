import { Counter, Gauge, type Registry } from 'prom-client'
import type { LogEvent, Logger } from '../log/logger.js'

const VERDICTS: Readonly<Record<string, string>> = {
  'verify.succeeded': 'valid',
  'verify.failed': 'invalid',
  'verify.refused': 'refused',
}

/** A logger that counts verifications, sends, deliveries and all other events, and follows the pauses of carriers. */
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
  const paused = new Gauge({
    name: 'countersign_carrier_paused',
    help: 'Whether this process has paused a carrier after failures (1) or uses it again (0), by carrier',
    labelNames: ['carrier'],
    registers: [registry],
  })
  const events = new Counter({
    name: 'countersign_events_total',
    help: 'Events in the log other than requests, by event',
    labelNames: ['event'],
    registers: [registry],
  })
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
      verifications.inc({ application, method: event.factor ?? '', outcome: outcomeOf(verdict, event) })
    const [kind, outcome = ''] = event.event.split('.')
    if (kind === 'send')
      sends.inc({ application, method: event.factor ?? '', outcome: outcomeOf(outcome, event) })
    if (kind === 'webhook' && event.reason) webhooks.inc({ application, type: event.reason, outcome })
    if (kind === 'carrier') paused.set({ carrier: event.carrier ?? '' }, outcome === 'paused' ? 1 : 0)
    if (kind === 'report') reports.inc({ provider: event.carrier ?? '', outcome })
    if (kind === 'delivery' && event.channel) deliveries.inc({ application, channel: event.channel, outcome })
  }
}

/** The outcome, or for a refusal its reason. */
function outcomeOf(outcome: string, event: LogEvent): string {
  return outcome === 'refused' ? (event.reason ?? outcome) : outcome
}
