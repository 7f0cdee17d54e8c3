import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ServiceError } from '../errors.js'
import { PUBLISHED } from '../options/dialect.js'
import type { ServiceSettings } from '../options/service.js'
import { SERVICE_HEADER } from '../protocol/wire.js'

/** The maximum size of a response, in bytes, unless a call says otherwise (R80). */
const MAX_ANSWER_BYTES = 64 * 1024
/** The maximum that a call may name. */
const MAX_BYTES = 2 * 1024 * 1024
/** How many connections to the service may be open at once. */
const MAX_CONNECTIONS = 64
const EVENTS = 'text/event-stream'

/** A response that has not been validated. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  /** Whether the response has a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
  readonly challengesKey: boolean
  /** Whether the response has the header by which the Countersign service identifies itself. */
  readonly isCountersign: boolean
  /** The wait in `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

/** The bounds of one call. */
export interface CallLimits {
  /** Time limit for the whole call. Defaults to the option `timeoutMs`. */
  readonly timeoutMs?: number
  /** The maximum size of the response, in bytes. Defaults to 64 KB. */
  readonly maxBytes?: number | undefined
  /** Ends the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Asks for server-sent events, and receives their text while it arrives. An error that it throws ends the call. */
  readonly onEvents?: ((text: string) => void) | undefined
}

/** A body that is sent while it is read. */
export interface Upload {
  readonly contentType: string
  readonly bytes: number
  read(): AsyncIterable<Uint8Array>
}

interface CallOptions extends CallLimits {
  readonly idempotencyKey?: string | undefined
}

/** The only access to the network. */
export interface Transport {
  /**
   * Sends a POST request, without retries or redirects (R74, R76). With `idempotencyKey` it is carried out once, even if a proxy
   * repeats it. @throws {ServiceError}, as all of these, if there is no complete response in time.
   */
  post(path: string, parameters: Readonly<Record<string, string>>, options?: CallOptions): Promise<Answer>
  /** Sends a POST request with a file. */
  upload(path: string, file: Upload, limits: CallLimits): Promise<Answer>
  /** Sends a GET request. `withKey: false` leaves the API key out. */
  get(
    path: string,
    timeoutMs: number,
    options?: { readonly withKey?: boolean; readonly maxBytes?: number | undefined },
  ): Promise<Answer>
  /** Sends a DELETE request. */
  delete(path: string, timeoutMs: number): Promise<Answer>
  /** Resolves when a connection of another kind may be made. @throws {ServiceError} if it may not. */
  identify?(): Promise<void>
  close(): Promise<void>
}

/** Sends HTTP requests to the service at `settings.baseUrl`. The API key stays in this closure (R78). */
export function httpTransport(settings: ServiceSettings, given?: Dispatcher): Transport {
  const { baseUrl, apiKey, timeoutMs, dialect } = settings
  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/$/, '')
  const contentType = dialect === 'detect' ? PUBLISHED.contentType : dialect.contentType
  const loaded = Promise.all([given ?? loadAgent(settings), loadExchange()])
  // A call that needs it reports the failure.
  loaded.catch(() => {})
  const headers = { accept: 'application/json', authorization: `Bearer ${apiKey()}` }
  const posting = {
    ...headers,
    'content-type':
      contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded;charset=utf-8',
  }
  const encode = (parameters: Readonly<Record<string, string>>) =>
    contentType === 'json' ? JSON.stringify(parameters) : new URLSearchParams(parameters).toString()

  async function send(path: string, request: TransportRequest, limits: CallLimits = {}): Promise<Answer> {
    const [dispatcher, call] = await loaded
    const reply = await call(
      dispatcher,
      { origin, path: `${basePath}${path}`, ...(limits.onEvents ? withEvents(request) : request) },
      {
        signal: limits.signal,
        onEvents: limits.onEvents,
        timeoutMs: limits.timeoutMs ?? timeoutMs,
        maxBytes: limits.maxBytes ?? MAX_ANSWER_BYTES,
      },
    )
    return {
      status: reply.status,
      contentType: single(reply.headers['content-type']).toLowerCase(),
      challengesKey: reply.headers['www-authenticate'] !== undefined,
      isCountersign: reply.headers[SERVICE_HEADER] !== undefined,
      retryAfterSeconds: readRetryAfter(single(reply.headers['retry-after'])),
      body: reply.body,
    }
  }

  return {
    post(path, parameters, { idempotencyKey, ...limits } = {}) {
      const headers = idempotencyKey ? { ...posting, 'idempotency-key': idempotencyKey } : posting
      return send(path, { method: 'POST', headers, body: encode(parameters) }, limits)
    },
    upload: (path, file, limits) =>
      send(
        path,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': file.contentType, 'content-length': String(file.bytes) },
          body: Readable.from(file.read(), { objectMode: false }),
        },
        limits,
      ),
    get: (path, limitMs, { withKey = true, maxBytes } = {}) =>
      send(
        path,
        { method: 'GET', headers: withKey ? headers : { accept: headers.accept } },
        { timeoutMs: limitMs, maxBytes },
      ),
    delete: (path, limitMs) => send(path, { method: 'DELETE', headers }, { timeoutMs: limitMs }),
    close: async () => (await loaded)[0].close(),
  }
}

/** The same transport, with a look at every response. */
export function observedTransport(transport: Transport, onAnswer: (answer: Answer) => void): Transport {
  const observed = async (call: Promise<Answer>) => {
    const answer = await call
    onAnswer(answer)
    return answer
  }
  return {
    post: (...call) => observed(transport.post(...call)),
    upload: (...call) => observed(transport.upload(...call)),
    get: (...call) => observed(transport.get(...call)),
    delete: (...call) => observed(transport.delete(...call)),
    close: () => transport.close(),
  }
}

interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Record<string, string>
  readonly body?: string | Readable
}

function withEvents(request: TransportRequest): TransportRequest {
  const { headers } = request
  return { ...request, headers: { ...headers, accept: `${EVENTS}, ${headers.accept};q=0.9` } }
}

const utf8 = new TextDecoder()

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

interface Limits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Sends one request and reads the response. The time limit includes the wait for a socket, where undici heeds no signal. */
function exchange(
  dispatcher: Dispatcher,
  request: TransportRequest & { readonly origin: string; readonly path: string },
  { timeoutMs: limitMs, maxBytes, signal, onEvents }: CallLimits & Limits,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let head: Omit<Reply, 'body'> | undefined
    let sent = false
    let isDone = false
    let abort: ((reason: Error) => void) | undefined
    const chunks: Buffer[] = []
    let bytes = 0
    const decoder = new TextDecoder()

    const finish = () => {
      isDone = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    /** Ends the call with an error of the caller. */
    const cancel = (reason: unknown) => {
      finish()
      if (request.body instanceof Readable) request.body.destroy()
      reject(reason)
      abort?.(abortError())
    }
    const onAbort = () => cancel(signal?.reason)
    const fail = (error: unknown, timedOut = false) => {
      finish()
      if (request.body instanceof Readable) request.body.destroy()
      reject(callFailed(error, { sent, begun: head !== undefined, timedOut, timeoutMs: limitMs }))
    }
    const timer = setTimeout(() => {
      const timeout = timeoutError()
      fail(timeout, true)
      abort?.(timeout)
    }, limitMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        if (isDone) return controller.abort(abortError())
        sent = true
        abort = (reason) => controller.abort(reason)
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) head = { status, headers }
      },
      onResponseData(controller, chunk) {
        bytes += chunk.length
        if (bytes > maxBytes) return controller.abort(tooLargeError())
        chunks.push(chunk)
        if (!onEvents || !isEventStream(head)) return
        try {
          onEvents(decoder.decode(chunk, { stream: true }))
        } catch (error) {
          cancel(error)
        }
      },
      onResponseEnd() {
        if (!head) return
        finish()
        resolve({ body: utf8.decode(Buffer.concat(chunks)), ...head })
      },
      onResponseError: (_controller, error) => fail(error),
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    try {
      // The timer above is the only time limit.
      dispatcher.dispatch({ headersTimeout: 0, bodyTimeout: 0, ...request }, handler)
    } catch (error) {
      fail(error)
    }
  })
}

/** `exchange`, which continues the trace of the host if OpenTelemetry's API package is installed. */
async function loadExchange(): Promise<typeof exchange> {
  try {
    return tracedExchange(await import('@opentelemetry/api'))
  } catch {
    return exchange
  }
}

/** By this key, OpenTelemetry's SDK and its instrumentations know that a request is traced already. */
const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/** `exchange` as a span of the active trace, continued by `traceparent`. By hand: a propagator may add baggage with user data. */
function tracedExchange(api: typeof import('@opentelemetry/api')): typeof exchange {
  const { context, trace, isSpanContextValid, SpanKind, SpanStatusCode } = api
  return async (dispatcher, request, limits) => {
    const active = context.active()
    if (!trace.getSpan(active)) return exchange(dispatcher, request, limits)
    const { method, origin, path } = request
    // Other paths can contain the id of a challenge or a job.
    const name = method === 'POST' ? `POST ${path}` : method
    const attributes = { 'http.request.method': method, 'server.address': new URL(origin).hostname }
    const span = trace.getTracer('countersign').startSpan(name, { kind: SpanKind.CLIENT, attributes }, active)
    const { traceId, spanId, traceFlags, traceState, ...rest } = span.spanContext()
    const traced = isSpanContextValid({ traceId, spanId, traceFlags, ...rest }) && {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      ...(traceState && { tracestate: traceState.serialize() }),
    }
    const headers = { ...request.headers, ...traced }
    try {
      const reply = await context.with(active.setValue(SUPPRESS_TRACING, true), () =>
        exchange(dispatcher, { ...request, headers }, limits),
      )
      span.setAttribute('http.response.status_code', reply.status)
      if (reply.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      return reply
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      if (error instanceof ServiceError) span.setAttribute('error.type', error.code)
      throw error
    } finally {
      span.end()
    }
  }
}

/** Loads undici after the app has started instead of while it imports this package, which would take twice as long. */
async function loadAgent({ timeoutMs }: ServiceSettings): Promise<Dispatcher> {
  const { Agent } = await import('undici')
  return new Agent({
    connections: MAX_CONNECTIONS,
    // A verify request uses up its code: it must not wait behind another request, nor be repeated when that one fails.
    pipelining: 1,
    maxResponseSize: MAX_BYTES,
    // HTTP/2 would put several calls on one socket. NODE_TLS_REJECT_UNAUTHORIZED=0 must have no effect here (R73);
    // NODE_EXTRA_CA_CERTS adds a private certificate authority.
    allowH2: false,
    connect: { timeout: timeoutMs, rejectUnauthorized: true },
  })
}

function isEventStream(head: Omit<Reply, 'body'> | undefined): boolean {
  return single(head?.headers['content-type']).toLowerCase().startsWith(EVENTS)
}

function abortError(): Error {
  return new Error('The call was ended.')
}

function tooLargeError(): Error {
  return Object.assign(new Error('The response is too large.'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' })
}

function timeoutError(): Error {
  return new DOMException('The request timed out.', 'TimeoutError')
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}

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
function callFailed(error: unknown, { sent, begun, timedOut, timeoutMs }: Progress): ServiceError {
  const { name, code } = describe(error)
  const options = { cause: withoutResponse(error), effect: sent ? 'unknown' : 'none' } as const
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
      `The response of the MFA service is incomplete, too large or not HTTP${code && ` (${code})`}. Check that service.baseUrl is the address of its API.`,
      options,
    )
  }
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service could not be reached${code && ` (${code})`}. Check that it is running and that service.baseUrl is correct.`,
    options,
  )
}

const RESPONSE_ERRORS = new Set([
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
])

/** The error without its other properties: a parser error holds the raw response, with key and code (R78, R84). */
function withoutResponse(error: unknown): Error {
  const { name, code, message } = describe(error)
  return Object.assign(new Error(message), { name, ...(code && { code }) })
}

function describe(error: unknown): { name: string; code: string; message: string } {
  if (!(error instanceof Error)) return { name: 'Error', code: '', message: '' }
  const code: unknown = Reflect.get(error, 'code')
  return { name: error.name, code: typeof code === 'string' ? code : '', message: error.message }
}

const DAY_SECONDS = 86_400

/** The wait in a `Retry-After` header, in seconds from 1 to a day, from seconds or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(header: string): number | undefined {
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header)
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), DAY_SECONDS)
}

function secondsUntil(date: string): number | undefined {
  // `Date.parse` accepts almost anything that contains a digit; HTTP dates begin with a weekday.
  const time = /^[A-Z][a-z]{2,8},? /.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.ceil((time - Date.now()) / 1000)
}
