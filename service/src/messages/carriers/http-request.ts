import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { readJson, readObject } from '../../json.js'
import { isForbiddenAddress } from '../../safe-fetch/public-agent.js'
import { traceHeaders } from '../../telemetry/log/tracing.js'
import { retryAfterMs } from '../../time.js'
import { type ContactFault, DeliveryError } from '../delivery/carrier.js'

const MAX_BODY_BYTES = 16_384

// Not `fetch`, which costs more than everything else that a message needs.
const plain = new http.Agent({ keepAlive: true })
const encrypted = new https.Agent({ keepAlive: true })

/** A response, whatever its status. */
export interface HttpResponse {
  readonly status: number
  /** The first 16 KB. */
  readonly body: string
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined
  /** How long the server wants to wait for the next request, from its `Retry-After`. */
  readonly retryAfterMs: number | undefined
}

/** Sends one HTTP request in the current trace. Redirects are not followed. Throws a `DeliveryError` naming `server` without a response. */
export async function httpRequest(
  server: string,
  url: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly headers: Record<string, string>
    readonly body?: string
    /** Decides what the request may connect to. Defaults to everything. */
    readonly agent?: http.Agent | undefined
  },
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    const response = await sendRequest(url, request, signal)
    return {
      status: response.statusCode ?? 0,
      body: await readBeginning(response),
      header: (name) => response.headers[name]?.toString(),
      retryAfterMs: retryAfterMs(response.headers['retry-after']),
    }
  } catch (error) {
    if (isForbiddenAddress(error)) {
      throw new DeliveryError(`${server} has an address that is not public.`, 'carrier')
    }
    throw new DeliveryError(`${server} did not respond (${describeReason(error, signal)}).`, 'outage')
  }
}

/** Posts an object as JSON, as `httpRequest` does. */
export function postJson(
  server: string,
  url: string,
  { headers, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body: object },
  signal: AbortSignal,
): Promise<HttpResponse> {
  const request = { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
  return httpRequest(server, url, { method: 'POST', ...request }, signal)
}

/**
 * The meaning of a refusal by an API: an outage if it may succeed later (`isLoad`: the API says so), else the contact's fault or the
 * carrier's. After a success that cannot be read (`isUnreadable`), the message may have been sent, unless a web page answered.
 */
export function refusalError(
  message: string,
  response: HttpResponse,
  found: { isLoad?: boolean; isUnreadable?: boolean; contact?: ContactFault | undefined },
): DeliveryError {
  const { status, retryAfterMs } = response
  const { isLoad, isUnreadable, contact } = found
  const mayHaveSent = isUnreadable && isSuccess(response)
  if (isTemporary(status) || isLoad || (mayHaveSent && isWebPage(response)))
    return new DeliveryError(message, 'outage', { retryAfterMs })
  return contact
    ? new DeliveryError(message, 'contact', { contact })
    : new DeliveryError(message, 'carrier', { mayHaveSent })
}

/** Whether the same request may succeed later. */
export function isTemporary(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status)
}

/** Whether a response has a status of success. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300
}

/** Whether a response is a web page, so of a proxy or for a sign-in, and not of the API. */
export function isWebPage({ body }: HttpResponse): boolean {
  return /^\s*<(!doctype html|html|head|body)\b/i.test(body)
}

function sendRequest(
  url: string,
  { method, headers, body, agent }: Parameters<typeof httpRequest>[2],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isPlain = url.startsWith('http:')
    const options = {
      method,
      headers: { ...headers, ...traceHeaders() },
      signal,
      agent: agent ?? (isPlain ? plain : encrypted),
    }
    const request = (isPlain ? http : https).request(url, options, resolve)
    request.on('error', reject).end(body)
  })
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Ending the loop early closes the connection.
  for await (const chunk of response) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_BODY_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8')
}

function describeReason(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout'
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'connection lost'
}

/** The members of a JSON object in a response; none when it is anything else. */
export function jsonFields(body: string): Readonly<Record<string, unknown>> {
  return readObject(readJson(body))
}

/** The first item of a value that should be a list of objects. */
export function firstItem(value: unknown): Readonly<Record<string, unknown>> {
  return Array.isArray(value) ? readObject(value[0]) : {}
}

/** A carrier's id for a message, if it can be one. */
export function readMessageId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined
}

/** The cost of a message in the words of a carrier, as a number without sign and trailing zeros; `undefined` when it is none. */
export function priceFrom(given: unknown): string | undefined {
  const text = typeof given === 'number' ? String(given) : given
  const [, amount] = typeof text === 'string' ? (/^-?(\d{1,6}(?:\.\d{1,8})?)$/.exec(text) ?? []) : []
  return amount?.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}
