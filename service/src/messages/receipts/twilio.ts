import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseReference } from '../delivery/queued-message.js'
import type { ReportOutcome } from '../delivery/report-table.js'
import { InvalidReportError, type ReportSource } from './report-source.js'

/** The final statuses of messages and calls. The others say nothing about the delivery. */
const OUTCOMES: Readonly<Record<string, ReportOutcome>> = {
  delivered: 'delivered',
  read: 'delivered',
  completed: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
  busy: 'failed',
  'no-answer': 'failed',
  canceled: 'failed',
}

/** The status callbacks of Twilio: `X-Twilio-Signature` is an HMAC-SHA-1 of `address`, query and sorted parameters under the token. */
export function twilioReports(address: string, tokens: readonly string[]): ReportSource {
  return async ({ query, header, body }) => {
    const parameters = [...new URLSearchParams(body.toString('utf8'))].sort(([a], [b]) => (a < b ? -1 : 1))
    const signed = `${address}?${query}${parameters.map(([name, value]) => name + value).join('')}`
    const signature = Buffer.from(header('x-twilio-signature') ?? '', 'base64')
    if (!tokens.some((token) => isSigned(token, signed, signature))) throw new InvalidReportError('signature')
    const fields = new Map(parameters)
    const message = parseReference(new URLSearchParams(query).get('message'))
    // Of a repeated parameter it would be unclear which value counts.
    if (!message || fields.size !== parameters.length) throw new InvalidReportError('content')
    const status = fields.get('MessageStatus') ?? fields.get('CallStatus') ?? ''
    const outcome = Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined
    if (!outcome) return []
    if (outcome !== 'failed') return [{ ...message, outcome }]
    const code = /^\d{1,6}$/.exec(fields.get('ErrorCode') ?? '')
    return [{ ...message, outcome, detail: `The gateway reports ${status}${code ? `, error ${code}` : ''}.` }]
  }
}

function isSigned(token: string, signed: string, signature: Buffer): boolean {
  const expected = createHmac('sha1', token).update(signed).digest()
  return signature.length === expected.length && timingSafeEqual(signature, expected)
}
