import type { Request } from 'express'
import type { MfaStatus } from '../options/host.js'
import type { MfaApproval } from '../protocol/details.js'
import { acrOfStrength, findStronger, getStrength, reaches } from '../protocol/factor.js'
import type { TokenClaims } from '../protocol/token-claims.js'
import { listMethods, type MfaRecord, type VerifiedRecord } from './record.js'
import type { RequestState, SessionRequest, SessionState } from './state.js'

/**
 * `req.mfa`: the state as the host sees it. A class, because every request of the host needs one. It also carries what this package
 * keeps for the request, hidden from the host and its log.
 */
export class RequestMfaStatus implements MfaStatus {
  readonly #at: SessionRequest
  readonly status: MfaStatus['status']
  readonly trusted: boolean
  readonly amr: readonly string[]
  readonly verifiedAt: number | null
  readonly expiresAt: number | null
  readonly graceUntil: number | null
  /** Set by the guard that let the request through. */
  approval: MfaApproval | null = null
  /** Set by what lets a token be issued. */
  claims: TokenClaims | null = null
  private readonly record: MfaRecord | undefined

  constructor(at: SessionRequest, state: SessionState) {
    this.#at = at
    const record = state.stage === 'none' ? undefined : state.record
    const verified = record?.stage === 'verified' ? record : undefined
    const pending = record?.stage === 'pending' ? record : undefined
    this.status = pending ? 'pending' : verified ? 'verified' : 'none'
    this.trusted = state.stage === 'trusted'
    this.record = record
    this.amr = verified ? amrOf(verified) : NO_AMR
    this.verifiedAt = verified ? verified.verifiedAt : null
    this.expiresAt = pending ? pending.startedAt + at.deps.settings.login.pendingLifetimeMs : null
    const grace = pending ? undefined : record?.grace
    this.graceUntil = grace && grace.until > Date.now() ? grace.until : null
  }

  /** The state that this package keeps for the request that shows this status, unless it was moved to another request. */
  static stateIn(req: Request): RequestState | undefined {
    const { mfa } = req
    return mfa instanceof RequestMfaStatus && mfa.#at.req === req ? mfa.#at.shared : undefined
  }

  /** Composed only for a page that reads it. */
  get banner(): string | null {
    const { req, deps } = this.#at
    const { grace, weakApp } = this.record ?? {}
    if (this.graceUntil !== null && grace) return deps.banner(req, grace)
    return this.status === 'verified' && weakApp ? deps.banner(req, 'weak_app') : null
  }

  get acr(): string | null {
    return this.record?.stage === 'verified' ? findAcr(this.record) : null
  }

  get authTime(): number | null {
    return this.verifiedAt === null ? null : Math.floor(this.verifiedAt / 1000)
  }

  get actor(): MfaStatus['actor'] {
    const { acting } = this.record ?? {}
    return acting ? { sub: acting.actor } : null
  }

  get issuer(): string | null {
    const evidence = this.record?.stage === 'verified' ? this.record.evidence : undefined
    return evidence?.strength ? evidence.issuer : null
  }

  /** Everything that the host sees, as JSON. */
  toJSON(): Omit<MfaStatus, 'claims'> {
    const { status, trusted, amr, acr, authTime, issuer, actor, verifiedAt, expiresAt, graceUntil } = this
    const { banner, approval } = this
    const times = { verifiedAt, expiresAt, graceUntil }
    return { status, trusted, amr, acr, authTime, issuer, actor, ...times, banner, approval }
  }
}

const NO_AMR: readonly string[] = Object.freeze([])

/** The proofs made here, and those that the evidence of the login adds. */
export function amrOf({ amr, evidence }: VerifiedRecord): readonly string[] {
  return evidence ? [...new Set<string>([...amr, ...evidence.amr])] : amr
}

/** The class of the strongest factor of a session: of one shown here, or what the issuer of stronger evidence said. */
export function findAcr(record: VerifiedRecord): string | null {
  const { amr, evidence } = record
  const strengths = listMethods(record).map(getStrength)
  const own = strengths.length === 0 ? undefined : strengths.reduce(findStronger)
  const stated = evidence?.strength
  if (!own || (stated && !reaches(own, stated))) return evidence?.acr ?? null
  return acrOfStrength(own, amr)
}
