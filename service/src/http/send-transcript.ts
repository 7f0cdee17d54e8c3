import type { TranscriptFormat, TranscriptionProgress, transcriptionWire } from 'countersign/protocol'
import type { Response } from 'express'
import type * as z from 'zod'
import { type Recognized, textOf } from '../transcription/recognized.js'

/** The content type of each format that is not JSON. */
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
  return CONTENT_TYPES[recognized.format] ? textOf(recognized) : JSON.stringify(transcriptBody(recognized))
}

/** The data of an event about the progress. */
export function progressBody({
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
  const { text, language, segments, words } = transcript
  const body = { text, duration: durationSeconds, ...(language && { language }) }
  if (format !== 'verbose_json') return body
  return {
    ...body,
    ...(segments && {
      segments: segments.map(({ text, ...position }, id) => ({ id, ...inSeconds(position), text })),
    }),
    ...(words && { words: words.map(({ word, ...position }) => ({ word, ...inSeconds(position) })) }),
  }
}

function inSeconds(position: { readonly startSeconds: number; readonly endSeconds: number }) {
  return { start: position.startSeconds, end: position.endSeconds }
}
