/** The door `countersign/testing`: what an app needs to test its sign-in with a second factor. */
export type { AppRoute, UntriedRoute } from './app-routes.js'
export type { TestCarrier } from './carrier.js'
export type { TestClock } from './clock.js'
export type { FailureOptions, TestFailure, TestVerb } from './failures.js'
export type { TestInbox, TestMessage } from './inbox.js'
export { type MfaTestKit, mfaTestKit, type TestApps } from './kit.js'
export { type BypassOptions, type BypassReport, expectNoMfaBypass, findMfaBypasses } from './mfa-bypasses.js'
export type { BypassLogin, MfaBypass } from './probe-login.js'
export type { BypassAgent, HostApp } from './probed-app.js'
export {
  type AgentAnswer,
  type AgentRequest,
  type FetchAgent,
  type SignInOptions,
  signInWithMfa,
  type TestAgent,
} from './sign-in.js'
export { totpCode } from './totp.js'
