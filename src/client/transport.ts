import { Readable } from 'node:stream'
import { Agent, type Dispatcher, request } from 'undici'
import type { ServiceSettings } from './address.js'
import { noAnswer } from './failure.js'
import type { Upload } from './upload.js'

/** The largest answer that is read, in bytes (R80). */
const MAX_ANSWER_BYTES = 64 * 1024

const DAY_SECONDS = 86_400

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

/** How one call differs from the others. */
interface Manner {
  readonly idempotencyKey?: string | undefined
  /** How long it may take in all, in milliseconds. Defaults to the option `timeoutMs`. */
  readonly limitMs?: number
}

/** The one way to the network. */
export interface Transport {
  /**
   * Posts once, never again by itself and never to another address (R74, R76). `idempotencyKey` names what is done, so
   * that it is not done twice when something on the way repeats the request.
   * @throws {ServiceError} when no whole answer came in time.
   */
  post(path: string, parameters: Readonly<Record<string, string>>, how?: Manner): Promise<Answer>
  /**
   * Posts a file, as `post` does parameters.
   * @throws {ServiceError} when no whole answer came in time.
   */
  upload(path: string, file: Upload, limitMs: number): Promise<Answer>
  /**
   * Asks for what is there, in the same way.
   * @throws {ServiceError} when no whole answer came in time.
   */
  get(path: string, limitMs: number): Promise<Answer>
  close(): Promise<void>
}

/** Talks HTTP to the service at `settings.baseUrl`. The API key stays in this closure (R78). */
export function httpTransport(
  settings: ServiceSettings,
  dispatcher: Dispatcher = agentFor(settings),
): Transport {
  const { baseUrl, apiKey, timeoutMs, dialect } = settings
  const headers = { accept: 'application/json', authorization: `Bearer ${apiKey()}` }
  const posting = {
    ...headers,
    'content-type':
      dialect.contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded;charset=utf-8',
  }
  const encode = (parameters: Readonly<Record<string, string>>) =>
    dialect.contentType === 'json' ? JSON.stringify(parameters) : new URLSearchParams(parameters).toString()

  async function ask(path: string, asked: Asked, limitMs = timeoutMs): Promise<Answer> {
    const signal = AbortSignal.timeout(limitMs)
    let begun = false
    try {
      const response = await request(`${baseUrl}${path}`, {
        ...asked,
        dispatcher,
        signal,
        headersTimeout: limitMs,
        bodyTimeout: limitMs,
      })
      begun = true
      return {
        status: response.statusCode,
        contentType: single(response.headers['content-type']).toLowerCase(),
        challengesKey: response.headers['www-authenticate'] !== undefined,
        retryAfterSeconds: readRetryAfter(single(response.headers['retry-after'])),
        body: await response.body.text(),
      }
    } catch (error) {
      throw noAnswer(error, { begun, timedOut: signal.aborted, timeoutMs: limitMs })
    }
  }

  return {
    post(path, parameters, { idempotencyKey, limitMs } = {}) {
      const headers = idempotencyKey ? { ...posting, 'idempotency-key': idempotencyKey } : posting
      return ask(path, { method: 'POST', headers, body: encode(parameters) }, limitMs)
    },
    upload: (path, file, limitMs) =>
      ask(
        path,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': file.contentType, 'content-length': String(file.bytes) },
          body: Readable.from(file.read(), { objectMode: false }),
        },
        limitMs,
      ),
    get: (path, limitMs) => ask(path, { method: 'GET', headers }, limitMs),
    close: () => dispatcher.close(),
  }
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string | Readable
}

function agentFor({ maxConnections, timeoutMs }: ServiceSettings): Agent {
  return new Agent({
    connections: maxConnections,
    // A verify spends something: it must not queue behind another request, nor be repeated when that one breaks.
    pipelining: 1,
    maxResponseSize: MAX_ANSWER_BYTES,
    // HTTP/2 would put several calls on one socket. NODE_TLS_REJECT_UNAUTHORIZED=0 must not reach this far (R73);
    // an authority of one's own is named in NODE_EXTRA_CA_CERTS.
    allowH2: false,
    connect: { timeout: timeoutMs, rejectUnauthorized: true },
  })
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}

/** RFC 9110 §10.2.3: seconds, or a date. No lock lasts longer than a day. */
function readRetryAfter(header: string): number | undefined {
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header)
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), DAY_SECONDS)
}

function secondsUntil(date: string): number | undefined {
  // `Date.parse` takes almost anything with a digit in it for a date; HTTP dates begin with a weekday.
  const time = /^[A-Z][a-z]{2,8},? /.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.ceil((time - Date.now()) / 1000)
}
