/** The entry point `countersign/protocol`: the API between the plugin and an MFA service. */

export {
  type ServiceEffect,
  ServiceError,
  type ServiceErrorCode,
  TranscriptionError,
  type TranscriptionFailure,
} from '../errors.js'
export { isAccountAddress } from './account-address.js'
export type { Caller } from './caller.js'
export { canonicalBackupCode, canonicalCode } from './code.js'
export {
  type Contact,
  canonicalUser,
  contactFits,
  formatUser,
  parseUser,
} from './contact.js'
export { maskContact } from './destination.js'
export { type GuessingLimits, guessingArithmetic, guessingBound, guessingSentence } from './guessing-bound.js'
export { KEY_VERBS } from './key-verbs.js'
export type {
  AuthenticateKeyAnswer,
  AuthenticateKeyRequest,
  Key,
  KeyAuthenticationOptionsRequest,
  KeyFault,
  KeyList,
  KeyOptions,
  KeyOptionsAnswer,
  KeyPurpose,
  KeyRegistrationOptionsRequest,
  KeyResponse,
  KeyVerbs,
  ListKeysRequest,
  RegisterKeyAnswer,
  RegisterKeyRequest,
  RelyingParty,
  RemoveKeyRequest,
  RenameKeyRequest,
} from './keys.js'
export {
  authenticateKeyAnswer,
  authenticateKeyBody,
  authenticationResponse,
  keyAuthenticationOptionsBody,
  keyOptionsAnswer,
  keyRegistrationOptionsBody,
  listKeysAnswer,
  listKeysBody,
  registerKeyAnswer,
  registerKeyBody,
  registrationResponse,
  relyingPartyAnswer,
  removeKeyAnswer,
  removeKeyBody,
  renameKeyAnswer,
  renameKeyBody,
} from './keys-wire.js'
export { languageKey, matchLanguage } from './language.js'
export {
  type BackupMethod,
  type CodeKind,
  type CodeMethod,
  type DeliveredMethod,
  KEY_METHODS,
  KEY_TYPE,
  type KeyMethod,
  type KeyType,
  type Method,
  type SendType,
  VERIFY_TYPE,
  type VerifyType,
} from './methods.js'
export { isAddress, MAX_RECORDING_BYTES } from './recording.js'
export type {
  AccountFactors,
  BackupAnswer,
  BackupRequest,
  CompleteMfaService,
  CreateBackupCodesRequest,
  CreatedBackupCodes,
  DeliveryState,
  EnrollAppAnswer,
  EnrollAppRequest,
  ExistingFactor,
  FactorsRequest,
  FactorUse,
  MfaService,
  Purpose,
  RemoveFactorAnswer,
  RemoveFactorRequest,
  SendAnswer,
  SendRequest,
  VerifyAnswer,
  VerifyRequest,
} from './service.js'
export type { Refused, ServiceRefusal } from './service-refusal.js'
export { type AudioSink, type PieceListener, streamPieces } from './stream-pieces.js'
export {
  type CreatedTranscriptionJob,
  JOB_STATES,
  type LiveOptions,
  type LiveTranscriptionVerbs,
  type StreamTicket,
  TRANSCRIPT_FORMATS,
  type TranscribeAnswer,
  type Transcribed,
  type TranscribeRequest,
  type TranscriptFormat,
  type TranscriptionJob,
  type TranscriptionJobRequest,
  type TranscriptionJobVerbs,
  type TranscriptionProgress,
  type TranscriptionRefusal,
  type TranscriptionService,
  type TranscriptPiece,
  type TranscriptSegment,
  type TranscriptWord,
} from './transcription.js'
export { JOB_ID, JOBS_PATH, transcriptionJobAnswer } from './transcription-jobs-wire.js'
export {
  MAX_FRAME_BYTES,
  STREAM_BYTES_PER_SECOND,
  STREAM_PATH,
  STREAM_PROTOCOL,
  STREAM_SAMPLE_RATE,
  STREAM_TICKET,
  type StreamErrorCode,
  type StreamMessage,
  streamLanguage,
  streamMessage,
  streamRequest,
  streamTicketAnswer,
  TICKETS_PATH,
} from './transcription-stream.js'
export {
  TRANSCRIBE_PATH,
  TRANSCRIPTION_REFUSALS,
  transcribeAnswer,
  transcribeBody,
  transcriptionProgress,
} from './transcription-wire.js'
export type { Verb } from './verb.js'
export { VERBS } from './verbs.js'
export {
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookFactor,
  type WebhookMessage,
  type WebhookUser,
} from './webhook-events.js'
export {
  backupAnswer,
  backupBody,
  createBackupCodesAnswer,
  createBackupCodesBody,
  deliveryAnswer,
  enrollAppAnswer,
  enrollAppBody,
  factorsAnswer,
  factorsBody,
  removeFactorAnswer,
  removeFactorBody,
  SERVICE_HEADER,
  SERVICE_IDENTITY,
  SERVICE_PROBLEMS,
  type ServiceProblem,
  type ServiceProblemCode,
  sendAnswer,
  sendBody,
  serviceIdentity,
  serviceProblem,
  verifyAnswer,
  verifyBody,
} from './wire.js'
