import type { TranscribeAnswer, TranscriptFormat, TranscriptSegment } from 'countersign/speech'
import type { Transcript } from './engines/transcriber.js'
import type { RecordingRefused } from './sources/recording-source.js'

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
export function writeTranscript({ format, transcript: { text, segments = [] } }: Recognized): string {
  if (format === 'srt') return writeSrt(segments)
  return format === 'vtt' ? writeVtt(segments) : text
}

/** The answer for callers in this process. */
export function answerOf(result: Recognized | RecordingRefused): TranscribeAnswer {
  if (result.outcome === 'refused') return result
  const { format, durationSeconds, transcript } = result
  const { language, confidence, segments, words } = transcript
  if (format !== 'json' && format !== 'verbose_json')
    return { outcome: 'transcribed', text: writeTranscript(result) }
  return {
    outcome: 'transcribed',
    text: transcript.text,
    durationSeconds,
    ...(language && { language }),
    ...(confidence !== undefined && { confidence }),
    ...(format === 'verbose_json' && { ...(segments && { segments }), ...(words && { words }) }),
  }
}

/** Subtitles in the format SubRip, which has no standard: counted cues, separated by empty lines. */
export function writeSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map((segment, index) => `${index + 1}\n${cue(segment, ',')}\n${joinLine(segment.text)}\n`)
    .join('\n')
}

/** Subtitles in the format WebVTT (W3C). */
export function writeVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(
    (segment) => `${cue(segment, '.')}\n${writeVoice(segment)}${escapeCue(joinLine(segment.text))}\n`,
  )
  return ['WEBVTT\n', ...cues].join('\n')
}

function cue({ startSeconds, endSeconds }: TranscriptSegment, separator: ',' | '.'): string {
  return `${timestamp(startSeconds, separator)} --> ${timestamp(endSeconds, separator)}`
}

function timestamp(seconds: number, separator: ',' | '.'): string {
  const ms = Math.round(seconds * 1_000)
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1_000) % 60]
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return `${clock}${separator}${String(ms % 1_000).padStart(3, '0')}`
}

/** One line, because an empty one would end the cue. */
function joinLine(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ')
}

/** WebVTT §3.5: the voice of a cue names who speaks. */
function writeVoice({ speaker }: TranscriptSegment): string {
  return speaker === undefined ? '' : `<v ${escapeCue(joinLine(speaker))}>`
}

/** WebVTT §4.2.2: `&`, `<` and `-->` have a meaning in the text of a cue. */
function escapeCue(line: string): string {
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
