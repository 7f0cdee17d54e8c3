/** The entry point `countersign/protocol`: the API between the plugin and an MFA service. */
export { type ServiceEffect, ServiceError, type ServiceErrorCode } from '../errors.js'
export { canonicalBackupCode, canonicalCode, isCodeShaped, MAX_CODE_LENGTH } from './code.js'
export {
  type Contact,
  canonicalUser,
  contactFits,
  emailSchema,
  formatUser,
  parseUser,
  phoneSchema,
} from './contact.js'
export { maskContact } from './destination.js'
export {
  BACKUP_METHOD,
  BACKUP_TYPES,
  type BackupMethod,
  type BackupType,
  CODE_KINDS,
  type CodeKind,
  type DeliveredMethod,
  METHODS,
  type Method,
  SEND_TYPES,
  type SendType,
  VERIFY_TYPE,
  VERIFY_TYPES,
  type VerifyType,
} from './methods.js'
export { isAddress, MAX_RECORDING_BYTES } from './recording.js'
export type {
  BackupAnswer,
  BackupRequest,
  Caller,
  DeliveryState,
  EnrollAppAnswer,
  EnrollAppRequest,
  MfaService,
  Purpose,
  Refused,
  SendAnswer,
  SendRequest,
  ServiceRefusal,
  TranscribeAnswer,
  TranscribeRequest,
  TranscriptionRefusal,
  VerifyAnswer,
  VerifyRequest,
} from './service.js'
export {
  backupAnswer,
  backupBody,
  deliveryAnswer,
  enrollAppAnswer,
  enrollAppBody,
  SERVICE_PROBLEMS,
  type ServiceProblem,
  type ServiceProblemCode,
  sendAnswer,
  sendBody,
  serviceProblem,
  TRANSCRIPTION_REFUSALS,
  transcribeAnswer,
  transcribeBody,
  verifyAnswer,
  verifyBody,
} from './wire.js'
