import type { ReportOutcome } from '../delivery/report-table.js'
import { messageOfId } from './message-id.js'
import { InvalidReportError, parseObject, type ReportSource } from './report-source.js'
import { type FetchText, snsHost, snsVerifier } from './sns-message.js'

const OUTCOMES: Readonly<Record<string, ReportOutcome>> = {
  Delivery: 'delivered',
  Bounce: 'failed',
  Reject: 'failed',
  Complaint: 'complaint',
}

/**
 * The notifications of Amazon SES through a topic of Amazon SNS. The subscription of the topic is confirmed automatically.
 * Notifications must include the original headers of the email, since SES replaces its `Message-ID`.
 */
export function sesReports(topicArn: string, fetchText: FetchText): ReportSource {
  const verified = snsVerifier(topicArn, fetchText)
  return async ({ body }) => {
    const { Type, Message = '', SubscribeURL = '' } = await verified(body)
    if (Type === 'SubscriptionConfirmation') {
      if (!SubscribeURL.startsWith(`https://${snsHost(topicArn)}/?`)) throw new InvalidReportError('content')
      await fetchText(SubscribeURL)
      return []
    }
    const { eventType, notificationType, mail, bounce, complaint } = parseObject(Message)
    const kind = String(eventType ?? notificationType)
    const message = messageOfId(valueAt(valueAt(mail, 'commonHeaders'), 'messageId'))
    const outcome = Object.hasOwn(OUTCOMES, kind) ? OUTCOMES[kind] : undefined
    if (!message || !outcome) return []
    if (outcome === 'delivered') return [{ ...message, outcome }]
    if (outcome === 'failed') return [{ ...message, outcome, detail: detailOf(kind, bounce) }]
    // Some providers also report when a user moves a mail out of the spam folder.
    if (valueAt(complaint, 'complaintFeedbackType') === 'not-spam') return []
    return [{ ...message, outcome, recipient: complainingMailbox(complaint) }]
  }
}

/** The diagnostic codes of mail servers may contain the mailbox, so only the types of a bounce are kept. */
function detailOf(kind: string, bounce: unknown): string {
  const types = [valueAt(bounce, 'bounceType'), valueAt(bounce, 'bounceSubType')]
  const words = types.filter(
    (type): type is string => typeof type === 'string' && /^[A-Za-z]{1,40}$/.test(type),
  )
  return `Amazon SES reports ${[kind, ...words].join(', ')}.`
}

/** Each email has one recipient. */
function complainingMailbox(complaint: unknown): string | undefined {
  const recipients = valueAt(complaint, 'complainedRecipients')
  const mailbox = valueAt(Array.isArray(recipients) ? recipients[0] : undefined, 'emailAddress')
  return typeof mailbox === 'string' ? mailbox : undefined
}

function valueAt(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
