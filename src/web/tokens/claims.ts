import type { Request } from 'express'
import * as z from 'zod'
import { canonicalJson } from '../../flows/canonical-json.js'
import { SHOWN_METHODS } from '../../protocol/factor.js'
import type { TokenClaims, TokenMfa } from '../../protocol/token-claims.js'
import { comesFromRequest, readEvidence } from '../../session/evidence.js'
import { letInText, readLetIn } from '../../session/let-in-text.js'
import { acrOf, amrOf } from '../../session/mfa-status.js'
import { newRecord } from '../../session/pending-login.js'
import { productOf } from '../../session/product.js'
import { activitySchema, type MfaRecord, type VerifiedRecord } from '../../session/record.js'
import { onlyGiven } from '../../shape.js'
import type { TokenDeps } from '../actions/context.js'

/*
 * The claims of a token instead of the record of a session (R152). `sid` takes the place of the session's id, and `mark` shows that the
 * claims are ours. Times are in seconds, cut, so that a factor never seems fresher than it is.
 */

const seconds = z.int().nonnegative()
const { evidence, grace } = activitySchema.shape
const methods = z.partialRecord(z.enum(SHOWN_METHODS), seconds)

/** What counts of the claims that others read, too. */
const stated = z.object({ amr: z.array(z.string()), acr: z.string().optional(), auth_time: seconds })

/** What only guards read. */
const kept = z.object({
  methods,
  letIn: z.string().optional(),
  grace: grace.optional(),
  evidence: evidence.optional(),
})

const proven = z.strictObject({ ...stated.shape, ...kept.shape })

/** What a login or step-up has proven. */
type Proven = z.output<typeof proven>

const mfaSchema = z.strictObject({
  ...kept.shape,
  product: z.string(),
  generation: z.int().nonnegative(),
  since: seconds,
  login: proven.optional(),
  mark: z.string(),
})

const claimsSchema = stated.extend({
  sub: z.string().min(1),
  sid: z.string().min(1).max(255),
  mfa: mfaSchema,
})

type Ours = z.output<typeof claimsSchema>

/** What a token says, checked. */
export interface ReadClaims {
  readonly userId: string
  /** The id of its login. Absent in the token of an issuer that gives none. */
  readonly sid: string | undefined
  /** Of claims that are ours. */
  readonly generation: number | undefined
  /** Of other claims, in milliseconds since 1970. */
  readonly issuedAt?: number
  /** What the login itself had proven, without later step-ups. */
  readonly login: Proven | undefined
  /** Names exactly these claims. */
  readonly mark: string
  /** What they amount to in a session with this id; of `login`, if that is given. */
  recordFor(sessionId: string, login?: Proven): MfaRecord
}

/** What claims are made of. */
interface Issued {
  readonly record: MfaRecord
  readonly sid: string
  readonly generation: number
  /** In the token of a step-up: what the login itself had proven. */
  readonly login?: Proven | undefined
}

/** The claims for a new token. */
export async function makeClaims(
  { logins }: Pick<TokenDeps, 'logins'>,
  { record, sid, generation, login }: Issued,
): Promise<TokenClaims> {
  const verified = record.stage === 'verified' ? record : undefined
  const { product, userId, startedAt } = record
  const letIn = record.stage === 'exempt' || record.stage === 'trusted' ? record : undefined
  const claims = {
    sub: userId,
    ...onlyGiven({ acr: (verified && acrOf(verified)) ?? undefined }),
    amr: verified ? [...amrOf(verified)] : ['pwd'],
    auth_time: inSeconds(verified?.verifiedAt ?? startedAt),
    sid,
    mfa: {
      product,
      methods: methodTimes(verified),
      generation,
      since: inSeconds(startedAt),
      ...(letIn && { letIn: `${letIn.stage} ${letInText(letIn)}` }),
      ...(verified && onlyGiven({ grace: verified.grace, evidence: verified.evidence })),
      ...onlyGiven({ login }),
    },
  }
  const mark = await logins.mark(canonicalJson(claims))
  return { ...claims, mfa: { ...claims.mfa, mark } as TokenMfa }
}

function methodTimes(verified: VerifiedRecord | undefined): Proven['methods'] {
  return Object.fromEntries(Object.entries(verified?.shown ?? {}).map(([name, at]) => [name, inSeconds(at)]))
}

const inSeconds = (ms: number) => Math.floor(ms / 1000)

/** What the payload of a verified token says; `undefined` for what no token has. */
export async function readClaims(
  tokens: TokenDeps,
  payload: object,
  req?: Request,
): Promise<ReadClaims | undefined> {
  const { settings } = tokens
  const ours = await ownClaims(tokens, payload)
  const isTaken = req && comesFromRequest(req, [payload, Reflect.get(payload, 'mfa')])
  if (ours && !isTaken && ours.mfa.product === productOf(settings)) {
    const { sub, sid, mfa } = ours
    return {
      userId: sub,
      sid,
      generation: mfa.generation,
      login: mfa.login ?? provenBy(ours),
      mark: mfa.mark,
      recordFor: (sessionId, login = provenBy(ours)) => ownRecord(ours, login, sessionId),
    }
  }
  const { sub: userId, sid, auth_time, iat }: Readonly<Record<string, unknown>> = { ...payload }
  if (typeof userId !== 'string' || userId === '') return undefined
  return {
    userId,
    sid: typeof sid === 'string' && sid !== '' && sid.length <= 255 ? sid : undefined,
    generation: undefined,
    issuedAt: 1000 * Number(auth_time ?? iat ?? 0),
    login: undefined,
    mark: await tokens.logins.mark(JSON.stringify(payload)),
    recordFor: (sessionId) => foreignRecord(tokens, payload, { userId, sessionId }, req),
  }
}

/** The claims that `makeClaims` made. */
async function ownClaims({ logins }: TokenDeps, payload: object): Promise<Ours | undefined> {
  const read = claimsSchema.safeParse(payload)
  if (!read.success) return undefined
  const { mark, ...mfa } = read.data.mfa
  return (await logins.mark(canonicalJson({ ...read.data, mfa }))) === mark ? read.data : undefined
}

function provenBy({ amr, acr, auth_time, mfa: { methods: shown, letIn, ...mfa } }: Ours): Proven {
  const { grace: running, evidence: seen } = mfa
  return { amr, auth_time, methods: shown, ...onlyGiven({ acr, letIn, grace: running, evidence: seen }) }
}

/** The record of what claims of our own say was proven. */
function ownRecord(
  { sub: userId, mfa: { product, since } }: Ours,
  { amr, auth_time, methods: shown, letIn, ...rest }: Proven,
  sessionId: string,
): MfaRecord {
  const now = Date.now()
  // The clocks of two processes may differ, and a time in the future proves nothing (R110).
  const time = (at: number) => (at * 1000 <= now + CLOCK_SLACK_MS ? Math.min(at * 1000, now) : at * 1000)
  const { stage: _, ...unstaged } = newRecord({ product, userId }, sessionId)
  const base = { ...unstaged, startedAt: time(since) }
  if (letIn !== undefined) {
    const [stage, ...parts] = letIn.split(' ')
    return readLetIn([stage === 'trusted' ? '2t' : '2e', '-', '0', ...parts], base) ?? undecided(base)
  }
  return {
    ...base,
    stage: 'verified',
    verifiedAt: time(auth_time),
    amr: amr as VerifiedRecord['amr'],
    shown: Object.fromEntries(Object.entries(shown).map(([name, at]) => [name, time(at)])),
    ...onlyGiven({ grace: rest.grace, evidence: rest.evidence }),
  }
}

const CLOCK_SLACK_MS = 60_000

/** A user who is signed in, of whom nothing else is known: what is required is decided now. */
function undecided(base: Omit<MfaRecord, 'stage'>): MfaRecord {
  return { ...base, stage: 'exempt', exemption: 'not_required', settled: { at: 0, changes: 0 } }
}

/** The record of claims that an issuer made, which count as the option `login.issuers` says (R109). */
function foreignRecord(
  { settings }: TokenDeps,
  payload: object,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  req?: Request,
): MfaRecord {
  const base = newRecord({ product: productOf(settings), userId }, sessionId)
  const { iss: issuer, amr, acr, auth_time: authTime }: Readonly<Record<string, unknown>> = { ...payload }
  const given = { issuer, authTime, ...onlyGiven({ amr, acr }) }
  if (!req) return undecided(base)
  const { evidence: read, fault } = readEvidence(given, { req, issuers: settings.login.issuers })
  if (!read?.strength || fault) return undecided(base)
  return { ...base, stage: 'verified', verifiedAt: read.authTime, amr: [], shown: {}, evidence: read }
}

/** What a login beside a token has kept of it. */
export function readProven(kept: unknown): Proven | undefined {
  return proven.safeParse(kept).data
}
