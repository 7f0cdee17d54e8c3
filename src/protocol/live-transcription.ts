/** Part of the transcript of a stream. */
export type TranscriptPiece =
  /** What was heard since the last `final` piece, as far as the engine knows by now. The next piece replaces it. */
  | { readonly type: 'partial'; readonly text: string }
  /** Text that no longer changes. */
  | {
      readonly type: 'final'
      readonly text: string
      /** When the speech began, in milliseconds since the start of the audio. */
      readonly startMs: number
      /** When the speech ended, in milliseconds since the start of the audio. */
      readonly endMs: number
    }

/** Options of a stream. */
export interface LiveOptions {
  /** The language of the speech, as a BCP 47 tag such as `en`, for engines that know several. */
  readonly language?: string | undefined
  /** Ends the stream when it aborts; the iterator then throws the reason. */
  readonly signal?: AbortSignal | undefined
}

/** Lets a browser open one stream without the API key. */
export interface StreamTicket {
  /** The value of the query parameter `ticket` of the stream's address. */
  readonly ticket: string
  /** How long the ticket is valid. */
  readonly expiresInSeconds: number
}

/** The methods of a service that transcribes audio while it is being recorded. */
export interface LiveTranscriptionVerbs {
  /**
   * Transcribes audio while it is being recorded: 16,000 samples per second, 16 bits, little-endian, one channel, in chunks
   * of any length. The iterator yields the transcript piece by piece, ends after the last one, and throws a
   * `TranscriptionError` if the service ends the stream. Audio is read only as fast as the service takes it.
   */
  transcribeLive?(audio: AsyncIterable<Uint8Array>, options?: LiveOptions): AsyncIterable<TranscriptPiece>
  /** Issues a ticket with which a browser opens one stream itself. Throws a `TranscriptionError` if there is no engine. */
  createStreamTicket?(): Promise<StreamTicket>
}
