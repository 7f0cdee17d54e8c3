import { Counter, type Registry } from 'prom-client'
import type { LogEvent, Logger } from '../log/logger.js'

const VERDICTS: Readonly<Record<string, string>> = {
  'verify.succeeded': 'valid',
  'verify.failed': 'invalid',
  'verify.refused': 'refused',
}

/** Counts what happened to codes and messages, as the events of the log tell it. */
export function eventCounter(registry: Registry): Logger {
  const verifications = new Counter({
    name: 'countersign_verifications_total',
    help: 'Codes that were looked at, by method and outcome (valid, invalid, locked, factor_disabled)',
    labelNames: ['method', 'outcome'],
    registers: [registry],
  })
  const sends = new Counter({
    name: 'countersign_sends_total',
    help: 'Codes asked for, by method and outcome (sent, queued, failed, or why it was refused)',
    labelNames: ['method', 'outcome'],
    registers: [registry],
  })
  const deliveries = new Counter({
    name: 'countersign_deliveries_total',
    help: 'Attempts to hand a message over, by channel and outcome (sent, missed, postponed, failed)',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  })
  const events = new Counter({
    name: 'countersign_events_total',
    help: 'What the log tells beside requests, by event',
    labelNames: ['event'],
    registers: [registry],
  })
  return (event) => {
    if (event.event === 'http.request') return
    events.inc({ event: event.event })
    const verdict = VERDICTS[event.event]
    if (verdict) verifications.inc({ method: event.factor ?? '', outcome: refusalOr(verdict, event) })
    const [kind, outcome = ''] = event.event.split('.')
    if (kind === 'send') sends.inc({ method: event.factor ?? '', outcome: refusalOr(outcome, event) })
    if (kind === 'delivery' && event.channel) deliveries.inc({ channel: event.channel, outcome })
  }
}

function refusalOr(outcome: string, event: LogEvent): string {
  return outcome === 'refused' ? (event.reason ?? outcome) : outcome
}
