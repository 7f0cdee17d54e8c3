/** The entry point `countersign/protocol`: the API between the plugin and an MFA service. */

export { ServiceError } from '../errors.js'
export { isChallengeFor, keyChallenge } from './approval-challenge.js'
export type { UserRequest } from './contact.js'
export {
  type Contact,
  canonicalUser,
  contactFits,
  formatUser,
  isAccountAddress,
  maskContact,
  parseUser,
} from './contact.js'
export * as details from './details.js'
export { KEY_VERBS } from './key-verbs.js'
export type * as keyTypes from './keys.js'
export type { Key } from './keys.js'
export * as keyWire from './keys-wire.js'
export { languageKey, matchLanguage } from './language.js'
export {
  canonicalBackupCode,
  canonicalCode,
  type DeliveredMethod,
  guessingSentence,
  KEY_METHODS,
  KEY_TYPE,
  type KeyMethod,
  type Method,
  VERIFY_TYPE,
  type VerifyType,
} from './methods.js'
export type {
  AccountFactors,
  BackupAnswer,
  CompleteMfaService,
  CreatedBackupCodes,
  DeliveryState,
  EnrollAppAnswer,
  EnrollAppRequest,
  FactorUse,
  MfaService,
  Purpose,
  RemoveFactorAnswer,
  SendAnswer,
  VerifyAnswer,
} from './service.js'
export type { Refused } from './service-refusal.js'
export * as rows from './verb.js'
export { type Members, membersOf } from './verb.js'
export { VERBS } from './verbs.js'
export * as webhooks from './webhook-events.js'
export type { ServiceProblemCode } from './wire.js'
export * as wire from './wire.js'
