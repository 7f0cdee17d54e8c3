/*
 * `countersign/browser`: security keys and passkeys in the pages of a single-page app. Every function returns a plain result.
 */
export type { KeyMethod } from '../protocol/methods.js'
export { type ConfirmWithKeyOptions, confirmWithKey, type KeyConfirmed } from './confirm-with-key.js'
export { type EnrolledKey, type EnrollKeyOptions, enrollKey, type KeyEnrolled } from './enroll-key.js'
export type { KeyRoutes } from './request.js'
export type { KeyFailed, KeyFailureReason, KeyProblem } from './result.js'
export { type KeyOwner, signalAcceptedKeys, signalKeys, signalUnknownKey, signalUserName } from './signals.js'
export { canUseKeys, type KeySupport, type MissingKeySupport } from './support.js'
