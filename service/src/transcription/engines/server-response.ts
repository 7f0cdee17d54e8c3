import { retryAfterMs } from '../../retry-after.js'
import { EngineError } from './engine-error.js'

/** The maximum size of a transcription server's response, in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/**
 * Reads the JSON in the response of a transcription server, and stops reading after 1 MB.
 * @throws {EngineError} for every other response
 */
export async function readJson(response: Response): Promise<unknown> {
  if (!response.ok) {
    await response.body?.cancel()
    throw statusError(response)
  }
  const contentType = response.headers.get('content-type') ?? 'no content type'
  if (/^text\/html\b/i.test(contentType)) {
    await response.body?.cancel()
    throw new EngineError('engine_failed', 'The transcription server responded with a web page.')
  }
  try {
    return JSON.parse(await readBounded(response))
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new EngineError('engine_failed', 'The response of the transcription server is not JSON.')
    }
    // What `fetch` throws when the connection breaks.
    if (error instanceof TypeError) {
      throw new EngineError('engine_unavailable', 'The response of the transcription server broke off.')
    }
    throw error
  }
}

function statusError({ status, headers }: Response): EngineError {
  const message = `The transcription server responded with ${status}.`
  // A wrong key, model or path does not pass by itself.
  const isPassing = status >= 500 || [408, 425, 429].includes(status)
  if (!isPassing) return new EngineError('engine_failed', message)
  const waitMs = retryAfterMs(headers.get('retry-after') ?? undefined)
  return new EngineError('engine_unavailable', message, {
    retryAfterSeconds: waitMs === undefined ? undefined : waitMs / 1_000,
  })
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early closes the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_RESPONSE_BYTES) {
      throw new EngineError('engine_failed', 'The response of the transcription server is larger than 1 MB.')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
