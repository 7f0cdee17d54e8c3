import type { Response } from 'express'
import { getUser, showUser, withholdUser } from '../../session/passport-request.js'
import { addRecord, nameProduct } from '../../session/product.js'
import type { ActiveState } from '../../session/state.js'
import { recordOf } from '../../session/store.js'
import { TokenLogin } from '../../session/token-login.js'
import { carryLogin, getTokenLogin } from '../../session/transport.js'
import { readUserId } from '../../session/user-factors.js'
import { newId } from '../../stores/trust/devices.js'
import type { EnteredRequest, TokenDeps } from '../actions/context.js'
import { setSecurityHeaders } from '../http/headers.js'
import { getStatus, type Problem, sendProblem } from '../http/problem.js'
import { sendsToken } from '../http/request.js'
import { type ReadClaims, readClaims } from './claims.js'

/*
 * Which transport a request uses: a session, the reference of a login (`MFA-Login`), a token, or both of these.
 */

/** The header with the reference of a login. */
export const REFERENCE = 'mfa-login'

const LOGIN_ENDED: Problem = { code: 'pending_login_expired' }

/** Two logins in one request. */
export const BESIDE_SESSION: Problem = {
  code: 'invalid_request',
  errors: [{ field: REFERENCE, detail: 'must not be sent beside the session of a user' }],
}

/** Puts the login of a request with a reference or a token in the place of the session. Returns why it is refused, if it is. */
export async function enterLogin(at: EnteredRequest, res: Response): Promise<Problem | undefined> {
  const { req, deps } = at
  const { tokens } = deps
  if (!tokens || getTokenLogin(req)) return undefined
  const { authenticate, claims, only } = tokens.options
  const reference = req.get(REFERENCE)
  if (reference !== undefined && hasSessionUser(at)) return BESIDE_SESSION
  if (authenticate && sendsToken(req)) {
    // The user of a session is not the one whom the token names.
    withholdUser(req)
    await passHandler(authenticate, at, res)
  }
  const payload = claims(req) ?? undefined
  if (payload) return enterToken(at, payload, { purpose: 'account', isAccount: true })
  if (reference !== undefined) return enterReference(at, tokens, reference)
  if (only) carryLogin(req, newLogin(tokens, '', 0))
  return undefined
}

/** Refuses a request with a reference or a token. A token that ended is invalid (RFC 6750, section 3.1). */
export function refuseToken(res: Response, problem: Problem): void {
  setSecurityHeaders(res)
  if (getStatus(problem.code) === 401) res.set('WWW-Authenticate', 'Bearer error="invalid_token"')
  sendProblem(res, problem)
}

/** Whether a user is signed in to the session of a request, or pending. */
export function hasSessionUser({ req, shared: { session } }: EnteredRequest): boolean {
  return !getTokenLogin(req) && session !== undefined && session.state.stage !== 'none'
}

function passHandler(
  handler: NonNullable<TokenDeps['options']['authenticate']>,
  { req }: EnteredRequest,
  res: Response,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const passedOn = handler(req, res, (error?: unknown) => (error ? reject(error) : resolve()))
    // It may be asynchronous, as in Express 5.
    Promise.resolve(passedOn).catch(reject)
  })
}

/** A login that begins now, of which nothing is stored yet. */
export function newLogin(
  { logins }: TokenDeps,
  userId: string,
  generation: number,
  mfa?: (sessionId: string) => unknown,
): TokenLogin {
  return new TokenLogin(logins, { about: { userId, generation, place: newId() }, ...(mfa && { mfa }) })
}

/** A pending login, of which the client knows the reference. */
async function enterReference(
  { req }: EnteredRequest,
  { logins, options }: TokenDeps,
  reference: string,
): Promise<Problem | undefined> {
  const login = await TokenLogin.find(logins, reference)
  if (!login) return LOGIN_ENDED
  // A step-up works only beside a token of its login.
  if (login.about.of) return { code: 'sign_in_required' }
  const user = await options.findUser(login.about.userId)
  if (!user) {
    await logins.take(login.id)
    return LOGIN_ENDED
  }
  carryLogin(req, login)
  showUser(req, user)
  return undefined
}

/** The use of a token. */
interface TokenUse {
  /** Of the guard, or of our own routes: each has a step-up of its own. */
  readonly purpose: string
  /** Whether the request may use an approval, which waits under the reference. Freshness is what the claims say. */
  readonly isBound?: boolean
  /** Whether it is a request to our own routes. */
  readonly isAccount?: boolean
}

/** A token, whose claims take the place of the session's record; with a reference, of what is under way beside it. */
export async function enterToken(
  at: EnteredRequest,
  payload: object,
  { purpose, isAccount = false, isBound = isAccount }: TokenUse,
): Promise<Problem | undefined> {
  const { req, deps } = at
  const tokens = requireTokenDeps(deps)
  const claims = await readClaims(tokens, payload, req)
  if (!claims) return { code: 'sign_in_required' }
  const user = getUser(req) ?? (await tokens.options.findUser(claims.userId))
  if (!user) return { code: 'session_ended' }
  if (readUserId(user, deps.settings) !== claims.userId) return { code: 'other_user' }
  const reference = isBound ? req.get(REFERENCE) : undefined
  const sent = reference === undefined ? undefined : await TokenLogin.find(tokens.logins, reference)
  if (isAccount && reference !== undefined && !sent) return LOGIN_ENDED
  if (sent && (sent.about.userId !== claims.userId || (sent.about.of && sent.about.of.sid !== claims.sid))) {
    return { code: 'other_user' }
  }
  const generation = await tokens.generations.recent(claims.userId)
  if (generation.hasEnded(claims)) return { code: 'session_ended' }
  const login = sent ?? (await findLoginBeside(tokens, claims, { purpose, ...generation }))
  login.isVouched = login.about.of !== undefined
  if (isAccount && !sent) await login.resume(req.method === 'POST')
  carryLogin(req, login)
  showUser(req, user)
  return undefined
}

/** The state of a request with a token, with what an earlier refusal of this guard has left under way. */
export async function resumeState(at: EnteredRequest, state: ActiveState): Promise<ActiveState> {
  const login = getTokenLogin(at.req)
  if (!login?.about.of || login.sent !== undefined) return state
  await login.resume(true)
  const owner = { product: nameProduct(at.deps.settings), userId: state.userId }
  const record = recordOf(at.req, owner)
  return record ? { ...state, record, stage: record.stage } : state
}

/** The login under way beside a token: one for each purpose, whose reference follows from the claims. */
async function findLoginBeside(
  { logins }: TokenDeps,
  claims: ReadClaims,
  { purpose, count, lastEnd }: { purpose: string; count: number; lastEnd: string | undefined },
): Promise<TokenLogin> {
  const { userId, sid, generation = count, login, mark } = claims
  const mfa = (sessionId: string) =>
    addRecord(undefined, { ...claims.recordFor(sessionId), ...(lastEnd !== undefined && { lastEnd }) })
  return new TokenLogin(logins, {
    about: { userId, generation, place: newId(), of: { sid, login } },
    reference: await logins.mark(JSON.stringify(['login beside a token', userId, sid, mark, purpose])),
    mfa,
  })
}

/** The parts that the option `tokens` is built into. */
export function requireTokenDeps({ tokens }: EnteredRequest['deps']): TokenDeps {
  if (tokens) return tokens
  throw new TypeError('The option tokens is missing.')
}
