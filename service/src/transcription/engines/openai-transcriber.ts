import * as z from 'zod'
import { readJson } from '../../json.js'
import { createStatusError, postRecording, readResponse, refusalText } from './engine-server.js'
import { cutParts, type RecordingPart, type UploadRules } from './recording-parts.js'
import {
  EngineError,
  LanguageError,
  primaryLanguage,
  type Recording,
  type Transcriber,
  type Transcript,
} from './transcriber.js'

/** A server with the API of OpenAI's `/v1/audio/transcriptions`. */
export interface OpenAiSettings {
  /** The full address to post to. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Form fields in addition to the file: `model`, `language`, `prompt` … */
  readonly fields: Readonly<Record<string, string>>
  readonly upload: UploadRules
}

const times = { start: z.number().nonnegative(), end: z.number().nonnegative() }
const share = z.number().min(0).max(1).nullish()
// OpenAI gives words no confidence; speaches and whisper.cpp call it `probability`.
const word = z.object({ word: z.string(), ...times, probability: share, speaker: z.string().nullish() })
const segment = z.object({
  text: z.string(),
  ...times,
  /** The average logarithm of the probabilities of its tokens. */
  avg_logprob: z.number().nullish(),
  /** With the format `diarized_json`. */
  speaker: z.string().nullish(),
  words: z.array(word).nullish(),
})
const responseSchema = z.object({
  text: z.string(),
  language: z.string().optional(),
  // Some servers have the words in their segments, others beside them.
  segments: z.array(segment).nullish(),
  words: z.array(word).nullish(),
})

/** The statuses with which servers refuse a `response_format` that their model does not have. */
const UNSUPPORTED = [400, 415, 422]

/** Transcribes on a server: OpenAI, vLLM, speaches, LocalAI, or whisper.cpp at `/inference`. */
export function openAiTranscriber({ url, apiKey, fields, upload }: OpenAiSettings): Transcriber {
  function post(path: string, recording: Recording, withTimes: boolean): Promise<Response> {
    const { language, prompt, signal } = recording
    const given = { ...(language && { language: primaryLanguage(language) }), ...(prompt && { prompt }) }
    const format = withTimes && { response_format: 'verbose_json' }
    return postRecording(url, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      fields: [
        ...Object.entries({ response_format: 'json', ...fields, ...format, ...given }),
        ...(withTimes ? ['segment', 'word'].map((each) => ['timestamp_granularities[]', each] as const) : []),
      ],
      path,
      signal,
    })
  }

  /** The error that stands for a refusal, with its reason unless that repeats a secret. */
  async function readRefusal(response: Response, { language, prompt }: Recording): Promise<Error> {
    const { error, detail } = refusalSchema.safeParse(readJson(await refusalText(response))).data ?? {}
    const { message, param } = typeof error === 'object' ? error : { message: error }
    if (language && param === 'language' && UNSUPPORTED.includes(response.status)) return new LanguageError()
    const reason = (message || detail || '').replace(/[\p{C}\s]+/gu, ' ').trim()
    const isAboutKey = [401, 403].includes(response.status)
    const repeats = [apiKey, prompt].some((secret) => secret && reason.includes(secret))
    return createStatusError(response, isAboutKey || repeats ? undefined : reason.slice(0, 200))
  }

  return {
    name: new URL(url).host,
    givesTimes: true,
    async transcribe(recording) {
      let { withTimes = false } = recording
      const parts = await cutParts(recording, upload)
      const transcripts: Transcript[] = []
      for (const [index, part] of parts.entries()) {
        try {
          let response = await post(part.path, recording, withTimes)
          if (withTimes && UNSUPPORTED.includes(response.status)) {
            await response.body?.cancel()
            withTimes = false
            response = await post(part.path, recording, withTimes)
          }
          if (!response.ok) throw await readRefusal(response, recording)
          const body = responseSchema.safeParse(await readResponse(response))
          if (!body.success) {
            throw new EngineError('engine_failed', 'The response of the transcription server has no text.')
          }
          transcripts.push(readTranscript(body.data, part))
        } catch (error) {
          if (!(error instanceof EngineError)) throw error
          const { code, message, retryAfterSeconds, cause } = error
          const detail = parts.length > 1 ? `Part ${index + 1} of ${parts.length}: ${message}` : message
          throw new EngineError(code, detail, { cause, retryAfterSeconds, detail })
        }
      }
      return joinTranscripts(transcripts)
    },
  }
}

function joinTranscripts(transcripts: readonly Transcript[]): Transcript {
  const [first, ...others] = transcripts
  if (first && others.length === 0) return first
  const spoken = transcripts.filter(({ text }) => text !== '')
  const language = spoken.find((transcript) => transcript.language)?.language
  return {
    text: spoken.map(({ text }) => text).join(' '),
    ...(language && { language }),
    ...(spoken.every(({ segments }) => segments) && {
      segments: spoken.flatMap(({ segments = [] }) => segments),
    }),
    ...(spoken.every(({ words }) => words) && { words: spoken.flatMap(({ words = [] }) => words) }),
  }
}

function readTranscript(
  { text, language, segments, words }: z.output<typeof responseSchema>,
  part: RecordingPart,
): Transcript {
  const allWords = words ?? segments?.flatMap((segment) => segment.words ?? [])
  return {
    text: text.trim(),
    ...(language && { language }),
    ...(segments && {
      segments: segments.map(({ text, avg_logprob: logarithm, ...more }) => ({
        text: text.trim(),
        ...readDetails(part, {
          ...more,
          probability: typeof logarithm === 'number' ? Math.exp(logarithm) : undefined,
        }),
      })),
    }),
    ...(allWords?.length && {
      words: allWords.map(({ word, ...more }) => ({ word: word.trim(), ...readDetails(part, more) })),
    }),
  }
}

function readDetails(part: RecordingPart, piece: Omit<z.output<typeof word>, 'word'>) {
  const { start, end, probability, speaker } = piece
  // An engine may hear a word end in the silence with which it pads a part.
  const addStart = (seconds: number) => Math.min(Math.round((part.start + seconds) * 1_000) / 1_000, part.end)
  return {
    startSeconds: addStart(start),
    endSeconds: addStart(Math.max(start, end)),
    ...(typeof probability === 'number' && { confidence: Math.min(probability, 1) }),
    ...(speaker && { speaker }),
  }
}

const text = z.string().optional().catch(undefined)
/** A refusal: OpenAI names the parameter that it refuses, others give a text. */
const refusalSchema = z.object({
  error: z.union([z.string(), z.object({ message: text, param: text })]).catch(''),
  detail: text,
})
