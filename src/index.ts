/** The entry `countersign`: every public name. */
export type { BreakerOptions, ServiceAddress } from './client/address.js'
export type { Dialect, DialectInput } from './client/dialect.js'
export { createMfa, type Mfa } from './create-mfa.js'
export type { WarningCode } from './diagnostics/warnings.js'
export type { Duration } from './duration.js'
export {
  backupRouter,
  challengeRouter,
  devicesRouter,
  enrollAppRouter,
  enrollKeyRouter,
  languageRouter,
  MfaStrategy,
  mfaAccount,
  mfaAdmission,
  mfaMetrics,
  mfaRouter,
  mfaSession,
  mfaUpgrade,
  notMeRouter,
  recoveryRouter,
  startMfa,
  verifyRouter,
  wellKnownRouter,
} from './entry-points.js'
export {
  HostError,
  type HostErrorCode,
  LimitsStoreError,
  MfaError,
  OptionsError,
  type ServiceEffect,
  ServiceError,
  type ServiceErrorCode,
  SessionEndedError,
  SessionStoreError,
  TranscriptionError,
  type TranscriptionFailure,
  TrustStoreError,
  WebhookSignatureError,
} from './errors.js'
export type { MfaEvent } from './flows/events.js'
export type { ByMethod, MfaMetrics } from './flows/metrics.js'
export type { RefusalCode } from './flows/refusal.js'
export { requireMfa } from './guard/require-mfa.js'
export type { MfaRule, ResumeField } from './guard/rule.js'
export type { MfaUpgrade, RefusedUpgrade, SignedInUpgrade, Upgrade, UpgradeOptions } from './guard/upgrade.js'
export type { MfaStatus } from './host.js'
export type { MfaAccount } from './http/account.js'
export type { AccountReset } from './http/reset.js'
export type { MfaState } from './http/schemas.js'
export type { LimitOptions } from './limits/options.js'
export { type ClientLiveOptions, type MfaClient, type MfaClientOptions, mfaClient } from './mfa-client.js'
export type { NoticeCatalogue } from './notices/catalogue.js'
export type { AccountNotice, NoticeFacts, NoticeType } from './notices/notice.js'
export type {
  Compromise,
  KeyOptions,
  LanguageOptions,
  LoginOptions,
  MfaOptions,
  NoticeOptions,
  PageOptions,
  PolicyContext,
  PolicyDecision,
  UrlOptions,
} from './options.js'
export type { Catalogue as PageCatalogue } from './pages/locales/catalogue.js'
export type {
  ChallengeView,
  CodeFactorView,
  DeviceView,
  FactorView,
  KeyFactorView,
  KeyView,
  PageFrame,
  PageMessage,
  ProblemCode,
  RenderView,
  ResumeEntry,
  View,
} from './pages/view.js'
export type { MfaFailure } from './passport/strategy.js'
export type { Amr } from './protocol/amr.js'
export type { FactorInput } from './protocol/factor.js'
export type { DeliveredMethod, Method } from './protocol/methods.js'
export type {
  MfaService,
  SendAnswer,
  VerifyAnswer,
} from './protocol/service.js'
export type {
  CreatedTranscriptionJob,
  LiveOptions,
  StreamTicket,
  TranscribeAnswer,
  Transcribed,
  TranscribeRequest,
  TranscriptFormat,
  TranscriptionJob,
  TranscriptionJobRequest,
  TranscriptionProgress,
  TranscriptionRefusal,
  TranscriptionService,
  TranscriptPiece,
  TranscriptSegment,
  TranscriptWord,
} from './protocol/transcription.js'
export type { BypassCode } from './recovery/bypass-code.js'
export type { EndedFactor, NoticeContact, RecoveryOptions } from './recovery/options.js'
export type { PostgresConfig, PostgresTable, RedisConfig, StoreConfig } from './stores/config.js'
export type { CounterStore, StoredCount } from './stores/counter-store.js'
export type { ItemStore, StoredItem } from './stores/store.js'
export type { MfaTexts } from './texts.js'
export type { TrustedDeviceOptions } from './trust/options.js'
export { verifyWebhook, type WebhookHeaders } from './verify-webhook.js'
