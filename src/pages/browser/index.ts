/*
 * `countersign/browser`: the second factor in the pages of a single-page app.
 */
export type { KeyMethod } from '../../protocol/methods.js'
export { canUseKeys, type KeySupport, type MissingKeySupport } from './ceremony.js'
export {
  type ConfirmWithKeyOptions,
  confirmWithKey,
  type EnrolledKey,
  type EnrollKeyOptions,
  enrollKey,
  type KeyConfirmed,
  type KeyEnrolled,
} from './keys.js'
export type { KeyFailed, KeyFailureReason, KeyProblem, KeyRoutes } from './request.js'
export { type KeyOwner, signalAcceptedKeys, signalKeys, signalUnknownKey, signalUserName } from './signals.js'
export {
  StepUpError,
  type StepUpFailure,
  type StepUpOptions,
  type StepUpProblem,
  withStepUp,
} from './step-up.js'
