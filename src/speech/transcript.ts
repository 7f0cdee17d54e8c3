import type * as z from 'zod'
import { DEFAULT_WAIT_SECONDS, problemCode, readRefusal } from '../client/refusals.js'
import {
  type Fields,
  findContradiction,
  invalidResponse,
  isPlainText,
  validFields,
} from '../client/response-validation.js'
import type { Answer } from '../client/transport.js'
import { ServiceError } from '../errors.js'
import { readJson } from '../json.js'
import { type ServiceProblemCode, serviceProblem } from '../protocol/wire.js'
import { pickGiven } from '../shape.js'
import type {
  TranscribeAnswer,
  Transcribed,
  TranscriptFormat,
  TranscriptionProgress,
  TranscriptionRefusal,
} from './transcription.js'
import { TRANSCRIPTION_REFUSALS, transcribeAnswer, transcriptionProgress } from './wire.js'

type Reason = TranscriptionRefusal['reason']

/** The refusal for a status if the response has no known code. */
const BY_STATUS: Readonly<Record<number, Exclude<Reason, 'busy'>>> = {
  413: 'file_too_large',
  415: 'unsupported_media',
  501: 'transcription_unavailable',
}

/** The maximum size of a transcript with times, in bytes: four hours of words have up to 8 MB. */
const MAX_BYTES_WITH_TIMES = 16 * 1024 * 1024

/** The maximum size of a transcript with events about its progress, in bytes: they repeat its text. */
const MAX_BYTES_WITH_EVENTS = 2 * MAX_BYTES_WITH_TIMES

/** The maximum size of a transcript in this format, in bytes; `undefined` for the limit of every other response. */
export function getMaxBytes(format: TranscriptFormat = 'json', withEvents = false): number | undefined {
  if (withEvents) return MAX_BYTES_WITH_EVENTS
  return format === 'json' || format === 'text' ? undefined : MAX_BYTES_WITH_TIMES
}

const ENGINE_FAILURES: readonly string[] = [
  'engine_failed',
  'engine_unavailable',
] satisfies ServiceProblemCode[]

/** The transcript in this format, or the refusal, from a response. @throws {ServiceError} if it is neither. */
export function readTranscript(answer: Answer, format: TranscriptFormat = 'json'): TranscribeAnswer {
  if (answer.status !== 200) return readRefused(answer)
  if (format === 'srt' || format === 'vtt') return readSubtitles(answer, SUBTITLES[format])
  const said = answer.body.trim()
  if (answer.contentType.startsWith('text/plain') || (said !== '' && isPlainText(answer))) {
    return { outcome: 'transcribed', text: said }
  }
  const fields = validFields(answer)
  if (findContradiction(fields) || typeof fields.text !== 'string') {
    throw invalidResponse('status 200 without a transcript')
  }
  const { text, duration, language } = fields
  const confidence = transcribeAnswer.shape.confidence.safeParse(fields.confidence).data
  return {
    outcome: 'transcribed',
    text: text.trim(),
    ...(typeof duration === 'number' && duration >= 0 && { durationSeconds: duration }),
    ...(typeof language === 'string' && language !== '' && { language }),
    ...(confidence !== undefined && { confidence }),
    ...(format === 'verbose_json' && readTimes(fields)),
  }
}

/** How the files of subtitles begin. One in SubRip is empty if nothing was said. */
const SUBTITLES = { srt: /^(\d+\r?\n|$)/, vtt: /^WEBVTT\b/ }

function readSubtitles(answer: Answer, beginning: RegExp): TranscribeAnswer {
  const text = answer.body.replace(/^\ufeff/, '').trimStart()
  if (answer.contentType.includes('json') || answer.contentType.includes('html') || !beginning.test(text)) {
    throw invalidResponse('status 200 without subtitles')
  }
  return { outcome: 'transcribed', text }
}

/** A valid transcript in the names of this package. */
export function readTranscribed(result: z.output<typeof transcribeAnswer>): Transcribed {
  const { text, duration, language, confidence } = result
  return {
    outcome: 'transcribed',
    text,
    durationSeconds: duration,
    ...pickGiven({ language: language || undefined, confidence }),
    ...readTimes(result),
  }
}

/** The times in a response, if it has valid ones: a service may leave them out. */
function readTimes(fields: Fields): Pick<Transcribed, 'segments' | 'words'> {
  const segments = transcribeAnswer.shape.segments.safeParse(fields.segments).data
  const words = transcribeAnswer.shape.words.safeParse(fields.words).data
  return {
    ...(segments && {
      segments: segments.map(({ text, ...details }) => ({ text, ...readDetails(details) })),
    }),
    ...(words && { words: words.map(({ word, ...details }) => ({ word, ...readDetails(details) })) }),
  }
}

function readDetails<Details extends object>({
  start,
  end,
  ...details
}: Details & Record<'start' | 'end', number>) {
  return { startSeconds: start, endSeconds: end, ...pickGiven(details) }
}

function readRefused(answer: Answer): TranscribeAnswer {
  const code = problemCode(answer)
  const reason = isReason(code) ? code : BY_STATUS[answer.status]
  if (reason === 'busy' || answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return { outcome: 'refused', refusal: { reason: 'busy', retryAfterSeconds } }
  }
  if (reason === 'fetch_failed' || reason === 'unsupported_media') {
    const { detail } = problemDetail.safeParse(readJson(answer.body)).data ?? {}
    return { outcome: 'refused', refusal: { reason, ...pickGiven({ detail }) } }
  }
  if (reason) return { outcome: 'refused', refusal: { reason } }
  if (ENGINE_FAILURES.includes(code)) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The transcription engine of the MFA service failed (${code}). See the log of the service.`,
      { effect: 'none', retryAfterSeconds: answer.retryAfterSeconds },
    )
  }
  readRefusal(answer)
  throw invalidResponse(`unexpected status ${answer.status}`)
}

const problemDetail = serviceProblem.pick({ detail: true })

function isReason(code: string): code is Reason {
  return TRANSCRIPTION_REFUSALS.some((reason) => reason === code)
}

/** Reads events from text in chunks of any length, and passes those about the progress on. */
export function createProgressReader(
  onProgress: (progress: TranscriptionProgress) => void,
): (text: string) => void {
  let unfinished = ''
  return (text) => {
    const blocks = (unfinished + text).split('\n\n')
    unfinished = blocks.pop() ?? ''
    for (const { name, data } of blocks.flatMap(parseEvent)) {
      if (name !== 'progress') continue
      const progress = readProgress(data)
      if (progress) onProgress(progress)
    }
  }
}

/** The response that its last event stands for, or itself without events. @throws {ServiceError} if cut off. */
export function lastEvent(answer: Answer, format: TranscriptFormat = 'json'): Answer {
  if (!answer.contentType.startsWith('text/event-stream')) return answer
  const event = answer.body.split('\n\n').flatMap(parseEvent).at(-1)
  if (event?.name === 'result') {
    const isJson = format === 'json' || format === 'verbose_json'
    return { ...answer, contentType: isJson ? 'application/json' : 'text/plain', body: event.data }
  }
  const problem = event?.name === 'problem' ? readProblem(event.data) : undefined
  if (!event || !problem) throw invalidResponse('events without a result')
  return {
    ...answer,
    status: problem.status,
    contentType: 'application/problem+json',
    body: event.data,
    retryAfterSeconds: problem.retry_after,
  }
}

/** The event in a block of lines, unless it is a comment (HTML, section 9.2.6). */
function parseEvent(block: string): { readonly name: string; readonly data: string }[] {
  const fields = block.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^(event|data):? ?(.*)$/.exec(line) ?? []
    return name ? [{ name, value }] : []
  })
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value)
  if (data.length === 0) return []
  return [{ name: fields.find(({ name }) => name === 'event')?.value ?? 'message', data: data.join('\n') }]
}

function readProgress(data: string): TranscriptionProgress | undefined {
  const read = transcriptionProgress.safeParse(readJson(data)).data
  if (!read) return undefined
  const { state, seconds, duration: durationSeconds, text } = read
  return { state, ...pickGiven({ seconds, durationSeconds, text }) }
}

function readProblem(data: string) {
  // A later release of the service may have other codes.
  return serviceProblem.pick({ status: true, retry_after: true }).safeParse(readJson(data)).data
}
