import * as z from 'zod'
import { jsonIn } from '../../telemetry/json.js'
import { postRecording, readJson, refusalText, statusError } from './engine-server.js'
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
export function openAiTranscriber({ url, apiKey, fields }: OpenAiSettings): Transcriber {
  function post({ path, language, prompt, signal }: Recording, withTimes: boolean): Promise<Response> {
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

  return {
    name: new URL(url).host,
    givesTimes: true,
    async transcribe(recording) {
      const { withTimes = false } = recording
      let response = await post(recording, withTimes)
      if (withTimes && UNSUPPORTED.includes(response.status)) {
        await response.body?.cancel()
        response = await post(recording, false)
      }
      if (UNSUPPORTED.includes(response.status) && recording.language) {
        if (refusalSchema.safeParse(jsonIn(await refusalText(response))).success) throw new LanguageError()
        throw statusError(response)
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
      segments: segments.map(({ text, avg_logprob: logarithm, ...more }) => ({
        text: text.trim(),
        ...detailsIn({
          ...more,
          probability: typeof logarithm === 'number' ? Math.exp(logarithm) : undefined,
        }),
      })),
    }),
    ...(allWords?.length && {
      words: allWords.map(({ word, ...more }) => ({ word: word.trim(), ...detailsIn(more) })),
    }),
  }
}

function detailsIn(piece: {
  readonly start: number
  readonly end: number
  readonly probability?: number | null | undefined
  readonly speaker?: string | null | undefined
}) {
  const { start, end, probability, speaker } = piece
  return {
    startSeconds: start,
    endSeconds: Math.max(start, end),
    ...(typeof probability === 'number' && { confidence: Math.min(probability, 1) }),
    ...(speaker && { speaker }),
  }
}

/** OpenAI names the parameter that it refuses. */
const refusalSchema = z.object({ error: z.object({ param: z.literal('language') }) })
