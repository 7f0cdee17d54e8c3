import type { TranscriptFormat, TranscriptSegment, TranscriptWord } from 'countersign/protocol'

/** What the caller says about the speech. */
export interface SpeechOptions {
  /** A BCP 47 tag. Engines with one language ignore it. */
  readonly language?: string | undefined
  /** Text that helps to recognize names. */
  readonly prompt?: string | undefined
  /** The form of the transcript. Defaults to `json`. */
  readonly format?: TranscriptFormat | undefined
}

/** A recording in the form that every engine accepts: a WAV file, 16 kHz, mono, 16 bits. */
export interface Recording {
  readonly path: string
  readonly durationSeconds: number
  /** A BCP 47 tag. Engines with one language ignore it. */
  readonly language?: string | undefined
  /** Text that helps to recognize names. */
  readonly prompt?: string | undefined
  /** Whether the transcript should have the times of segments and words. Defaults to `false`. */
  readonly withTimes?: boolean
  /** Called for each segment as soon as it is recognized, by engines that can. */
  readonly onSegment?: (segment: TranscriptSegment) => void
  /** Aborts when the transcription has taken too long or its result is no longer needed. */
  readonly signal: AbortSignal
}

export interface Transcript {
  /** Empty when no words were recognized. */
  readonly text: string
  readonly language?: string
  /** In the order in which they are spoken; absent when the engine gives no times. */
  readonly segments?: readonly TranscriptSegment[]
  /** Absent when the engine gives no times of words. */
  readonly words?: readonly TranscriptWord[]
}

/** Turns speech into text. Throws when it fails; a recording without words is not a failure. */
export interface Transcriber {
  readonly name: string
  /** Whether it can give times. Its server may still be unable to. */
  readonly givesTimes: boolean
  transcribe(recording: Recording): Promise<Transcript>
}
