import type { Request } from 'express'
import type { Deps } from '../flows/deps.js'
import type { MfaUser } from '../flows/user.js'
import type { Amr, Factor, ShownMethod, Strength } from '../protocol/factor.js'
import type { LogIn, LogOut } from './passport-request.js'
import type { Activity, Grace, MfaRecord, TrustedRecord } from './record.js'

/** A value that is known at once, unless something has to be asked for it. */
export type Awaitable<Value> = Value | Promise<Value>

/** The session state of a request: a union on `stage`. */
export type SessionState = SignedOut | ActiveState

/** No user is signed in. */
export interface SignedOut {
  readonly stage: 'none'
  /** A pending login took too long and was ended (R05). */
  readonly expired: boolean
}

/**
 * The first step of a pending login (R115, R135). `factor`: show what is left after a reset, or the strongest factor there is.
 * `enrollment`: set up the new factor. `recovery`: show any factor (R94). `nothing`: show a factor, or set up the first one.
 */
export type LoginRequirement =
  | { readonly requires: 'nothing' | 'recovery'; readonly open?: undefined }
  | { readonly requires: 'bypass_code' | 'factor' | 'enrollment'; readonly open: OpenReset | undefined }

/** The facts about the account that were read in this request, all at once. */
export interface KnownAccount extends Omit<Account, 'user' | 'userId' | 'reset' | 'unconfirmed'> {
  /** The factors that reach `minStrength`, or the strongest ones of an account that has none of them. */
  readonly factors: readonly Factor[]
  /** The least strength of the factor that signs the user in, or steps up. */
  readonly minStrength?: Strength | undefined
  readonly requirement: LoginRequirement
}

/** The first factor was shown in this session. */
export interface ActiveState {
  /** `pending`: the user is withheld. `trusted`: a trusted device took the factor's place. `exempt`: none is required. */
  readonly stage: MfaRecord['stage']
  /** The host's user. */
  readonly user: Express.User
  readonly userId: string
  readonly record: MfaRecord
  /** The request names this user, and the session is another user's: nothing of it is changed (R143). */
  readonly isForeign?: true
  /** The user's factors, and what a reset requires; `undefined` until `findAccount` asks for them, which may need a query. */
  account: KnownAccount | undefined
}

/** The user of a session, and the record that the session has for them. */
export interface Found {
  readonly user: Express.User
  readonly userId: string
  readonly record: MfaRecord | undefined
}

/** A second factor that was shown. The user's next `req.logIn` makes a verified session of it, whose record keeps these activities. */
export interface PendingVerification
  extends Pick<Activity, 'backupCodes' | 'enrolled' | 'weakApp' | 'keyOffer'> {
  readonly userId: string
  /** The factor that it counts as, by its strength. */
  readonly shown: ShownMethod
  /** The methods that it proves, for `amr`. */
  readonly amr: readonly Amr[]
  /** The record of the session in which it was shown. */
  readonly record: MfaRecord
  /** Whether the return address is kept in `req.session.returnTo`, for Passport's `successReturnToOrRedirect`. */
  readonly keepReturnTo: boolean
  /** Called when the new session is saved. */
  onVerified?(): Promise<void>
  /** Called when no session could be created from it. */
  release(): Promise<void>
}

/** A session that the next `req.logIn` of `userId` continues under another id. */
export interface PendingRenewal {
  readonly userId: string
  /** Whose session it is now, if that is another user: someone begins or stops to act for a user. */
  readonly of?: string
  /** Whether the host's own data in the session are kept. Defaults to yes. */
  readonly keepSessionInfo?: boolean
  /** The record of the new session, apart from its id. */
  readonly renewed: MfaRecord
  /** Called when no session could be created from it. */
  release(): Promise<void>
}

/** The state that a new session continues: a verification, which makes it a verified one, or a session under another id. */
export type Continued = PendingVerification | PendingRenewal

/** The parts that the session module works with, built once from the options. */
export interface SessionDeps
  extends Pick<
    Deps,
    'settings' | 'emit' | 'enrolledFactors' | 'factorRecord' | 'factorChanges' | 'sessionsValidAfter'
  > {
  readonly approvalRequests: Deps['approvalRequests']
  readonly tokenPlaces: Deps['tokenPlaces']
  /** A sentence about the end of a running grace period, or about a weak app, in the language of the request. */
  banner(req: Request, about: Grace | 'weak_app'): string
  /** Warns, once per process, about evidence that a correct host does not return, and about sessions that do not last. */
  readonly diagnostics: { warn(code: 'MFA_WARN_EVIDENCE'): void; inspectLogin(req: Request): void }
  /** Reports contacts that the host lists for a user and that cannot be used (R153). */
  reportUnusable(userId: string, listed: readonly Factor[]): void
  readonly trustedDevices: TrustedDevices
  /** Called when a user signed in. Never delays or fails the sign-in. */
  readonly newBrowsers: { signedIn(req: Request, account: Pick<Account, 'user' | 'userId'>): void }
  /** The pending recoveries, which a sign-in with the strongest factor cancels (R94). */
  readonly recoveries: { cancel(userId: string, by: 'strong_factor'): Promise<boolean> }
  /** The accounts that wait for a new factor. */
  readonly resets: { find(userId: string): Promise<OpenReset | undefined> }
}

/** Factors of an account ended, and its user has to set up a new one. */
export interface OpenReset {
  readonly id: string
  /** `recovery`: the user completed one. `help_desk`: staff reset the account, and the user needs a bypass code. */
  readonly kind: 'recovery' | 'help_desk'
  /** Whether every app, key and backup code ended that the service has. */
  readonly endsAll: boolean
  /** Whether the factor ended with it, whether or not the host still lists it. */
  hasEnded(factor: Pick<Factor, 'method' | 'contact'>): boolean
}

/** A user as the host describes them now. */
export interface Account extends Pick<MfaUser, 'userId' | 'factors' | 'withheld' | 'existing'> {
  readonly user: Express.User
  /** The least strength that every session of the account requires (R116). */
  readonly minStrength?: Strength | undefined
  /** The user's open reset. The factors that it ended are in neither list. */
  readonly reset?: OpenReset | undefined
  /** Whether the service says that the authenticator app should be set up again. */
  readonly weakApp?: boolean | undefined
  /** The service is down, and the host's record says that the user has no factor. */
  readonly unconfirmed?: true
}

/** The id of a trusted device, and the user's factors as a digest, which its trust is bound to. */
type RecognizedDevice = Pick<TrustedRecord, 'device' | 'factors'>

/** The facts that a sign-in needs about the browser that it comes from. */
export interface TrustedDevices {
  /** The trusted device by which this browser skips the second factor of this user, if there is one. Never fails. */
  recognize(req: Request, account: Account): Promise<RecognizedDevice | undefined>
  /** Whether that device is still trusted; with `account`, also for its factors. @throws {TrustStoreError} when the store fails. */
  holds(record: TrustedRecord, user: Express.User, account?: Account): Awaitable<boolean>
}

/** A session state, and the session id that it was found for: a login or logout changes the id. */
interface FoundState {
  readonly product: string
  readonly sessionId: string
  readonly state: SessionState
  /** Whether the service was asked for it, where that matters. */
  readonly isAsked: boolean
}

/** The session of a request, with its state for the product that was last asked about. */
interface FoundSession extends FoundState {
  /** The states for other products whose gates the request passed. */
  readonly others: readonly FoundState[]
  /** Whether factors may change without a further proof: the request arrived signed out, or `requireStrongest` let it through. */
  mayChangeFactors: boolean
  /** The text that the session store has for it, while no other step was waited for since it was read. */
  readAhead?: Promise<object | undefined> | undefined
}

/** The gates that a request passed, and Passport's own methods, which the first of them replaced. */
interface PassedGates<Gate> {
  /** The parts of the last gate. */
  readonly last: Gate
  /** Those of the gates before it, the last one first. */
  readonly others: readonly Gate[]
  readonly logIn: LogIn
  readonly logOut: LogOut
}

/** The state that gate, routers, strategy and `req.logIn` share about one request. */
export interface RequestState<Gate extends SessionDeps = SessionDeps> {
  gates?: PassedGates<Gate>
  session?: FoundSession
  /** The login that Passport's call of `req.logIn` for the same user, which comes next, continues. */
  continued?: Continued | undefined
  /** The id of the session that a first factor shown in this request has created. */
  loggedInAs?: string
  /** The session may only be read: the request opens or checks a connection. `found` takes over from this gate. Set by `mfa.upgrade`. */
  readOnly?: true | { readonly gate: Gate; readonly found: (req: Request, state: SessionState) => void }
}

/** A request with what the session module works with, handed over together. */
export interface SessionRequest<Gate extends SessionDeps = SessionDeps> {
  readonly req: Request
  readonly deps: Gate
  readonly shared: RequestState<Gate>
}
