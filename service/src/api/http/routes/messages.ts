import express, { type RequestHandler } from 'express'
import type { FlowContext } from '../../../flows/context.js'
import type { Inbox } from '../../../messages/carriers/inbox.js'
import { DeliveryError } from '../../../messages/delivery/carrier.js'
import { type DeliveryReport, recordReport } from '../../../messages/delivery/report-table.js'
import {
  InvalidReportError,
  REPORT_PROVIDERS,
  type ReportSources,
} from '../../../messages/receipts/report-source.js'
import { callingApplication } from '../authenticate.js'
import { requestId } from '../headers.js'
import { problem, refuseField } from '../problem.js'

/** SendGrid sends up to 768 KB of events at once. */
const LIMIT = '1mb'
const RETRY_AFTER_SECONDS = 60

/** `POST /v1/reports/{provider}`: delivery reports of a carrier or mail provider, which signs them. */
export function reportsRoute(
  sources: ReportSources,
  { store, log, activity }: Pick<FlowContext, 'store' | 'log' | 'activity'>,
): readonly RequestHandler[] {
  async function record(provider: string, report: DeliveryReport, request: string): Promise<void> {
    const { application, id: message, outcome } = report
    const reported = await recordReport(store, report, Date.now())
    // A report that is repeated, or comes too late, changes nothing.
    if (reported === undefined) return
    const { channel, country, carrier } = reported
    if (outcome !== 'complaint') {
      activity.record(
        { application, method: channel, country: country ?? '', carrier: carrier ?? provider },
        [outcome],
      )
    }
    const level = outcome === 'delivered' ? 'info' : 'warn'
    log({ level, event: `report.${outcome}`, application, channel, message, carrier: provider, request })
  }

  return [
    express.raw({ limit: LIMIT, inflate: false, type: () => true }),
    async function receiveReports(request, response) {
      const provider = REPORT_PROVIDERS.find((name) => name === request.params.provider)
      const source = provider && sources[provider]
      if (!source) return problem(response, 'not_found')
      const [, query = ''] = /\?(.*)$/s.exec(request.originalUrl) ?? []
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      try {
        const reports = await source({ query, body, header: (name) => request.get(name) })
        for (const report of reports) await record(provider, report, requestId(request))
        response.status(204).end()
      } catch (error) {
        if (error instanceof InvalidReportError) {
          const fields = { carrier: provider, reason: error.reason, request: requestId(request) }
          log({ level: 'warn', event: 'report.rejected', ...fields })
          if (error.reason === 'signature') return problem(response, 'invalid_signature')
          return refuseField(response, 'body', error.message)
        }
        if (!(error instanceof DeliveryError)) throw error
        // The certificate of the signature could not be fetched.
        problem(response, 'unavailable', { detail: error.message, retryAfterSeconds: RETRY_AFTER_SECONDS })
      }
    },
  ]
}

/** The inboxes whose messages can be read over HTTP. */
export interface Inboxes {
  /** The messages of test keys. */
  readonly test: Inbox
  /** The messages of live keys, if they are delivered to the development inbox. */
  readonly live: Inbox | undefined
}

// At most 320 characters, without control characters and invalid UTF-8.
const CONTACT = /^[^\p{Cc}\p{Surrogate}\ufffd]{0,320}$/u

/** `GET /v1/test/inbox?to=`: the messages of the calling application, newest first. */
export function inboxRoute(inboxes: Inboxes): RequestHandler {
  return async function listInbox(request, response) {
    const application = callingApplication(request)
    const inbox = inboxes[application.mode]
    if (!inbox) {
      const detail = 'Messages of live keys are delivered: only test keys have an inbox.'
      return problem(response, 'not_found', { detail })
    }
    const { to } = request.query
    if (to !== undefined && (typeof to !== 'string' || !CONTACT.test(to))) {
      return refuseField(response, 'to', 'must be one contact')
    }
    // In a query string, a plus sign stands for a space, with which no contact begins.
    const contact = to?.replace(/^ (?=\d)/, '+')
    const messages = await inbox.messages(application.id, { to: contact || undefined })
    if (!response.headersSent) response.json({ messages })
  }
}
