/** What the caller says about the speech. */
export interface SpeechOptions {
  /** A BCP 47 tag. Engines with one language ignore it. */
  readonly language?: string | undefined
  /** Text that helps to recognize names. */
  readonly prompt?: string | undefined
}

/** A recording in the form that every engine accepts: a WAV file, 16 kHz, mono, 16 bits. */
export interface Recording extends SpeechOptions {
  readonly path: string
  readonly durationSeconds: number
  /** Aborts when the transcription has taken too long or its result is no longer needed. */
  readonly signal: AbortSignal
}

export interface Transcript {
  /** Empty when no words were recognized. */
  readonly text: string
  readonly language?: string
}

/** Turns speech into text. Throws when it fails; a recording without words is not a failure. */
export interface Transcriber {
  readonly name: string
  transcribe(recording: Recording): Promise<Transcript>
}
