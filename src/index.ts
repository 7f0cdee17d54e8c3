/** The entry `countersign`: every public name. */

export type { MfaAccount } from './actions/account.js'
export type { ServiceAddress } from './client/address.js'
export {
  backupRouter,
  challengeRouter,
  createMfa,
  enrollAppRouter,
  type Mfa,
  MfaStrategy,
  mfaRouter,
  mfaSession,
  startMfa,
  verifyRouter,
} from './create-mfa.js'
export {
  HostError,
  LimitsStoreError,
  MfaError,
  OptionsError,
  ServiceError,
  SessionEndedError,
  SessionStoreError,
  TranscriptionError,
  TrustStoreError,
  WebhookSignatureError,
} from './errors.js'
export type { MfaEvent } from './flows/events.js'
export type { MfaMetrics } from './flows/metrics.js'
export { requireMfa } from './guard/require-mfa.js'
export type { MfaRule } from './guard/rule.js'
export type { SignedInUpgrade } from './guard/upgrade.js'
export type { MfaStatus } from './host.js'
export type { MfaState } from './http/schemas.js'
export { type MfaClient, mfaClient } from './mfa-client.js'
export type { AccountNotice, NoticeCatalogue } from './notices/notice.js'
export type { PolicyDecision } from './options/login.js'
export type { Compromise } from './options/notices.js'
export type { MfaOptions } from './options.js'
export type { Catalogue as PageCatalogue } from './pages/locales/catalogue.js'
export type { PageFrame, RenderView, View } from './pages/view.js'
export type { MfaFailure } from './passport/strategy.js'
export type { FactorInput } from './protocol/factor.js'
export type { MfaService } from './protocol/service.js'
export type { TranscribeAnswer, TranscribeRequest, TranscriptionService } from './protocol/transcription.js'
export type { StoreConfig } from './stores/config.js'
export type { CounterStore, ItemStore } from './stores/store.js'
export type { MfaTexts } from './texts.js'
export type { Duration } from './time.js'
export { verifyWebhook } from './verify-webhook.js'
