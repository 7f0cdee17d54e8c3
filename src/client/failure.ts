import { ServiceError } from '../errors.js'

/** How far a call had come when it failed. */
export interface Progress {
  /** Whether the request was on a socket: from then on the service may do what it was asked, answer or not. */
  readonly sent: boolean
  /** Whether the head of an answer had arrived: what follows is then an answer that is not whole. */
  readonly begun: boolean
  readonly timedOut: boolean
  readonly timeoutMs: number
}

/** Why there is no whole answer, in the words of whoever runs the app. */
export function noAnswer(error: unknown, { sent, begun, timedOut, timeoutMs }: Progress): ServiceError {
  const { name, code } = describe(error)
  const options = { cause: withoutAnswer(error), effect: sent ? 'unknown' : 'none' } as const
  if (timedOut || code.includes('TIMEOUT')) {
    return new ServiceError(
      'ERR_MFA_SERVICE_TIMEOUT',
      `The MFA service did not answer within ${timeoutMs} ms. Is it overloaded, or is a firewall dropping the request?`,
      options,
    )
  }
  if (begun || name === 'HTTPParserError' || ANSWER_FAULTS.has(code)) {
    return new ServiceError(
      'ERR_MFA_SERVICE_ANSWER',
      `The MFA service answered with something that is cut short, too large or not HTTP${code && ` (${code})`}. Is service.baseUrl the address of its API?`,
      options,
    )
  }
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service could not be reached${code && ` (${code})`}. Is it running, and is service.baseUrl right?`,
    options,
  )
}

const ANSWER_FAULTS = new Set([
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
])

/**
 * The failure without what hangs on it: a parser's error carries the raw answer, which may repeat the request with
 * its API key and code (R78, R84).
 */
function withoutAnswer(error: unknown): Error {
  const { name, code, message } = describe(error)
  return Object.assign(new Error(message), { name, ...(code && { code }) })
}

function describe(error: unknown): { name: string; code: string; message: string } {
  if (!(error instanceof Error)) return { name: 'Error', code: '', message: '' }
  const code: unknown = Reflect.get(error, 'code')
  return { name: error.name, code: typeof code === 'string' ? code : '', message: error.message }
}
