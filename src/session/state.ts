import type { Request } from 'express'
import type { MfaStatus } from '../host.js'
import type { Amr } from '../protocol/amr.js'
import type { Factor } from '../protocol/factor.js'
import type { Method } from '../protocol/methods.js'
import type { SessionDeps } from './deps.js'
import type { MfaRecord } from './record.js'

/** Where the session of a request stands. */
export type SessionState = SignedOut | ActiveState

/** Nobody is signed in. */
export interface SignedOut {
  readonly stage: 'none'
  /** A pending login took too long and was ended (R05). */
  readonly expired: boolean
}

/** The first factor was shown in this session. */
export interface ActiveState {
  /**
   * `pending`: the second factor is missing, and the user is withheld; a user without any factor stays so until one is
   * set up. `exempt`: signed in without one, since there is none or the policy asks for none. `trusted`: signed in
   * without one, since a trusted device takes its place. Always the stage of the record.
   */
  readonly stage: MfaRecord['stage']
  /** The host's user. */
  readonly user: Express.User
  readonly userId: string
  readonly record: MfaRecord
  /** The user's factors; `undefined` until `factorsOf` asks the host for them, which may cost a query. */
  factors: readonly Factor[] | undefined
  /** Until when a factor may be set up, in milliseconds since 1970. */
  readonly graceUntil?: number
}

/** A second factor that was shown, and that the next `req.logIn` of the same user makes a verified session of. */
export interface PendingVerification {
  readonly userId: string
  readonly method: Method | 'backup'
  /** The record of the session in which it was shown. */
  readonly record: MfaRecord
  /** Whether Passport is to find the return address where it looks for it (`successReturnToOrRedirect`). */
  readonly keepReturnTo: boolean
  /** What the new session remembers of the backup codes that are left. */
  readonly backupCodes?: MfaRecord['backupCodes']
  /** Called when the new session is saved. */
  onVerified?(): Promise<void>
  /** Called when no session could be made of it. */
  release(): Promise<void>
}

/** A session that the next `req.logIn` of the same user carries on under another id. */
export interface PendingRenewal {
  readonly userId: string
  /** What the new session remembers, but for its id; `undefined` when the old one remembered nothing. */
  readonly renewed: MfaRecord | undefined
  /** Called when no session could be made of it. */
  release(): Promise<void>
}

/** The state of a session that holds this record. */
export function activeState(
  user: Express.User,
  record: MfaRecord,
  factors?: readonly Factor[],
  graceUntil?: number,
): ActiveState {
  const { stage, userId } = record
  return { stage, user, userId, record, factors, ...(graceUntil !== undefined && { graceUntil }) }
}

/** `req.mfa`: the state as the host sees it. A class, since one is made for every request of the host. */
export class RequestMfaStatus implements MfaStatus {
  readonly status: MfaStatus['status']
  readonly trusted: boolean
  readonly amr: readonly Amr[]
  readonly verifiedAt: number | null
  readonly expiresAt: number | null
  readonly graceUntil: number | null
  private readonly words: () => string | null

  constructor(req: Request, state: SessionState, deps: SessionDeps) {
    const record = state.stage === 'none' ? undefined : state.record
    const verified = record?.stage === 'verified' ? record : undefined
    const pending = record?.stage === 'pending' ? record : undefined
    this.status = pending ? 'pending' : verified ? 'verified' : 'none'
    this.trusted = state.stage === 'trusted'
    this.amr = verified ? verified.amr : NO_AMR
    this.verifiedAt = verified ? verified.verifiedAt : null
    this.expiresAt = pending ? pending.startedAt + deps.settings.pendingLoginMs : null
    const graceUntil = state.stage === 'exempt' ? (state.graceUntil ?? null) : null
    this.graceUntil = graceUntil
    this.words = graceUntil === null ? nothing : () => deps.banner(req, graceUntil)
  }

  /** Worded only for a page that shows it. */
  get banner(): string | null {
    return this.words()
  }

  /** Everything that the host sees, as JSON. */
  toJSON(): MfaStatus {
    const { status, trusted, amr, verifiedAt, expiresAt, graceUntil, banner } = this
    return { status, trusted, amr, verifiedAt, expiresAt, graceUntil, banner }
  }
}

const NO_AMR: readonly Amr[] = Object.freeze([])
const nothing = () => null
