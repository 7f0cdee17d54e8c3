import { Agent, type Dispatcher, request } from 'undici'
import { ServiceError } from '../errors.js'
import type { ServiceSettings } from '../settings.js'

/** The largest answer that is read, in bytes (R80). */
const MAX_ANSWER_BYTES = 64 * 1024

/** What came back, unjudged. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  /** Whether the service says that the credentials are the problem (RFC 9110 §11.6.1). */
  readonly challengesKey: boolean
  /** Wait the service asks for, in whole seconds; `undefined` when it names none. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

/** The one way to the network. */
export interface Transport {
  /**
   * Posts once, never again by itself and never to another address (R74, R76).
   * @throws {ServiceError} when no whole answer came in time.
   */
  post(path: string, parameters: Readonly<Record<string, string>>): Promise<Answer>
  close(): Promise<void>
}

/** Talks HTTP to the service at `settings.baseUrl`. The API key stays in this closure (R78). */
export function httpTransport(
  settings: ServiceSettings,
  dispatcher: Dispatcher = agentFor(settings),
): Transport {
  const { baseUrl, apiKey, timeoutMs, dialect } = settings
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'content-type':
      dialect.contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded;charset=utf-8',
  }
  const encode = (parameters: Readonly<Record<string, string>>) =>
    dialect.contentType === 'json' ? JSON.stringify(parameters) : new URLSearchParams(parameters).toString()

  return {
    async post(path, parameters) {
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const response = await request(`${baseUrl}${path}`, {
          method: 'POST',
          dispatcher,
          headers,
          body: encode(parameters),
          signal,
        })
        return {
          status: response.statusCode,
          contentType: single(response.headers['content-type']).toLowerCase(),
          challengesKey: response.headers['www-authenticate'] !== undefined,
          retryAfterSeconds: readRetryAfter(single(response.headers['retry-after'])),
          body: await response.body.text(),
        }
      } catch (error) {
        throw asServiceError(error, signal.aborted, timeoutMs)
      }
    },
    close: () => dispatcher.close(),
  }
}

function agentFor({ maxConnections, timeoutMs }: ServiceSettings): Agent {
  return new Agent({
    connections: maxConnections,
    // A verify spends something: it must not queue behind another request, nor be repeated when that one breaks.
    pipelining: 1,
    maxResponseSize: MAX_ANSWER_BYTES,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  })
}

function asServiceError(error: unknown, timedOut: boolean, timeoutMs: number): ServiceError {
  const code = errorCode(error)
  if (timedOut || code.includes('TIMEOUT')) {
    return new ServiceError(
      'ERR_MFA_SERVICE_TIMEOUT',
      `The MFA service did not answer within ${timeoutMs} ms. Is it overloaded, or is a firewall dropping the request?`,
      { cause: error },
    )
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new ServiceError(
      'ERR_MFA_SERVICE_ANSWER',
      `The MFA service answered with more than ${MAX_ANSWER_BYTES} bytes. Is service.baseUrl the address of its API?`,
      { cause: error },
    )
  }
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service could not be reached${code ? ` (${code})` : ''}. Is it running, and is service.baseUrl right?`,
    { cause: error },
  )
}

function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function readRetryAfter(header: string): number | undefined {
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(1, Math.ceil((date - Date.now()) / 1000))
}
