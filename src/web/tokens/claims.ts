import type { Request } from 'express'
import * as z from 'zod'
import { canonicalJson } from '../../flows/canonical-json.js'
import { readObject } from '../../json.js'
import type { TokenClaims } from '../../protocol/token-claims.js'
import { isFromRequest, readEvidence } from '../../session/evidence.js'
import { amrOf, findAcr } from '../../session/mfa-status.js'
import { CLOCK_SLACK_MS, newRecord, newTransaction } from '../../session/pending-login.js'
import { nameProduct } from '../../session/product.js'
import { activitySchema, type MfaRecord, removeActivity } from '../../session/record.js'
import { readRecord, writeRecord } from '../../session/record-text.js'
import { pickGiven } from '../../shape.js'
import type { TokenDeps } from '../actions/context.js'

/*
 * The claims of a token instead of a session (R152): the record as a session stores it, with `sid` as the id of the session, and a mark
 * that shows that it is ours.
 */

const claimsSchema = z.object({
  sub: z.string().min(1),
  acr: z.string().optional(),
  amr: z.array(z.string()),
  auth_time: z.int().nonnegative(),
  sid: z.string().min(1),
  mfa: z.strictObject({
    product: z.string(),
    record: z.unknown(),
    generation: z.int().nonnegative(),
    /** In the token of a step-up: the record of the login itself. */
    login: z.unknown().optional(),
    mark: z.string(),
  }),
})

/** The checked claims of a token. */
export interface ReadClaims {
  readonly userId: string
  /** The id of its login. Absent in the token of an issuer that gives none. */
  readonly sid: string | undefined
  /** Of claims that are ours. */
  readonly generation?: number
  /** Of other claims, in milliseconds since 1970. */
  readonly issuedAt?: number
  /** The record of the login, without later step-ups, as it is stored. */
  readonly login?: unknown
  /** Names exactly these claims. */
  readonly mark: string
  /** The record that they amount to in a session with this id; with `login`, that of the login. */
  recordFor(sessionId: string, login?: unknown): MfaRecord
}

/** The parts that claims are made of. */
interface Issued {
  readonly record: MfaRecord
  readonly sid: string
  readonly generation: number
  /** In the token of a step-up: the record of the login itself. */
  readonly login?: unknown
}

/** The steps under way in a session, and nothing that its factors prove. */
const UNDER_WAY = activitySchema.keyof().exclude(['evidence', 'grace', 'setUp']).options

/** The claims for a new token. */
export async function makeClaims(
  { logins }: Pick<TokenDeps, 'logins'>,
  { record, sid, generation, login }: Issued,
): Promise<TokenClaims> {
  const verified = record.stage === 'verified' ? record : undefined
  const { product, userId, startedAt } = record
  // Equal for equal proofs, so that a refreshed token has equal claims.
  const stored = writeRecord({
    ...removeActivity(record, ...UNDER_WAY),
    sessionId: sid,
    transaction: 'token',
  })
  const claims = {
    sub: userId,
    ...pickGiven({ acr: (verified && findAcr(verified)) ?? undefined }),
    amr: verified ? [...amrOf(verified)] : ['pwd'],
    auth_time: Math.floor((verified?.verifiedAt ?? startedAt) / 1000),
    sid,
    mfa: { product, record: stored, generation, ...pickGiven({ login }) },
  }
  return { ...claims, mfa: { ...claims.mfa, mark: await logins.mark(canonicalJson(claims)) } }
}

/** Reads the payload of a verified token; `undefined` without a user. */
export async function readClaims(
  tokens: TokenDeps,
  payload: object,
  req?: Request,
): Promise<ReadClaims | undefined> {
  const isTaken = req && isFromRequest(req, [payload, readObject(payload).mfa])
  return (isTaken ? undefined : await ownClaims(tokens, payload)) ?? foreignClaims(tokens, payload, req)
}

/** The claims that `makeClaims` made for this product. */
async function ownClaims({ logins, settings }: TokenDeps, payload: object): Promise<ReadClaims | undefined> {
  const read = claimsSchema.safeParse(payload).data
  if (!read) return undefined
  const { mark, ...mfa } = read.mfa
  if ((await logins.mark(canonicalJson({ ...read, mfa }))) !== mark) return undefined
  const { product, generation, record, login = record } = mfa
  const { sub: userId, sid } = read
  if (product !== nameProduct(settings)) return undefined
  return {
    userId,
    sid,
    generation,
    login,
    mark,
    recordFor(sessionId, stored = record) {
      const found = readRecord(stored, { product, userId, sessionId: sid })
      if (!found) return forgetDecision(newRecord({ product, userId }, sessionId))
      return { ...capAtNow(found), sessionId, transaction: newTransaction() }
    },
  }
}

/** A time in the future proves nothing, and the clocks of two processes differ a little (R110). */
function capAtNow(record: MfaRecord): MfaRecord {
  if (record.stage !== 'verified') return record
  const now = Date.now()
  const time = (at: number) => (at <= now + CLOCK_SLACK_MS ? Math.min(at, now) : at)
  const shown = Object.fromEntries(Object.entries(record.shown).map(([name, at]) => [name, time(at)]))
  return { ...record, verifiedAt: time(record.verifiedAt), shown }
}

/** A user who is signed in, of whom nothing else is known: what is required is decided now. */
function forgetDecision(record: MfaRecord): MfaRecord {
  return { ...record, stage: 'exempt', exemption: 'not_required', settled: { at: 0, changes: 0 } }
}

/** Claims of an issuer, which count as the option `login.issuers` says (R109). */
async function foreignClaims(
  { logins, settings }: TokenDeps,
  payload: object,
  req: Request | undefined,
): Promise<ReadClaims | undefined> {
  const claims: Readonly<Record<string, unknown>> = { ...payload }
  const { sub: userId, sid, iss: issuer, amr, acr, auth_time: authTime, iat } = claims
  if (typeof userId !== 'string' || userId === '') return undefined
  return {
    userId,
    sid: typeof sid === 'string' && sid !== '' ? sid : undefined,
    issuedAt: 1000 * Number(authTime ?? iat ?? 0),
    mark: await logins.mark(JSON.stringify(payload)),
    recordFor(sessionId) {
      const base = newRecord({ product: nameProduct(settings), userId }, sessionId)
      const given = { issuer, authTime, ...pickGiven({ amr, acr }) }
      const read = req && readEvidence(given, { req, issuers: settings.login.issuers })
      if (!read?.evidence?.strength || read.fault) return forgetDecision(base)
      const { evidence } = read
      return { ...base, stage: 'verified', verifiedAt: evidence.authTime, amr: [], shown: {}, evidence }
    },
  }
}
