import { type Carrier, checkRecipient, type DeliveryError } from '../delivery/carrier.js'
import { gatewayUrl, isMailSender, nameOf } from './address-parts.js'
import { awsCredentials, signedHeaders } from './aws.js'
import { type CarrierKind, missing, type SettingsIn } from './carrier-kind.js'
import { composeEmail } from './email.js'
import { type HttpResponse, httpRequest, jsonFields, messageIdIn, refusalError } from './http-request.js'

/** An account with Amazon SES. */
type SesSettings = SettingsIn<typeof parseSes>

function parseSes(url: URL) {
  const credentials = awsCredentials(url, 'ses')
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
export const ses: CarrierKind<SesSettings> = {
  schemes: ['ses', 'ses+http'],
  form: 'ses://ACCESS_KEY_ID:SECRET_ACCESS_KEY@email.eu-west-1.amazonaws.com?from=…',
  channels: ['email'],
  parameters: ['from', 'reply-to', 'configuration-set', 'region'],
  senders: ['emailFrom', 'emailReplyTo'],
  repeats: { token: '`Message-ID`', drops: 'some mailboxes' },
  parse: parseSes,
  build: (settings, { mailReports = false }) => ({ ...sesCarrier(settings), reports: mailReports }),
  addressOf: ({ baseUrl }) => baseUrl,
}

function sesCarrier(settings: SesSettings): Carrier {
  const { baseUrl, credentials, configurationSet, name = 'ses' } = settings
  const url = `${baseUrl}/v2/email/outbound-emails`
  return {
    name,
    async deliver(message, signal) {
      checkRecipient(message)
      // The email as a whole: SES then reports its `Message-ID` back.
      const { envelope, raw } = composeEmail(message, settings)
      const body = JSON.stringify({
        Destination: { ToAddresses: [envelope.to.address] },
        ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
        Content: { Raw: { Data: Buffer.from(raw).toString('base64') } },
      })
      const request = { method: 'POST', url, headers: { 'content-type': 'application/json' }, body } as const
      const headers = await signedHeaders(request, credentials, Date.now())
      const response = await httpRequest('SES', url, { method: 'POST', headers, body }, signal)
      const id = messageIdIn(jsonFields(response.body).MessageId)
      if (response.status !== 200 || id === undefined) throw sesError(response)
      return { id }
    },
  }
}

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
