import type { TranscriptPiece } from 'countersign/protocol'
import type { EngineError } from '../engines/engine-error.js'

/** How a stream is opened. */
export interface StreamRequest {
  /** A BCP 47 tag; `undefined` leaves the choice to the engine. */
  readonly language: string | undefined
  /** Called for each piece of the transcript. */
  onPiece(piece: TranscriptPiece): void
  /** Called at most once, when the engine fails while the stream is open. */
  onFailure(error: EngineError): void
  /** Ends the stream and frees everything that belongs to it. It must abort in the end, also after a success. */
  readonly signal: AbortSignal
}

/** An open stream. */
export interface EngineStream {
  /** Hands audio to the engine (PCM, 16 kHz, 16 bits, mono). Resolves when it can take more, and also when it has failed. */
  write(pcm: Buffer): Promise<void>
  /** Says that there is no more audio. Resolves after the last piece, or when the engine has failed. */
  end(): Promise<void>
}

/** Turns speech into text while it is spoken. */
export interface LiveEngine {
  readonly name: string
  /** Resolves when the engine is ready for audio. Throws an `EngineError` if it is not within a few seconds. */
  open(request: StreamRequest): Promise<EngineStream>
}
