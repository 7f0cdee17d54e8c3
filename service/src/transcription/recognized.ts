import type { TranscribeAnswer, TranscriptFormat } from 'countersign/protocol'
import type { Transcript } from './engines/transcriber.js'
import type { RecordingRefused } from './sources/recording-source.js'
import { srt, vtt } from './subtitles.js'

/** A transcript with the length of its recording and the format that the caller requested. */
export interface Recognized {
  readonly outcome: 'recognized'
  readonly format: TranscriptFormat
  readonly durationSeconds: number
  readonly transcript: Transcript
}

const NEEDS_TIMES: readonly TranscriptFormat[] = ['srt', 'vtt']
const SHOWS_TIMES: readonly TranscriptFormat[] = [...NEEDS_TIMES, 'verbose_json']

/** Whether a transcript in this format is useless without times. */
export function needsTimes(format: TranscriptFormat): boolean {
  return NEEDS_TIMES.includes(format)
}

/** Whether a transcript in this format contains times if there are any. */
export function showsTimes(format: TranscriptFormat): boolean {
  return SHOWS_TIMES.includes(format)
}

/** The text of a transcript in its format; for `srt` and `vtt` a file of subtitles. */
export function textOf({ format, transcript: { text, segments = [] } }: Recognized): string {
  if (format === 'srt') return srt(segments)
  return format === 'vtt' ? vtt(segments) : text
}

/** The answer for callers in this process. */
export function answerOf(result: Recognized | RecordingRefused): TranscribeAnswer {
  if (result.outcome === 'refused') return result
  const { format, durationSeconds, transcript } = result
  const { language, segments, words } = transcript
  if (format !== 'json' && format !== 'verbose_json') return { outcome: 'transcribed', text: textOf(result) }
  return {
    outcome: 'transcribed',
    text: transcript.text,
    durationSeconds,
    ...(language && { language }),
    ...(format === 'verbose_json' && { ...(segments && { segments }), ...(words && { words }) }),
  }
}
