import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { retryAfterMs } from '../../time.js'
import { EngineError, type Recording, type Transcriber, type Transcript } from './transcriber.js'

/** A server with the API of OpenAI's `/v1/audio/transcriptions`. */
export interface OpenAiSettings {
  /** The full address to post to. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Form fields in addition to the file: `model`, `language`, `prompt` … */
  readonly fields: Readonly<Record<string, string>>
}

const times = { start: z.number().nonnegative(), end: z.number().nonnegative() }
const word = z.object({ word: z.string(), ...times })
const responseSchema = z.object({
  text: z.string(),
  language: z.string().optional(),
  // Some servers have the words in their segments, others beside them.
  segments: z.array(z.object({ text: z.string(), ...times, words: z.array(word).nullish() })).nullish(),
  words: z.array(word).nullish(),
})

/** The statuses with which servers refuse a `response_format` that their model does not have. */
const UNSUPPORTED = [400, 415, 422]

/** Transcribes on a server: OpenAI, vLLM, speaches, LocalAI, or whisper.cpp at `/inference`. */
export function openAiTranscriber({ url, apiKey, fields }: OpenAiSettings): Transcriber {
  async function post(form: FormData, signal: AbortSignal): Promise<Response> {
    return await fetch(url, {
      method: 'POST',
      body: form,
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      // A redirect must not send the key to another address.
      redirect: 'manual',
      signal,
    }).catch((cause: unknown) => {
      if (signal.aborted) throw cause
      throw new EngineError('engine_unavailable', 'The transcription server could not be reached.', { cause })
    })
  }

  async function formFor({ path, language, prompt }: Recording, withTimes: boolean): Promise<FormData> {
    const form = new FormData()
    const given = { ...(language && { language: languageOf(language) }), ...(prompt && { prompt }) }
    for (const [name, value] of Object.entries({ response_format: 'json', ...fields, ...given })) {
      form.set(name, value)
    }
    if (withTimes) {
      form.set('response_format', 'verbose_json')
      for (const granularity of ['segment', 'word']) form.append('timestamp_granularities[]', granularity)
    }
    form.set('file', new Blob([await readFile(path)], { type: 'audio/wav' }), 'recording.wav')
    return form
  }

  return {
    name: new URL(url).host,
    givesTimes: true,
    async transcribe(recording) {
      const { signal, withTimes = false } = recording
      let response = await post(await formFor(recording, withTimes), signal)
      if (withTimes && UNSUPPORTED.includes(response.status)) {
        await response.body?.cancel()
        response = await post(await formFor(recording, false), signal)
      }
      const body = responseSchema.safeParse(await readJson(response))
      if (!body.success) {
        throw new EngineError('engine_failed', 'The response of the transcription server has no text.')
      }
      return transcriptIn(body.data)
    },
  }
}

function transcriptIn({ text, language, segments, words }: z.output<typeof responseSchema>): Transcript {
  const allWords = words ?? segments?.flatMap((segment) => segment.words ?? [])
  return {
    text: text.trim(),
    ...(language && { language }),
    ...(segments && {
      segments: segments.map(({ text, ...position }) => ({ text: text.trim(), ...inSeconds(position) })),
    }),
    ...(allWords?.length && {
      words: allWords.map(({ word, ...position }) => ({ word: word.trim(), ...inSeconds(position) })),
    }),
  }
}

function inSeconds({ start, end }: { readonly start: number; readonly end: number }) {
  return { startSeconds: start, endSeconds: Math.max(start, end) }
}

/** These servers know languages by their ISO 639 code, without a region. */
function languageOf(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag
}

/** The maximum size of a transcription server's response, in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/**
 * Reads the JSON in the response of a transcription server, and stops reading after 1 MB.
 * @throws {EngineError} for every other response
 */
async function readJson(response: Response): Promise<unknown> {
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
