/** The entry `countersign/speech`: the client of a service that turns speech into text, and the API between both. */

export * as jobWire from './jobs-wire.js'
export { createSpeechClient, type SpeechClient } from './speech-client.js'
export * as streamWire from './stream.js'
export { streamPieces } from './stream.js'
export {
  TRANSCRIPT_FORMATS,
  type TranscribeAnswer,
  type TranscribeRequest,
  type TranscriptFormat,
  type TranscriptionJob,
  type TranscriptionProgress,
  type TranscriptionService,
  type TranscriptPiece,
  type TranscriptSegment,
  type TranscriptWord,
} from './transcription.js'
export { TranscriptionError } from './transcription-error.js'
export * as transcriptionWire from './wire.js'
