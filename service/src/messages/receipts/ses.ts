import { verify, X509Certificate } from 'node:crypto'
import { readObject } from '../../json.js'
import { tryTo } from '../../try-to.js'
import type { ReportOutcome } from '../delivery/report-table.js'
import {
  checkSigningTime,
  InvalidReportError,
  messageOfId,
  parseObject,
  type ReportSource,
} from './report-source.js'

const OUTCOMES: Readonly<Record<string, ReportOutcome>> = {
  Delivery: 'delivered',
  Bounce: 'failed',
  Reject: 'failed',
  Complaint: 'complaint',
}

/** Notifications of Amazon SES by an SNS topic, whose subscription is confirmed here. They need the original headers: SES replaces `Message-ID`. */
export function sesReports(topicArn: string, fetchText: FetchText): ReportSource {
  const verified = snsVerifier(topicArn, fetchText)
  return async ({ body }) => {
    const { Type, Message = '', SubscribeURL = '' } = await verified(body)
    if (Type === 'SubscriptionConfirmation') {
      if (!SubscribeURL.startsWith(`https://${findSnsHost(topicArn)}/?`))
        throw new InvalidReportError('content')
      await fetchText(SubscribeURL)
      return []
    }
    const { eventType, notificationType, mail, bounce, complaint } = parseObject(Message)
    const kind = String(eventType ?? notificationType)
    const message = messageOfId(readObject(readObject(mail).commonHeaders).messageId)
    const outcome = Object.hasOwn(OUTCOMES, kind) ? OUTCOMES[kind] : undefined
    if (!message || !outcome) return []
    if (outcome === 'delivered') return [{ ...message, outcome }]
    if (outcome === 'failed') return [{ ...message, outcome, detail: describeDetail(kind, bounce) }]
    // Some providers also report when a user moves a mail out of the spam folder.
    if (readObject(complaint).complaintFeedbackType === 'not-spam') return []
    return [{ ...message, outcome, recipient: complainingMailbox(complaint) }]
  }
}

/** The diagnostic codes of mail servers may contain the mailbox, so only the types of a bounce are kept. */
function describeDetail(kind: string, bounce: unknown): string {
  const { bounceType, bounceSubType } = readObject(bounce)
  const types = [bounceType, bounceSubType]
  const words = types.filter(
    (type): type is string => typeof type === 'string' && /^[A-Za-z]{1,40}$/.test(type),
  )
  return `Amazon SES reports ${[kind, ...words].join(', ')}.`
}

/** Each email has one recipient. */
function complainingMailbox(complaint: unknown): string | undefined {
  const { complainedRecipients: recipients } = readObject(complaint)
  const mailbox = readObject(Array.isArray(recipients) ? recipients[0] : undefined).emailAddress
  return typeof mailbox === 'string' ? mailbox : undefined
}

/** Fetches a file of Amazon SNS by https. Rejects unless the response is 200. */
export type FetchText = (url: string) => Promise<string>

/** The fields that a signature covers, in this order; `Subject` only if the message has one. */
const SIGNED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    ...['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  ],
}

const ALGORITHMS: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' }

const TOPIC = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z0-9-]+):\d{12}:[\w-]{1,256}$/

/** The host of Amazon SNS in the region of a topic; `undefined` when this is not the ARN of a topic. */
export function findSnsHost(topicArn: string): string | undefined {
  const [, partition, region] = TOPIC.exec(topicArn) ?? []
  return region && `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`
}

type SnsMessage = Readonly<Record<string, string>>

/** Verifies messages by the certificate at the host of the topic's region. Throws an `InvalidReportError` for other topics and wrong signatures. */
function snsVerifier(topicArn: string, fetchText: FetchText): (body: Buffer) => Promise<SnsMessage> {
  const host = findSnsHost(topicArn)
  let known: { readonly url: string; readonly certificate: Promise<X509Certificate> } | undefined

  async function fetchCertificate(url: string): Promise<X509Certificate> {
    // Amazon replaces the certificate about once a year, so only the last one is kept.
    if (known?.url !== url) {
      const certificate = fetchText(url).then(readCertificate)
      known = { url, certificate }
      certificate.catch(() => {
        if (known?.certificate === certificate) known = undefined
      })
    }
    return known.certificate
  }

  return async (body) => {
    const message = readTexts(parseObject(body.toString('utf8')))
    const { Type = '', TopicArn, SignatureVersion = '', SigningCertURL = '', Signature = '' } = message
    const names = Object.hasOwn(SIGNED_FIELDS, Type) ? SIGNED_FIELDS[Type] : undefined
    const algorithm = Object.hasOwn(ALGORITHMS, SignatureVersion) ? ALGORITHMS[SignatureVersion] : undefined
    const isOurs = TopicArn === topicArn && isFileOf(host, SigningCertURL)
    if (!names || !algorithm || !isOurs) throw new InvalidReportError('signature')
    checkSigningTime(Date.parse(message.Timestamp ?? ''))
    const signed = names.flatMap((name) =>
      message[name] === undefined ? [] : [`${name}\n${message[name]}\n`],
    )
    const certificate = await fetchCertificate(SigningCertURL)
    const isValid = Date.parse(certificate.validTo) > Date.now()
    const data = Buffer.from(signed.join(''))
    if (!isValid || !verify(algorithm, data, certificate.publicKey, Buffer.from(Signature, 'base64'))) {
      throw new InvalidReportError('signature')
    }
    return message
  }
}

function readCertificate(pem: string): X509Certificate {
  const certificate = tryTo(() => new X509Certificate(pem))
  if (!certificate) throw new InvalidReportError('signature')
  return certificate
}

function isFileOf(host: string | undefined, address: string): boolean {
  return (
    host !== undefined &&
    address.startsWith(`https://${host}/`) &&
    /^SimpleNotificationService-\w{1,64}\.pem$/.test(address.slice(`https://${host}/`.length))
  )
}

function readTexts(fields: Readonly<Record<string, unknown>>): SnsMessage {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
