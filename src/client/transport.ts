import { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import type { ServiceSettings } from './address.js'
import { noAnswer } from './failure.js'
import { readRetryAfter } from './retry-after.js'
import type { Upload } from './upload.js'

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
    const { origin, pathname, search } = new URL(`${baseUrl}${path}`)
    const reply = await exchange(dispatcher, { ...asked, origin, path: `${pathname}${search}` }, limitMs)
    return {
      status: reply.status,
      contentType: single(reply.headers['content-type']).toLowerCase(),
      challengesKey: reply.headers['www-authenticate'] !== undefined,
      retryAfterSeconds: readRetryAfter(single(reply.headers['retry-after'])),
      body: reply.body,
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

const utf8 = new TextDecoder()

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/**
 * Sends one request and reads its whole answer. The time counts from now on, whatever is waited for: a free socket, a
 * connection, an answer. undici's own signal ends nothing before the request is on a socket.
 */
function exchange(
  dispatcher: Dispatcher,
  asked: Asked & { readonly origin: string; readonly path: string },
  limitMs: number,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let head: Omit<Reply, 'body'> | undefined
    let sent = false
    let isOver = false
    let abort: ((reason: Error) => void) | undefined
    const chunks: Buffer[] = []

    const end = () => {
      isOver = true
      clearTimeout(timer)
    }
    const fail = (error: unknown, timedOut = false) => {
      if (isOver) return
      end()
      if (asked.body instanceof Readable) asked.body.destroy()
      reject(noAnswer(error, { sent, begun: head !== undefined, timedOut, timeoutMs: limitMs }))
    }
    const timer = setTimeout(() => {
      const late = timeUp()
      fail(late, true)
      abort?.(late)
    }, limitMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        if (isOver) return controller.abort(timeUp())
        sent = true
        abort = (reason) => controller.abort(reason)
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) head = { status, headers }
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd() {
        if (isOver || !head) return
        end()
        resolve({ ...head, body: utf8.decode(Buffer.concat(chunks)) })
      },
      onResponseError: (_controller, error) => fail(error),
    }
    try {
      // The time limit above is the only one.
      dispatcher.dispatch({ ...asked, headersTimeout: 0, bodyTimeout: 0 }, handler)
    } catch (error) {
      fail(error)
    }
  })
}

function agentFor({ maxConnections, timeoutMs }: ServiceSettings): Agent {
  return new Agent({
    connections: maxConnections,
    // A verify consumes something: it must not queue behind another request, nor be repeated when that one breaks.
    pipelining: 1,
    maxResponseSize: MAX_ANSWER_BYTES,
    // HTTP/2 would put several calls on one socket. NODE_TLS_REJECT_UNAUTHORIZED=0 must not reach this far (R73);
    // an authority of one's own is named in NODE_EXTRA_CA_CERTS.
    allowH2: false,
    connect: { timeout: timeoutMs, rejectUnauthorized: true },
  })
}

function timeUp(): Error {
  return new DOMException('The time was up.', 'TimeoutError')
}

function single(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}
