/** The entry `countersign`: every public name. */

export { type MfaClient, mfaClient } from './client/mfa-client.js'
export { verifyWebhook } from './client/verify-webhook.js'
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
  TrustStoreError,
  WebhookSignatureError,
} from './errors.js'
export type { MfaEvent } from './flows/events.js'
export type { MfaMetrics } from './flows/metrics.js'
export type { MfaStatus } from './options/host.js'
export type { PolicyDecision } from './options/login.js'
export type { Compromise } from './options/notices.js'
export type { MfaOptions } from './options/options.js'
export type { ServiceAddress } from './options/service.js'
export type { Catalogue as PageCatalogue } from './pages/locales/catalogue.js'
export type { NoticeCatalogue } from './pages/notices/compose.js'
export type { AccountNotice } from './pages/notices/notice.js'
export type { MfaTexts } from './pages/texts.js'
export type { PageFrame, RenderView, View } from './pages/view.js'
export type { FactorInput } from './protocol/factor.js'
export type { MfaService } from './protocol/service.js'
export type { TokenClaims, TokenEnd, TokenReason } from './protocol/token-claims.js'
export type { MfaState } from './routes/answers.js'
export type { StoreConfig } from './stores/config.js'
export type { CounterStore, ItemStore } from './stores/store.js'
export type { Duration } from './time.js'
export type { MfaAccount } from './web/actions/account.js'
export { requireMfa } from './web/guard/require-mfa.js'
export type { MfaRule } from './web/guard/rule.js'
export type { SignedInUpgrade } from './web/guard/upgrade.js'
export type { MfaFailure } from './web/passport/strategy.js'
