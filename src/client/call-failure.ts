import { ServiceError } from '../errors.js'
import { readObject } from '../json.js'

/** How far a call got before it failed. */
interface Progress {
  /** Whether the request was sent. From then on the service may have carried it out. */
  readonly sent: boolean
  /** Whether the head of a response had arrived, so that the response is incomplete. */
  readonly begun: boolean
  readonly timedOut: boolean
  readonly timeoutMs: number
}

/** The error for a call without a complete response. */
export function callFailed(error: Error, { sent, begun, timedOut, timeoutMs }: Progress): ServiceError {
  const { name, code } = describe(error)
  const named = code && ` (${code})`
  const options = { cause: removeResponse(error), effect: sent ? 'unknown' : 'none' } as const
  if (timedOut || code.includes('TIMEOUT')) {
    return new ServiceError(
      'ERR_MFA_SERVICE_TIMEOUT',
      `The MFA service did not respond within ${timeoutMs} ms. Check whether it is overloaded and whether a firewall drops the request.`,
      options,
    )
  }
  if (begun || name === 'HTTPParserError' || RESPONSE_ERRORS.has(code)) {
    return new ServiceError(
      'ERR_MFA_SERVICE_ANSWER',
      `The response of the MFA service is incomplete, too large or not HTTP${named}. Check that service.baseUrl is the address of its API.`,
      options,
    )
  }
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service could not be reached${named}. Check that it is running and that service.baseUrl is correct.`,
    options,
  )
}

const RESPONSE_ERRORS = new Set([
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
])

/** The error without its other properties: a parser error holds the raw response, with key and code (R78, R84). */
function removeResponse(error: Error): Error {
  const { name, code, message } = describe(error)
  return Object.assign(new Error(message), { name, ...(code && { code }) })
}

function describe(error: Error): { name: string; code: string; message: string } {
  const { code } = readObject(error)
  return { name: error.name, code: typeof code === 'string' ? code : '', message: error.message }
}

/** An error for a call that its caller gave up. */
export function abortError(): Error {
  return new Error('The call was ended.')
}

/** An error for a response that is too large. */
export function createTooLargeError(): Error {
  return Object.assign(new Error('The response is too large.'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' })
}

/** An error for a response that did not come in time. */
export function timeoutError(): Error {
  return new DOMException('The request timed out.', 'TimeoutError')
}
