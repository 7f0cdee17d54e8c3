/** The entry point `countersign/protocol`: the API between the plugin and an MFA service, for who writes a service. */

export { ServiceError } from '../errors.js'
export { findTransaction, isChallengeFor, keyChallenge } from './approval-challenge.js'
export {
  type Contact,
  canonicalUser,
  contactFits,
  deliverableContact,
  formatUser,
  isAccountAddress,
  parseUser,
} from './contact.js'
export type { DetailLine } from './details.js'
export { guessingSentence } from './guessing.js'
export { KEY_VERBS } from './key-verbs.js'
export type { KeyFault } from './keys.js'
export { languageKey, matchLanguage } from './language.js'
export { maskContact } from './masked-contact.js'
export {
  canonicalBackupCode,
  canonicalCode,
  type DeliveredMethod,
  KEY_METHODS,
  KEY_TYPE,
  type KeyMethod,
  type Method,
  VERIFY_TYPE,
  type VerifyType,
} from './methods.js'
export { nameLines } from './named-lines.js'
export { ownParametersOf, pickSide, readMembers, writeBody } from './names.js'
export type {
  AnswerOf,
  CompleteMfaService,
  DevelopmentInbox,
  Granted,
  Key,
  KeyVerbs,
  MfaService,
  Purpose,
  RequestOf,
  VerbName,
} from './service.js'
export type { Refused } from './service-refusal.js'
export type { Verb } from './verb.js'
export { VERBS } from './verbs.js'
export {
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
  type WebhookEventType,
} from './webhook-events.js'
export {
  API_KEY_INFO,
  apiKeyInfo,
  COUNTERSIGN_CODES,
  SCOPES,
  type Scope,
  SERVICE_HEADER,
  SERVICE_IDENTITY,
  SERVICE_PROBLEMS,
  type ServiceProblem,
  type ServiceProblemCode,
  serviceIdentity,
  serviceProblem,
} from './wire.js'
