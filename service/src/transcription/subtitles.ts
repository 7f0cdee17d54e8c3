import type { TranscriptSegment } from 'countersign/protocol'

/** Subtitles in the format SubRip, which has no standard: counted cues, separated by empty lines. */
export function srt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map((segment, index) => `${index + 1}\n${cue(segment, ',')}\n${lineOf(segment.text)}\n`)
    .join('\n')
}

/** Subtitles in the format WebVTT (W3C). */
export function vtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map((segment) => `${cue(segment, '.')}\n${escaped(lineOf(segment.text))}\n`)
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
function lineOf(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ')
}

/** WebVTT §4.2.2: `&`, `<` and `-->` have a meaning in the text of a cue. */
function escaped(line: string): string {
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
