import { isObject, readJson } from '../../json.js'
import { DAY_MS } from '../../time.js'
import { parseReference } from '../delivery/queued-message.js'
import type { DeliveryReport } from '../delivery/report-table.js'

interface ReportRequest {
  /** The query of its address, without the question mark. */
  readonly query: string
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
}

/** The delivery reports in a request. Throws an `InvalidReportError` when its signature is wrong or its content makes no sense. */
export type ReportSource = (request: ReportRequest) => Promise<readonly DeliveryReport[]>

/** The senders of delivery reports; their names are in the addresses that receive them. */
export const REPORT_PROVIDERS = ['twilio', 'ses', 'sendgrid'] as const
/** One of the senders of delivery reports. */
export type ReportProvider = (typeof REPORT_PROVIDERS)[number]

/** The configured senders of delivery reports. */
export type ReportSources = Readonly<Partial<Record<ReportProvider, ReportSource>>>

/** A request that is not a delivery report of the configured sender. */
export class InvalidReportError extends Error {
  /** `signature`: it is not signed by the sender, or long ago. `content`: it is signed, but cannot be read. */
  readonly reason: 'signature' | 'content'

  constructor(reason: 'signature' | 'content') {
    super(reason === 'signature' ? 'The signature is missing or wrong.' : 'The content cannot be read.')
    this.name = 'InvalidReportError'
    this.reason = reason
  }
}

/** Throws an `InvalidReportError` when a request was signed more than a day ago, or in the future. */
export function checkSigningTime(signedAt: number): void {
  if (!(Math.abs(Date.now() - signedAt) <= DAY_MS)) throw new InvalidReportError('signature')
}

/** The JSON object in a text; throws an `InvalidReportError` when it is not one. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  const read = parseJson(text)
  if (!isObject(read)) throw new InvalidReportError('content')
  return read
}

/** The JSON value in a text; throws an `InvalidReportError` when it is not JSON. */
export function parseJson(text: string): unknown {
  const read = readJson(text)
  if (read === undefined) throw new InvalidReportError('content')
  return read
}

/** The message whose `Message-ID` this is, with or without angle brackets; `undefined` when it is not one of ours. */
export function messageOfId(messageId: unknown): ReturnType<typeof parseReference> {
  const [, reference] = typeof messageId === 'string' ? (/^<?([^@<>]+)@[^@<>]+>?$/.exec(messageId) ?? []) : []
  return parseReference(reference)
}
