import { type Carrier, checkRecipient, DeliveryError } from '../delivery/carrier.js'
import { type AwsCredentials, signedHeaders } from './aws-signature.js'
import { composeEmail } from './email.js'
import { type HttpResponse, httpRequest, isForeign, isTemporary } from './http-request.js'
import { jsonFields, messageIdIn } from './json-fields.js'

/** An account with Amazon SES. */
export interface SesSettings {
  /** The address before `/v2`. */
  readonly baseUrl: string
  readonly credentials: AwsCredentials
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  readonly replyTo?: string | undefined
  readonly configurationSet?: string | undefined
  /** The carrier's name in delivery states and the log. Defaults to `ses`. */
  readonly name?: string | undefined
}

/** What SES writes about an address that no mailbox can have. All other errors are about our account. */
const ADDRESS_FAULT =
  /^(Illegal address|Missing (start|final)|Invalid domain|Domain (starts|ends|contains)|Local address)/

/** Delivers email over the API of Amazon SES, version 2. */
export function sesCarrier(settings: SesSettings): Carrier {
  const { baseUrl, credentials, configurationSet, name = 'ses' } = settings
  const url = `${baseUrl}/v2/email/outbound-emails`
  return {
    name,
    async deliver(message, signal) {
      checkRecipient(message)
      // The email as a whole: SES then reports its `Message-ID` back.
      const { raw } = composeEmail(message, settings)
      const body = JSON.stringify({
        Destination: { ToAddresses: [message.to] },
        ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
        Content: { Raw: { Data: Buffer.from(raw).toString('base64') } },
      })
      const request = { method: 'POST', url, headers: { 'content-type': 'application/json' }, body } as const
      const headers = signedHeaders(request, credentials, Date.now())
      const response = await httpRequest('SES', url, { method: 'POST', headers, body }, signal)
      const id = messageIdIn(jsonFields(response.body).MessageId)
      if (response.status !== 200 || id === undefined) throw sesError(response)
      return { id }
    },
    async close() {},
  }
}

function sesError(response: HttpResponse): DeliveryError {
  const { status, body, retryAfterMs } = response
  const fault = `SES answered ${status}.`
  // AWS answers some of its limits with status 400, and names the error in a header.
  const isThrottled = /^(Throttling|TooManyRequests|RequestLimitExceeded)/.test(
    response.header('x-amzn-errortype') ?? '',
  )
  if (isTemporary(status) || isThrottled || isForeign(response))
    return new DeliveryError(fault, 'outage', { retryAfterMs })
  const { message } = jsonFields(body)
  if (status === 400 && typeof message === 'string' && ADDRESS_FAULT.test(message)) {
    return new DeliveryError(fault, 'contact', { contact: 'unknown' })
  }
  return new DeliveryError(fault, 'carrier')
}
