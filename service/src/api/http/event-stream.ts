import type { TranscriptFormat, TranscriptionProgress, transcriptionWire } from 'countersign/speech'
import type { Request, Response } from 'express'
import type * as z from 'zod'
import { type Recognized, writeTranscript } from '../../transcription/recognized.js'

/** Shorter than the time after which proxies close a connection that sends nothing. */
const KEEP_ALIVE_MS = 15_000

/** A response of server-sent events (HTML, section 9.2), which begins with its first event. */
export interface EventStream {
  send(event: string, data: string): void
  /** Sends the last event. Further ones are ignored. */
  end(event: string, data: string): void
}

const streams = new WeakMap<Response, EventStream>()

/** Whether the caller prefers server-sent events to JSON. */
export function wantsEvents(request: Request): boolean {
  return request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream'
}

/** The event stream that was begun as this response, if one was. */
export function findEventStream(response: Response): EventStream | undefined {
  return streams.get(response)
}

/** Responds with events. */
export function eventStream(response: Response): EventStream {
  function begin(): void {
    if (response.headersSent) return
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // nginx would hold the events back until its buffer is full.
      'X-Accel-Buffering': 'no',
    })
    streams.set(response, stream)
    const timer = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS)
    response.once('close', () => clearInterval(timer))
  }

  const stream: EventStream = {
    send(event, data) {
      begin()
      if (!response.writableEnded) response.write(serialize(event, data))
    },
    end(event, data) {
      begin()
      if (!response.writableEnded) response.end(serialize(event, data))
    },
  }
  return stream
}

function serialize(event: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `event: ${event}\n${lines.join('')}\n`
}

const CONTENT_TYPES: Readonly<Partial<Record<TranscriptFormat, string>>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/** Responds with a transcript in its format. */
export function sendTranscript(response: Response, recognized: Recognized): void {
  const contentType = CONTENT_TYPES[recognized.format] ?? 'application/json; charset=utf-8'
  response.setHeader('Content-Type', contentType).end(transcriptText(recognized))
}

/** A transcript in its format, as the body of a response. */
export function transcriptText(recognized: Recognized): string {
  return CONTENT_TYPES[recognized.format]
    ? writeTranscript(recognized)
    : JSON.stringify(transcriptBody(recognized))
}

/** The data of an event about the progress. */
export function createProgressBody({
  durationSeconds,
  ...progress
}: TranscriptionProgress): z.output<typeof transcriptionWire.transcriptionProgress> {
  return { ...progress, ...(durationSeconds !== undefined && { duration: durationSeconds }) }
}

/** A transcript as JSON. */
export function transcriptBody({
  format,
  durationSeconds,
  transcript,
}: Recognized): z.output<typeof transcriptionWire.transcribeAnswer> {
  const { text, language, confidence, segments, words } = transcript
  const body = {
    text,
    duration: durationSeconds,
    ...(language && { language }),
    ...(confidence !== undefined && { confidence }),
  }
  if (format !== 'verbose_json') return body
  return {
    ...body,
    ...(segments && {
      segments: segments.map(({ text, startSeconds: start, endSeconds: end, ...more }, id) => ({
        id,
        start,
        end,
        text,
        ...more,
      })),
    }),
    ...(words && {
      words: words.map(({ word, startSeconds: start, endSeconds: end, ...more }) => ({
        word,
        start,
        end,
        ...more,
      })),
    }),
  }
}
