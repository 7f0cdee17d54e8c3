/** The entry point `countersign/testing`: tools to test an app's sign-in with a second factor. */

export type { AppRoute, SkippedRoute } from '../probe/app-routes.js'
export type { MfaBypass, ProbeLogin } from '../probe/probe-login.js'
export type { HostApp, ProbeAgent, UpgradeAnswer, UpgradeProbe, UpgradeProbes } from '../probe/probed-app.js'
export type { AgentAnswer, AgentRequest, FetchAgent, FirstFactor, TestAgent } from './agent.js'
export type { KeyAlgorithm } from './authenticator-data.js'
export type { TestCarrier, TestInbox, TestMessage } from './carrier.js'
export type { KeyChanges, KeyFlags, KeyPage } from './key-ceremony.js'
export type { SoftwareAssertion, SoftwareCredential, SoftwareRegistration } from './key-response.js'
export type { TestRelyingParty } from './key-service.js'
export { type MfaTestKit, type MfaTestKitOptions, mfaTestKit, type TestApps, type TestClock } from './kit.js'
export { type BypassOptions, type BypassReport, expectNoMfaBypass, findMfaBypasses } from './mfa-bypasses.js'
export type { FailureOptions, TestFailure, TestVerb } from './service.js'
export { totpCode } from './service.js'
export {
  type AddingKeyUser,
  addKey,
  type KeyUser,
  type SignInOptions,
  type SigningKeyUser,
  signInWithKey,
  signInWithMfa,
} from './sign-in.js'
export {
  type SoftwareAuthenticator,
  type SoftwareAuthenticatorOptions,
  softwareAuthenticator,
} from './software-authenticator.js'
