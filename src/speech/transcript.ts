import type * as z from 'zod'
import { DEFAULT_WAIT_SECONDS, problemCode, refusalIn } from '../client/refusals.js'
import {
  contradictionIn,
  type Fields,
  invalidResponse,
  isPlainText,
  validFields,
} from '../client/response-validation.js'
import type { Answer } from '../client/transport.js'
import { ServiceError } from '../errors.js'
import { jsonIn } from '../json.js'
import { type ServiceProblemCode, serviceProblem } from '../protocol/wire.js'
import { onlyGiven } from '../shape.js'
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
export function maxBytesOf(format: TranscriptFormat = 'json', withEvents = false): number | undefined {
  if (withEvents) return MAX_BYTES_WITH_EVENTS
  return format === 'json' || format === 'text' ? undefined : MAX_BYTES_WITH_TIMES
}

const ENGINE_FAILURES: readonly string[] = [
  'engine_failed',
  'engine_unavailable',
] satisfies ServiceProblemCode[]

/** The transcript in this format, or the refusal, from a response. @throws {ServiceError} if it is neither. */
export function transcriptIn(answer: Answer, format: TranscriptFormat = 'json'): TranscribeAnswer {
  if (answer.status !== 200) return refusedIn(answer)
  if (format === 'srt' || format === 'vtt') return subtitlesIn(answer, SUBTITLES[format])
  const said = answer.body.trim()
  if (answer.contentType.startsWith('text/plain') || (said !== '' && isPlainText(answer))) {
    return { outcome: 'transcribed', text: said }
  }
  const fields = validFields(answer)
  if (contradictionIn(fields) || typeof fields.text !== 'string') {
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
    ...(format === 'verbose_json' && timesIn(fields)),
  }
}

/** How the files of subtitles begin. One in SubRip is empty if nothing was said. */
const SUBTITLES = { srt: /^(\d+\r?\n|$)/, vtt: /^WEBVTT\b/ }

function subtitlesIn(answer: Answer, beginning: RegExp): TranscribeAnswer {
  const text = answer.body.replace(/^\ufeff/, '').trimStart()
  if (answer.contentType.includes('json') || answer.contentType.includes('html') || !beginning.test(text)) {
    throw invalidResponse('status 200 without subtitles')
  }
  return { outcome: 'transcribed', text }
}

/** A valid transcript in the names of this package. */
export function transcribedFrom(result: z.output<typeof transcribeAnswer>): Transcribed {
  const { text, duration, language, confidence } = result
  return {
    outcome: 'transcribed',
    text,
    durationSeconds: duration,
    ...onlyGiven({ language: language || undefined, confidence }),
    ...timesIn(result),
  }
}

/** The times in a response, if it has valid ones: a service may leave them out. */
function timesIn(fields: Fields): Pick<Transcribed, 'segments' | 'words'> {
  const segments = transcribeAnswer.shape.segments.safeParse(fields.segments).data
  const words = transcribeAnswer.shape.words.safeParse(fields.words).data
  return {
    ...(segments && { segments: segments.map(({ text, ...details }) => ({ text, ...detailsIn(details) })) }),
    ...(words && { words: words.map(({ word, ...details }) => ({ word, ...detailsIn(details) })) }),
  }
}

function detailsIn<Details extends object>({
  start,
  end,
  ...details
}: Details & Record<'start' | 'end', number>) {
  return { startSeconds: start, endSeconds: end, ...onlyGiven(details) }
}

function refusedIn(answer: Answer): TranscribeAnswer {
  const code = problemCode(answer)
  const reason = isReason(code) ? code : BY_STATUS[answer.status]
  if (reason === 'busy' || answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return { outcome: 'refused', refusal: { reason: 'busy', retryAfterSeconds } }
  }
  if (reason === 'fetch_failed' || reason === 'unsupported_media') {
    const { detail } = problemDetail.safeParse(jsonIn(answer.body)).data ?? {}
    return { outcome: 'refused', refusal: { reason, ...onlyGiven({ detail }) } }
  }
  if (reason) return { outcome: 'refused', refusal: { reason } }
  if (ENGINE_FAILURES.includes(code)) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The transcription engine of the MFA service failed (${code}). See the log of the service.`,
      { effect: 'none', retryAfterSeconds: answer.retryAfterSeconds },
    )
  }
  refusalIn(answer)
  throw invalidResponse(`unexpected status ${answer.status}`)
}

const problemDetail = serviceProblem.pick({ detail: true })

function isReason(code: string): code is Reason {
  return TRANSCRIPTION_REFUSALS.some((reason) => reason === code)
}

/** Reads events from text in chunks of any length, and passes those about the progress on. */
export function progressReader(
  onProgress: (progress: TranscriptionProgress) => void,
): (text: string) => void {
  let unfinished = ''
  return (text) => {
    const blocks = (unfinished + text).split('\n\n')
    unfinished = blocks.pop() ?? ''
    for (const { name, data } of blocks.flatMap(eventIn)) {
      if (name !== 'progress') continue
      const progress = progressIn(data)
      if (progress) onProgress(progress)
    }
  }
}

/** The response that its last event stands for, or itself without events. @throws {ServiceError} if cut off. */
export function lastEvent(answer: Answer, format: TranscriptFormat = 'json'): Answer {
  if (!answer.contentType.startsWith('text/event-stream')) return answer
  const event = answer.body.split('\n\n').flatMap(eventIn).at(-1)
  if (event?.name === 'result') {
    const isJson = format === 'json' || format === 'verbose_json'
    return { ...answer, contentType: isJson ? 'application/json' : 'text/plain', body: event.data }
  }
  const problem = event?.name === 'problem' ? problemIn(event.data) : undefined
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
function eventIn(block: string): { readonly name: string; readonly data: string }[] {
  const fields = block.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^(event|data):? ?(.*)$/.exec(line) ?? []
    return name ? [{ name, value }] : []
  })
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value)
  if (data.length === 0) return []
  return [{ name: fields.find(({ name }) => name === 'event')?.value ?? 'message', data: data.join('\n') }]
}

function progressIn(data: string): TranscriptionProgress | undefined {
  const read = transcriptionProgress.safeParse(jsonIn(data)).data
  if (!read) return undefined
  const { state, seconds, duration: durationSeconds, text } = read
  return { state, ...onlyGiven({ seconds, durationSeconds, text }) }
}

function problemIn(data: string) {
  // A later release of the service may have other codes.
  return serviceProblem.pick({ status: true, retry_after: true }).safeParse(jsonIn(data)).data
}
