import type { TranscriptFormat, TranscriptionProgress } from '../protocol/transcription.js'
import { transcriptionProgress } from '../protocol/transcription-wire.js'
import { serviceProblem } from '../protocol/wire.js'
import { invalidResponse } from './response-validation.js'
import type { Answer } from './transport.js'

/** A server-sent event. */
interface ServerEvent {
  readonly name: string
  readonly data: string
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

/**
 * The response that the last of its events stands for, or the response itself if it has no events.
 * @throws {ServiceError} if the events break off before the last one.
 */
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
function eventIn(block: string): ServerEvent[] {
  const fields = block.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^(event|data):? ?(.*)$/.exec(line) ?? []
    return name ? [{ name, value }] : []
  })
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value)
  if (data.length === 0) return []
  return [{ name: fields.find(({ name }) => name === 'event')?.value ?? 'message', data: data.join('\n') }]
}

function progressIn(data: string): TranscriptionProgress | undefined {
  const read = transcriptionProgress.safeParse(json(data)).data
  if (!read) return undefined
  const { state, seconds, duration, text } = read
  return {
    state,
    ...(seconds !== undefined && { seconds }),
    ...(duration !== undefined && { durationSeconds: duration }),
    ...(text !== undefined && { text }),
  }
}

function problemIn(data: string) {
  // A later release of the service may have other codes.
  return serviceProblem.pick({ status: true, retry_after: true }).safeParse(json(data)).data
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
