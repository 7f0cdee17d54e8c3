import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { PUBLISHED } from '../options/dialect.js'
import type { ServiceSettings } from '../options/service.js'
import { requestIds } from '../protocol/request-id.js'
import { SERVICE_HEADER } from '../protocol/wire.js'
import { loadAgent } from './agent.js'
import { abortError, callFailed, createTooLargeError, timeoutError } from './call-failure.js'
import { readRetryAfter } from './retry-after.js'
import { loadTracing, runInSpan } from './span.js'
import type { Answer, CallLimits, Transport } from './transport.js'

/** The maximum size of a response, in bytes, unless a call says otherwise (R80). */
const MAX_ANSWER_BYTES = 64 * 1024
const EVENTS = 'text/event-stream'

/** Sends HTTP requests to the service at `settings.baseUrl`. The API key stays in this closure (R78). */
export function httpTransport(settings: ServiceSettings, given?: Dispatcher): Transport {
  const { baseUrl, apiKey, timeoutMs, dialect } = settings
  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/$/, '')
  const contentType = dialect === 'detect' ? PUBLISHED.contentType : dialect.contentType
  const loaded = Promise.all([given ?? loadAgent(settings), loadTracing()])
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
    const [dispatcher, tracing] = await loaded
    const asked = limits.onEvents ? addEvents(request) : request
    const id = requestIds.getStore()
    const headers = { ...asked.headers, ...(id && { 'x-request-id': id }) }
    const outgoing = { origin, path: `${basePath}${path}`, ...asked, headers }
    const bounds = {
      signal: limits.signal,
      onEvents: limits.onEvents,
      timeoutMs: limits.timeoutMs ?? timeoutMs,
      maxBytes: limits.maxBytes ?? MAX_ANSWER_BYTES,
    }
    const reply = tracing?.trace.getActiveSpan()
      ? await runInSpan(tracing, outgoing, (traced) =>
          exchange(dispatcher, { ...outgoing, headers: traced }, bounds),
        )
      : await exchange(dispatcher, outgoing, bounds)
    const wait = reply.headers['retry-after']
    return {
      status: reply.status,
      contentType: single(reply.headers['content-type']).toLowerCase(),
      challengesKey: reply.headers['www-authenticate'] !== undefined,
      isCountersign: reply.headers[SERVICE_HEADER] !== undefined,
      retryAfterSeconds: wait === undefined ? undefined : readRetryAfter(single(wait)),
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
    delete: (path) => send(path, { method: 'DELETE', headers }),
    close: async () => (await loaded)[0].close(),
  }
}

interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Record<string, string>
  readonly body?: string | Readable
}

function addEvents(request: TransportRequest): TransportRequest {
  const { headers } = request
  return { ...request, headers: { ...headers, accept: `${EVENTS}, ${headers.accept};q=0.9` } }
}

const utf8 = new TextDecoder()

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Sends one request and reads the response. The time limit includes the wait for a socket, where undici heeds no signal. */
function exchange(
  dispatcher: Dispatcher,
  request: TransportRequest & { readonly origin: string; readonly path: string },
  { timeoutMs: limitMs, maxBytes, signal, onEvents }: CallLimits & Record<'timeoutMs' | 'maxBytes', number>,
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
    const fail = (error: Error, timedOut = false) => {
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
        if (bytes > maxBytes) return controller.abort(createTooLargeError())
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
    // The timer above is the only time limit.
    dispatcher.dispatch({ headersTimeout: 0, bodyTimeout: 0, ...request }, handler)
  })
}

function isEventStream(head: Omit<Reply, 'body'> | undefined): boolean {
  return single(head?.headers['content-type']).toLowerCase().startsWith(EVENTS)
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}
