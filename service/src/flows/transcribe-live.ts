import {
  streamPieces,
  streamWire,
  TranscriptionError,
  type TranscriptionService,
  type TranscriptPiece,
} from 'countersign/speech'
import type { LiveTranscription } from '../transcription/live/live-transcription.js'

const RETRY_AFTER_SECONDS = 10

/** Transcribes a stream of audio in this process, for one application. */
export async function* transcribeLive(
  live: LiveTranscription,
  application: string,
  audio: AsyncIterable<Uint8Array>,
  { language, signal }: Parameters<NonNullable<TranscriptionService['transcribeLive']>>[1] = {},
): AsyncGenerator<TranscriptPiece, void, undefined> {
  signal?.throwIfAborted()
  if (language !== undefined && !streamWire.streamLanguage.safeParse(language).success) {
    throw new TranscriptionError('invalid_message', 'language must be a language tag such as en or pt-BR.')
  }
  if (!live.isAvailable) throw liveUnavailable()
  if (!live.knows(language)) {
    throw new TranscriptionError(
      'language_unavailable',
      'The engine of this service does not have the language.',
    )
  }
  const place = live.reserve(application)
  if (!place) {
    throw new TranscriptionError('busy', 'The service already transcribes its maximum number of streams.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }
  try {
    yield* streamPieces(
      audio,
      ({ onPiece, onFailure }) =>
        place.open({ application }, language, {
          onPiece,
          onFailure: ({ code, detail }) => onFailure(new TranscriptionError(code, detail)),
        }),
      signal,
    )
  } finally {
    place.release()
  }
}

/** The error of a service that has no engine for streams. */
export function liveUnavailable(): TranscriptionError {
  return new TranscriptionError(
    'transcription_unavailable',
    'This service has no engine that can transcribe streams. Install python3-pocketsphinx and pocketsphinx-en-us, or set SERVICE_LIVE_TRANSCRIBER to a server with OpenAI’s realtime API (openai+wss://…).',
  )
}
