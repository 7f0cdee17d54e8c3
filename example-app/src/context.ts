import type { Mfa, MfaService } from 'countersign'
import type { TranscriptionService } from 'countersign/speech'
import type { Store } from 'express-session'
import type { Config } from './config.js'
import type { CompanyClient } from './identity-provider.js'
import type { SeedUser } from './seed-users.js'
import type { Ledger } from './store/ledger.js'
import type { SignInFailures } from './store/sign-in-failures.js'
import type { StreamTickets } from './store/stream-tickets.js'
import type { Users, VaultUser } from './store/users.js'
import type { AppCode, InboxMessage } from './views/inbox-page.js'

/** The development inbox: all messages, which are not really sent. */
export interface Inbox {
  /** The messages, newest first; with `to`, only those to one contact. */
  messages(filter: { to?: string }): Promise<readonly InboxMessage[]>
  /** The codes that the authenticator apps of the seed users show now. */
  apps(): readonly AppCode[]
  /** The key that a request must show to read them. */
  key(): Promise<string>
}

/** The parts that the app is built from. */
export interface VaultContext {
  readonly config: Pick<
    Config,
    'production' | 'trustedProxies' | 'publicUrl' | 'stepUpMaxAge' | 'staff' | 'identityProvider'
  >
  readonly users: Users
  readonly ledger: Ledger
  readonly signInFailures: SignInFailures
  readonly mfa: Mfa<VaultUser>
  /** Sends and checks the code of a new phone number. */
  readonly codes: Pick<MfaService, 'send' | 'verify'>
  /** The passkeys and security keys of the customers, which the service keeps. */
  readonly keys: MfaService['keys']
  /** Turns recordings and speech into text. */
  readonly transcriber: Pick<TranscriptionService, 'transcribe' | 'createStreamTicket'>
  readonly streamTickets: StreamTickets
  /** Where browsers open the streams of an external service, such as `wss://mfa.example`; by default at this app. */
  readonly streamOrigin?: string | undefined
  readonly sessionSecret: string
  /** Defaults to this process's memory. */
  readonly sessionStore?: Store | undefined
  /** Present in development with the embedded service. */
  readonly inbox?: Inbox | undefined
  /** The client that Vault is to its identity provider, if it has one. */
  readonly company?: CompanyClient | undefined
  /** The users that the sign-in page lists; empty in production. */
  readonly seedUsers: readonly SeedUser[]
}
