import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { tryTo } from '../../try-to.js'
import type { DeliveryReport, ReportOutcome } from '../delivery/report-table.js'
import {
  checkSigningTime,
  InvalidReportError,
  messageOfId,
  parseJson,
  type ReportSource,
} from './report-source.js'

const OUTCOMES: Readonly<Record<string, ReportOutcome>> = {
  delivered: 'delivered',
  bounce: 'failed',
  dropped: 'failed',
  spamreport: 'complaint',
}

/** SendGrid's verification key, as its settings show it; `undefined` when it is not an ECDSA key. */
export function sendgridKey(base64: string): KeyObject | undefined {
  const der = Buffer.from(base64, 'base64')
  const key = tryTo(() => createPublicKey({ key: der, format: 'der', type: 'spki' }))
  return key?.asymmetricKeyType === 'ec' ? key : undefined
}

/** The Signed Event Webhook of SendGrid: an ECDSA signature of timestamp and body, and a list of events. */
export function sendgridReports(key: KeyObject): ReportSource {
  return async ({ header, body }) => {
    const signature = Buffer.from(header('x-twilio-email-event-webhook-signature') ?? '', 'base64')
    const timestamp = header('x-twilio-email-event-webhook-timestamp') ?? ''
    if (!verify('sha256', Buffer.concat([Buffer.from(timestamp), body]), key, signature)) {
      throw new InvalidReportError('signature')
    }
    checkSigningTime(Number(timestamp) * 1_000)
    const events = parseJson(body.toString('utf8'))
    if (!Array.isArray(events)) throw new InvalidReportError('content')
    return events.flatMap(reportOf)
  }
}

function reportOf(event: unknown): DeliveryReport[] {
  const fields = { ...(event as object | null) } as Readonly<Record<string, unknown>>
  const message = messageOfId(fields['smtp-id'])
  const name = typeof fields.event === 'string' ? fields.event : ''
  const outcome = Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name] : undefined
  if (!message || !outcome) return []
  if (outcome === 'delivered') return [{ ...message, outcome }]
  if (outcome === 'failed') {
    // The reason may contain the mailbox.
    const status =
      typeof fields.status === 'string' && /^\d\.\d{1,3}\.\d{1,3}$/.test(fields.status) ? fields.status : ''
    return [{ ...message, outcome, detail: `SendGrid reports ${name}${status && `, status ${status}`}.` }]
  }
  return [{ ...message, outcome, recipient: typeof fields.email === 'string' ? fields.email : undefined }]
}
