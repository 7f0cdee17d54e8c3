import type { KeyObject } from 'node:crypto'
import { limitTime } from '../../time.js'
import { httpRequest } from '../carriers/http-request.js'
import type { Routes } from '../carriers/route.js'
import { DeliveryError } from '../delivery/carrier.js'
import type { ReportProvider, ReportSources } from './report-source.js'
import { sendgridReports } from './sendgrid.js'
import { sesReports } from './ses.js'
import { twilioReports } from './twilio.js'

const FETCH_TIMEOUT_MS = 5_000

/** The settings that say who sends delivery reports. */
export interface ReportSettings {
  readonly routes: Routes
  readonly publicUrl?: string | undefined
  readonly sesTopic?: string | undefined
  readonly sendgridVerificationKey?: KeyObject | undefined
}

const reportPath = (provider: ReportProvider): string => `/v1/reports/${provider}`

/** The address for Twilio's status callbacks; `undefined` without a public address of the service. */
export function twilioReportAddress(publicUrl: string | undefined): string | undefined {
  return publicUrl && publicUrl + reportPath('twilio')
}

/** The senders of delivery reports that are configured. */
export function createSources(settings: ReportSettings): ReportSources {
  const { routes, publicUrl, sesTopic, sendgridVerificationKey: key } = settings
  const tokens = Object.values(routes)
    .flat()
    .flatMap((route) => (route.by === 'twilio' ? [route.settings.token] : []))
  const address = twilioReportAddress(publicUrl)
  return {
    ...(address && tokens.length > 0 && { twilio: twilioReports(address, [...new Set(tokens)]) }),
    ...(sesTopic && { ses: sesReports(sesTopic, fetchText) }),
    ...(key && { sendgrid: sendgridReports(key) }),
  }
}

async function fetchText(url: string): Promise<string> {
  const request = { method: 'GET', headers: { accept: '*/*' } } as const
  const { status, body } = await limitTime(FETCH_TIMEOUT_MS, [], (signal) =>
    httpRequest('Amazon SNS', url, request, signal),
  )
  if (status !== 200) throw new DeliveryError(`Amazon SNS answered ${status}.`, 'outage')
  return body
}
