import * as z from 'zod'
import { readJson, refusalText, requestEngine, statusError } from './engine-server.js'
import {
  EngineError,
  LanguageError,
  type Recording,
  type Transcriber,
  type Transcript,
} from './transcriber.js'

/** A server with Deepgram's API for recordings. */
export interface DeepgramSettings {
  /** The full address to post to: `https://api.deepgram.com/v1/listen`. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Query parameters: `model`, `diarize` … */
  readonly fields: Readonly<Record<string, string>>
}

const confidence = z.number().min(0).max(1).nullish()
const times = { start: z.number().nonnegative(), end: z.number().nonnegative() }
const speaker = z.union([z.number().int(), z.string()]).nullish()
const responseSchema = z.object({
  results: z.object({
    channels: z
      .array(
        z.object({
          detected_language: z.string().nullish(),
          alternatives: z.array(
            z.object({
              transcript: z.string(),
              confidence,
              words: z
                .array(
                  z.object({
                    word: z.string(),
                    punctuated_word: z.string().nullish(),
                    ...times,
                    confidence,
                    speaker,
                  }),
                )
                .nullish(),
            }),
          ),
        }),
      )
      .min(1),
    utterances: z.array(z.object({ transcript: z.string(), ...times, confidence, speaker })).nullish(),
  }),
})

/** How Deepgram refuses a language that the model does not have. */
const NO_SUCH_LANGUAGE = /No such model\/language\/tier combination/i

/** Transcribes on a server with the API of Deepgram's `/v1/listen`. */
export function deepgram({ url, apiKey, fields }: DeepgramSettings): Transcriber {
  return {
    name: new URL(url).host,
    givesTimes: true,
    async transcribe(recording) {
      const { path, signal } = recording
      const response = await requestEngine(addressFor(url, fields, recording), {
        method: 'POST',
        headers: { 'content-type': 'audio/wav', ...(apiKey && { authorization: `Token ${apiKey}` }) },
        body: { path },
        signal,
      })
      if (response.status === 400) {
        if (recording.language && NO_SUCH_LANGUAGE.test(await refusalText(response)))
          throw new LanguageError()
        throw statusError(response)
      }
      const body = responseSchema.safeParse(await readJson(response))
      if (!body.success) {
        throw new EngineError('engine_failed', 'The response of the transcription server has no transcript.')
      }
      return transcriptIn(body.data)
    },
  }
}

function addressFor(url: string, fields: DeepgramSettings['fields'], recording: Recording): URL {
  const address = new URL(url)
  const { language, prompt, withTimes } = recording
  const parameters = { ...fields, ...(language && { language }), ...(withTimes && { utterances: 'true' }) }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.append(name, value)
  // Without either, the model hears everything as English.
  if (!('language' in parameters || 'detect_language' in parameters)) {
    address.searchParams.append('detect_language', 'true')
  }
  // Its models up to Nova-2 take keywords instead.
  const hint = fields.model?.startsWith('nova-3') ? 'keyterm' : 'keywords'
  for (const term of termsIn(prompt)) address.searchParams.append(hint, term)
  return address
}

/** The names in a prompt, which are separated by commas or lines. */
export function termsIn(prompt = ''): string[] {
  const terms = prompt.split(/[,;\n]/).map((term) => term.trim())
  return terms.filter(Boolean).slice(0, 100)
}

function transcriptIn({ results }: z.output<typeof responseSchema>): Transcript {
  const [channel] = results.channels
  const [best] = channel?.alternatives ?? []
  const language = channel?.detected_language
  return {
    text: best?.transcript.trim() ?? '',
    ...(language && { language }),
    ...(best?.transcript && typeof best.confidence === 'number' && { confidence: best.confidence }),
    ...(results.utterances && {
      segments: results.utterances.map(({ transcript, ...more }) => ({
        text: transcript.trim(),
        ...detailsIn(more),
      })),
    }),
    ...(best?.words?.length && {
      words: best.words.map(({ word, punctuated_word, ...more }) => ({
        word: (punctuated_word ?? word).trim(),
        ...detailsIn(more),
      })),
    }),
  }
}

function detailsIn(piece: {
  readonly start: number
  readonly end: number
  readonly confidence?: number | null | undefined
  readonly speaker?: number | string | null | undefined
}) {
  const { start, end, confidence, speaker } = piece
  return {
    startSeconds: start,
    endSeconds: Math.max(start, end),
    ...(typeof confidence === 'number' && { confidence }),
    ...(speaker !== null && speaker !== undefined && { speaker: String(speaker) }),
  }
}
