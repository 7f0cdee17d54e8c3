import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { extname } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { retryAfterMs } from '../../time.js'
import { EngineError } from './transcriber.js'

/** A form with a recording, for a transcription server. */
export interface RecordingForm {
  readonly headers: Readonly<Record<string, string>>
  /** The fields before the file. */
  readonly fields: readonly (readonly [string, string])[]
  /** The path of the WAV or FLAC file, which is read while it is sent: hours of sound must not be in memory. */
  readonly path: string
  readonly signal: AbortSignal
}

/**
 * Posts a multipart form (RFC 7578), and resolves to the response as soon as its head has arrived. Redirects are not followed, because
 * they could send the key to another address.
 * @throws {EngineError} if the server cannot be reached
 */
export async function postRecording(url: string, form: RecordingForm): Promise<Response> {
  try {
    const message = await send(new URL(url), form)
    const { statusCode: status = 502, headers } = message
    // A `Response` with one of these has no body.
    const isEmpty = [101, 103, 204, 205, 304].includes(status)
    if (isEmpty) message.resume()
    const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    return new Response(isEmpty ? null : (Readable.toWeb(message) as ReadableStream), {
      status: Math.max(status, 200),
      headers: given,
    })
  } catch (cause) {
    if (form.signal.aborted) throw form.signal.reason
    throw new EngineError('engine_unavailable', 'The transcription server could not be reached.', { cause })
  }
}

async function send(url: URL, { headers, fields, path, signal }: RecordingForm): Promise<IncomingMessage> {
  const boundary = `countersign-${randomBytes(18).toString('hex')}`
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${encodeQuoted(name)}"\r\n\r\n${value}\r\n`,
  )
  const format = extname(path).slice(1)
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="recording.${format}"\r\n`
  const before = Buffer.from(`${parts.join('')}${file}Content-Type: audio/${format}\r\n\r\n`)
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    signal,
    headers: {
      ...headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': before.length + (await stat(path)).size + after.length,
    },
  })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  // The server may answer, and close the connection, before it has received everything.
  const sent = pipeline(Readable.from(streamContent(before, path, after)), new PassThrough(), outgoing)
  await Promise.race([response, sent.then(() => response)])
  sent.catch(() => {})
  return response
}

async function* streamContent(before: Buffer, path: string, after: Buffer) {
  yield before
  yield* createReadStream(path)
  yield after
}

/** Percent-encodes quotes and line breaks, as RFC 7578 §4.2 and the HTML standard require. */
function encodeQuoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** The maximum size of a transcription server's response, in bytes: four hours of words have up to 12 MB. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

/** Reads the JSON in a response of up to 32 MB that refuses nothing. Throws an `EngineError` for every other one. */
export async function readResponse(response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? 'no content type'
  if (/^text\/html\b/i.test(contentType)) {
    await response.body?.cancel()
    throw new EngineError('engine_failed', 'The transcription server responded with a web page.')
  }
  try {
    return JSON.parse(await readBounded(response, MAX_RESPONSE_BYTES))
  } catch (error) {
    if (error instanceof EngineError) throw error
    if (error instanceof SyntaxError) {
      throw new EngineError('engine_failed', 'The response of the transcription server is not JSON.')
    }
    // The error that a stream throws when the connection breaks.
    if (error instanceof Error && error.name !== 'AbortError') {
      throw new EngineError('engine_unavailable', 'The response of the transcription server broke off.')
    }
    throw error
  }
}

/** The text of a response that refuses something; empty if it is none of up to 64 KB. */
export async function refusalText(response: Response): Promise<string> {
  return readBounded(response, 64 * 1024).catch(() => '')
}

/** The failure that a status means, with the reason of the server if there is one. */
export function createStatusError({ status, headers }: Response, reason?: string): EngineError {
  const message = `The transcription server responded with ${status}${reason ? `: ${reason}` : '.'}`
  // A wrong key, model or path does not pass by itself.
  const isPassing = status >= 500 || [408, 425, 429].includes(status)
  if (!isPassing) return new EngineError('engine_failed', message)
  const waitMs = retryAfterMs(headers.get('retry-after') ?? undefined)
  return new EngineError('engine_unavailable', message, {
    retryAfterSeconds: waitMs === undefined ? undefined : waitMs / 1_000,
  })
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early closes the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      throw new EngineError('engine_failed', 'The response of the transcription server is larger than 32 MB.')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
