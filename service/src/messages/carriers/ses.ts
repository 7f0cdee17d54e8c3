import type { DeliveryError } from '../delivery/carrier.js'
import { gatewayUrl, isMailSender, nameOf } from './address-parts.js'
import { postSigned, readAwsCredentials } from './aws.js'
import { gatewayKind, missing } from './carrier-kind.js'
import { composeEmail } from './email.js'
import { type HttpResponse, jsonFields, readMessageId, refusalError } from './http-request.js'

function parseSes(url: URL) {
  const credentials = readAwsCredentials(url, 'ses')
  const from = url.searchParams.get('from')
  const replyTo = url.searchParams.get('reply-to') ?? undefined
  if ('fault' in credentials) return credentials
  if (!from || !isMailSender(from)) return missing('the sender ?from=no-reply@vault.example')
  if (replyTo !== undefined && !isMailSender(replyTo)) return missing('a mailbox as reply-to')
  const configurationSet = url.searchParams.get('configuration-set') ?? undefined
  return { baseUrl: gatewayUrl(url), credentials, from, replyTo, configurationSet, name: nameOf(url) }
}

/** The words of SES about an address that no mailbox can have. All other errors are about our account. */
const ADDRESS_FAULT =
  /^(Illegal address|Missing (start|final)|Invalid domain|Domain (starts|ends|contains)|Local address)/

/** Email over the API of Amazon SES, version 2. */
export const ses = gatewayKind('ses', {
  form: 'ses://ACCESS_KEY_ID:SECRET_ACCESS_KEY@email.eu-west-1.amazonaws.com?from=…',
  channels: ['email'],
  parameters: ['from', 'reply-to', 'configuration-set', 'region'],
  senders: ['emailFrom', 'emailReplyTo'],
  repeats: { token: '`Message-ID`', drops: 'some mailboxes' },
  parse: parseSes,
  hasReports: ({ mailReports = false }) => mailReports,
  buildDelivery(settings) {
    const { baseUrl, credentials, configurationSet } = settings
    const url = `${baseUrl}/v2/email/outbound-emails`
    return async (message, signal) => {
      // The email as a whole: SES then reports its `Message-ID` back.
      const { envelope, raw } = composeEmail(message, settings)
      const body = JSON.stringify({
        Destination: { ToAddresses: [envelope.to.address] },
        ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
        Content: { Raw: { Data: Buffer.from(raw).toString('base64') } },
      })
      const post = { credentials, contentType: 'application/json', body }
      const response = await postSigned('SES', url, post, signal)
      const id = readMessageId(jsonFields(response.body).MessageId)
      if (response.status !== 200 || id === undefined) throw sesError(response)
      return { id }
    }
  },
})

function sesError(response: HttpResponse): DeliveryError {
  const { status, body } = response
  const fault = `SES answered ${status}.`
  // AWS answers some of its limits with status 400, and names the error in a header.
  const isThrottled = /^(Throttling|TooManyRequests|RequestLimitExceeded)/.test(
    response.header('x-amzn-errortype') ?? '',
  )
  const { message } = jsonFields(body)
  const isAddress = status === 400 && typeof message === 'string' && ADDRESS_FAULT.test(message)
  return refusalError(fault, response, {
    isLoad: isThrottled,
    isUnreadable: true,
    contact: isAddress ? 'unknown' : undefined,
  })
}
