/** The entry point `countersign/protocol`: the API between the plugin and an MFA service. */

export { type ServiceEffect, ServiceError, type ServiceErrorCode } from '../errors.js'
export { isAccountAddress } from './account-address.js'
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
export { languageKey, matchLanguage } from './language.js'
export {
  type BackupMethod,
  type CodeKind,
  type DeliveredMethod,
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
  Caller,
  CreateBackupCodesRequest,
  CreatedBackupCodes,
  DeliveryState,
  EnrollAppAnswer,
  EnrollAppRequest,
  FactorsRequest,
  FactorUse,
  MfaService,
  Purpose,
  Refused,
  RemoveFactorAnswer,
  RemoveFactorRequest,
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
  TRANSCRIPTION_REFUSALS,
  transcribeAnswer,
  transcribeBody,
  verifyAnswer,
  verifyBody,
} from './wire.js'
