import type { MfaOptions, MfaService } from 'countersign'
import type { Store } from 'express-session'
import type { Config } from './config.js'
import type { SeedUser } from './seed-users.js'
import type { Ledger } from './store/ledger.js'
import type { SignInFailures } from './store/sign-in-failures.js'
import type { Users, VaultUser } from './store/users.js'
import type { AppCode, InboxMessage } from './views/inbox-page.js'

/** Everybody's messages, where the service keeps them instead of sending them. */
export interface Inbox {
  /** Newest first; of one contact alone when `to` is given. */
  messages(filter: { to?: string }): Promise<readonly InboxMessage[]>
  /** What the authenticator apps of the seed show now. */
  apps(): readonly AppCode[]
}

/** What the app is built from; tests hand in their own. */
export interface VaultContext {
  readonly config: Pick<Config, 'production' | 'trustedProxies' | 'publicUrl' | 'stepUpMaxAge'>
  readonly users: Users
  readonly ledger: Ledger
  readonly signInFailures: SignInFailures
  readonly mfa: MfaOptions<VaultUser>
  /** Writes down what is said in a recording. */
  readonly speech: Pick<MfaService, 'transcribe'>
  readonly sessionSecret: string
  /** Defaults to this process's memory. */
  readonly sessionStore?: Store | undefined
  /** Only in development, and only with the embedded service. */
  readonly inbox?: Inbox | undefined
  /** Who is listed on the sign-in page; empty in production. */
  readonly people: readonly SeedUser[]
}
