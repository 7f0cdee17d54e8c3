/** A recording as every engine takes it: a WAV file, 16 kHz, one channel, 16 bits. */
export interface Recording {
  readonly path: string
  readonly durationSeconds: number
  /** Ends the work when it has taken too long, or when nobody waits for it any more. */
  readonly signal: AbortSignal
}

export interface Transcript {
  /** Empty when no words were heard. */
  readonly text: string
  readonly language?: string
}

/** Speech that is written down while it is spoken. */
export interface LiveTranscription extends AsyncIterable<{ readonly text: string; readonly final: boolean }> {
  /** Takes 16-bit little-endian samples, 16 kHz, one channel. */
  write(samples: Uint8Array): void
  end(): void
}

/** Turns speech into text. Throws when it cannot work; a recording without words is no failure. */
export interface Transcriber {
  readonly name: string
  transcribe(recording: Recording): Promise<Transcript>
  open?(options: { readonly signal: AbortSignal }): LiveTranscription
}
