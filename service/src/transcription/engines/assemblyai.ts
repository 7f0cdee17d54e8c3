import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { termsIn } from './deepgram.js'
import { readJson, refusalText, requestEngine, statusError } from './engine-server.js'
import {
  EngineError,
  LanguageError,
  primaryLanguage,
  type Recording,
  type Transcriber,
  type Transcript,
} from './transcriber.js'

/** A server with AssemblyAI's API for recordings. */
export interface AssemblyAiSettings {
  /** The address before `/upload` and `/transcript`: `https://api.assemblyai.com/v2`. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Members of the request: `speaker_labels`, `speech_models` … */
  readonly fields: Readonly<Record<string, string>>
  /** How often it asks whether the transcript is ready, in milliseconds. Defaults to 3,000. */
  readonly pollMs?: number
}

const POLL_MS = 3_000
/** How long deleting a transcript may take, which the caller does not wait for. */
const DELETE_MS = 30_000

const piece = {
  text: z.string(),
  // Milliseconds.
  start: z.number().nonnegative(),
  end: z.number().nonnegative(),
  confidence: z.number().min(0).max(1).nullish(),
  speaker: z.string().nullish(),
}
const pieces = z.array(z.object(piece)).nullish()
const uploadSchema = z.object({ upload_url: z.url() })
const sentencesSchema = z.object({ sentences: z.array(z.object(piece)) })
const transcriptSchema = z.object({
  id: z.string().regex(/^[\w-]{1,128}$/),
  status: z.enum(['queued', 'processing', 'completed', 'error']),
  text: z.string().nullish(),
  confidence: piece.confidence,
  language_code: z.string().nullish(),
  words: pieces,
  utterances: pieces,
  error: z.string().nullish(),
})

/** Transcribes on a server with the API of AssemblyAI: uploads the file, waits, and deletes what the server has. */
export function assemblyAi(settings: AssemblyAiSettings): Transcriber {
  const { url, apiKey, pollMs = POLL_MS } = settings
  const authorization: Record<string, string> = apiKey ? { authorization: apiKey } : {}
  const ask = async <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    request: Omit<Parameters<typeof requestEngine>[1], 'headers'>,
    contentType?: string,
  ): Promise<z.output<Schema>> => {
    const headers = { ...authorization, ...(contentType && { 'content-type': contentType }) }
    const response = await requestEngine(`${url}${path}`, { ...request, headers })
    if (response.status === 400) {
      // It names no parameter.
      if (path === '/transcript' && /language/i.test(await refusalText(response))) throw new LanguageError()
      throw statusError(response)
    }
    const body = schema.safeParse(await readJson(response))
    if (!body.success) {
      throw new EngineError('engine_failed', 'The response of the transcription server is not as expected.')
    }
    return body.data
  }

  /** What was uploaded goes with the transcript. A server that cannot be reached keeps both as long as its settings say. */
  function forget(id: string): void {
    const signal = AbortSignal.timeout(DELETE_MS)
    requestEngine(`${url}/transcript/${id}`, { method: 'DELETE', headers: authorization, signal }).then(
      (response) => response.body?.cancel(),
      () => {},
    )
  }

  return {
    name: new URL(url).host,
    givesTimes: true,
    async transcribe(recording) {
      const { path, signal, withTimes } = recording
      const file = { method: 'POST', body: { path }, signal } as const
      const { upload_url } = await ask(uploadSchema, '/upload', file, 'application/octet-stream')
      const body = JSON.stringify(requestFor(upload_url, settings.fields, recording))
      let transcript = await ask(
        transcriptSchema,
        '/transcript',
        { method: 'POST', body, signal },
        'application/json',
      )
      const { id } = transcript
      try {
        while (transcript.status === 'queued' || transcript.status === 'processing') {
          await wait(pollMs, undefined, { signal })
          transcript = await ask(transcriptSchema, `/transcript/${id}`, { method: 'GET', signal })
        }
        if (transcript.status === 'error') return withoutWords(transcript.error)
        const segments =
          withTimes && transcript.text && !transcript.utterances
            ? (await ask(sentencesSchema, `/transcript/${id}/sentences`, { method: 'GET', signal })).sentences
            : transcript.utterances
        return transcriptIn(transcript, segments)
      } finally {
        forget(id)
      }
    },
  }
}

function requestFor(audioUrl: string, fields: AssemblyAiSettings['fields'], { language, prompt }: Recording) {
  const set = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, memberOf(name, value)]))
  const terms = termsIn(prompt)
  return {
    ...set,
    audio_url: audioUrl,
    // Without either, the server takes everything for English.
    ...(language
      ? { language_code: primaryLanguage(language) }
      : !('language_code' in set) && !('language_detection' in set) && { language_detection: true }),
    ...(terms.length > 0 && { keyterms_prompt: terms }),
  }
}

/** The members that are lists even if they have one entry. */
const LISTS: readonly string[] = ['speech_models', 'keyterms_prompt']

function memberOf(name: string, text: string): unknown {
  if (LISTS.includes(name)) return text.split(',')
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d{1,9}$/.test(text) ? Number(text) : text
}

/** Silence is an error there if the language was to be detected. */
function withoutWords(error: string | null | undefined): Transcript {
  if (/no spoken audio/i.test(error ?? '')) return { text: '' }
  throw new EngineError('engine_failed', 'The transcription server could not transcribe the recording.')
}

function transcriptIn(
  { text, confidence, language_code: language, words }: z.output<typeof transcriptSchema>,
  segments: z.output<typeof pieces>,
): Transcript {
  return {
    text: text?.trim() ?? '',
    ...(language && { language: language.replaceAll('_', '-') }),
    ...(text && typeof confidence === 'number' && { confidence }),
    ...(segments && { segments: segments.map((each) => ({ text: each.text.trim(), ...detailsIn(each) })) }),
    ...(words?.length && { words: words.map((each) => ({ word: each.text.trim(), ...detailsIn(each) })) }),
  }
}

function detailsIn({ start, end, confidence, speaker }: NonNullable<z.output<typeof pieces>>[number]) {
  return {
    startSeconds: start / 1_000,
    endSeconds: Math.max(start, end) / 1_000,
    ...(typeof confidence === 'number' && { confidence }),
    ...(speaker && { speaker }),
  }
}
