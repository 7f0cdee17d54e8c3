import * as z from 'zod'
import { TRANSCRIPTION_PROBLEMS } from '../protocol/wire.js'
import { createTextRule, createWordRule } from '../protocol/wire-parts.js'
import { streamLanguage } from './stream.js'
import { TRANSCRIPT_FORMATS, TRANSCRIPTION_STATES, type TranscriptionRefusal } from './transcription.js'

/** The path of `POST` requests for a transcript. */
export const TRANSCRIBE_PATH = '/v1/transcribe'

/** Whether the `file` of a `TranscribeRequest` is a URL; otherwise it is a path. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}

/** The body of `POST /v1/transcribe` for a file at an address. An upload is multipart, and its part is named `file` too. */
export const transcribeBody = z.object({
  file: createTextRule(2_048).meta({
    description: 'Address of the recording: https, public, and answering with the file itself.',
    examples: ['https://media.example/call.mp3'],
  }),
  language: streamLanguage.optional().meta({
    description:
      'The language of the speech, as a BCP 47 tag. An engine that does not have it refuses the recording.',
    examples: ['en'],
  }),
  prompt: createTextRule(1_000)
    .optional()
    .meta({
      description: 'Text that helps the engine, such as names that occur in the recording.',
      examples: ['Countersign, TOTP, passkey'],
    }),
  response_format: createWordRule(TRANSCRIPT_FORMATS)
    .optional()
    .meta({
      description:
        'The form of the transcript; `json` by default. `verbose_json` adds the times of segments and words, if the engine gives them; `srt` and `vtt` are subtitles.',
      examples: ['verbose_json'],
    }),
})

const position = (what: string, example: number) =>
  z
    .number()
    .nonnegative()
    .meta({ description: what, examples: [example] })

const times = {
  start: position('Where it begins in the recording, in seconds.', 0.47),
  end: position('Where it ends in the recording, in seconds.', 2.12),
}

const confidence = (what: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: `How sure the engine is of ${what}, from 0 to 1, if it says so.`, examples: [0.93] })

const speaker = z
  .string()
  .optional()
  .meta({ description: 'Who speaks, if the engine tells speakers apart.', examples: ['A'] })

/** The response to `POST /v1/transcribe` with status 200, as the self-hosted service sends it. */
export const transcribeAnswer = z.object({
  text: z.string().meta({
    description: 'The transcript; empty if no words were recognized.',
    examples: ['go forward ten meters'],
  }),
  duration: z
    .number()
    .nonnegative()
    .meta({ description: 'Length of the recording in seconds.', examples: [2.79] }),
  language: z
    .string()
    .optional()
    .meta({ description: 'The language that was recognized, if the engine reports it.', examples: ['en'] }),
  confidence: confidence('the text'),
  segments: z
    .array(
      z.object({
        id: z
          .number()
          .int()
          .nonnegative()
          .meta({ description: 'Counts the segments.', examples: [0] }),
        ...times,
        text: z.string().meta({ examples: ['go forward ten meters'] }),
        confidence: confidence('this part'),
        speaker,
      }),
    )
    .optional()
    .meta({
      description: 'With `verbose_json`: the parts of the text, such as sentences, if the engine gives them.',
    }),
  words: z
    .array(
      z.object({
        word: z.string().meta({ examples: ['forward'] }),
        ...times,
        confidence: confidence('this word'),
        speaker,
      }),
    )
    .optional()
    .meta({ description: 'With `verbose_json`: the words, if the engine gives their times.' }),
})

/** The data of the event `progress` in the response to `POST /v1/transcribe` with `Accept: text/event-stream`. */
export const transcriptionProgress = z.object({
  state: z.enum(TRANSCRIPTION_STATES).meta({
    description: '`decoding`: the file is being read. `transcribing`: the engine is at work.',
  }),
  seconds: z
    .number()
    .nonnegative()
    .optional()
    .meta({ description: 'How much of the recording is transcribed.', examples: [2.12] }),
  duration: z
    .number()
    .nonnegative()
    .optional()
    .meta({ description: 'Length of the recording in seconds.', examples: [12] }),
  text: z
    .string()
    .optional()
    .meta({
      description: 'What was recognized since the event before, if the engine says so.',
      examples: ['go forward ten meters'],
    }),
})

/** Why a recording is refused: each is a `reason` of `TranscriptionRefusal` and the `code` of a problem. */
export const TRANSCRIPTION_REFUSALS: readonly TranscriptionRefusal['reason'][] = TRANSCRIPTION_PROBLEMS
