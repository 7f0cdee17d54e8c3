import type { Response } from 'express'
import { HostError, sessionEnded } from '../../errors.js'
import type { TokenEnd } from '../../protocol/token-claims.js'
import { RequestMfaStatus } from '../../session/mfa-status.js'
import type { TokenLogin } from '../../session/token-login.js'
import { getTokenLogin } from '../../session/transport.js'
import { pickGiven } from '../../shape.js'
import { newId } from '../../stores/trust/devices.js'
import type { EnteredRequest, TokenDeps } from '../actions/context.js'
import { makeClaims } from './claims.js'
import { requireTokenDeps } from './enter.js'

/** Responds with JSON: to a client without a cookie with the tokens of a login that is complete, or with the next reference. */
export async function answer(at: EnteredRequest, res: Response, body: object): Promise<void> {
  const login = getTokenLogin(at.req)
  if (!login) return void res.json(body)
  const device = pickGiven({ device: login.device })
  if (!login.isComplete) return void res.json({ ...body, ...login.news, ...device })
  const { status, next: _next, ...rest }: { status?: unknown; next?: unknown } = { ...body }
  const issued = await issueTokens(at, login)
  res.json({ ...(status !== 'verified' && { status }), ...rest, ...issued, ...device })
}

/** Has the host issue tokens for a login whose reference is consumed, once (R151). @throws {SessionEndedError | HostError} */
async function issueTokens(at: EnteredRequest, login: TokenLogin): Promise<object> {
  const { req, deps } = at
  const tokens = requireTokenDeps(deps)
  const { generations, options } = tokens
  const { of } = login.about
  const { user, claims, generation } = await completeClaims(at, login)
  const { sub: userId, sid } = claims
  const reason = of ? 'step-up' : 'login'
  const body: unknown = await options.issue(user, claims, req, reason)
  if (typeof body !== 'object' || body === null) {
    throw new HostError('ERR_MFA_TOKENS', 'tokens.issue returned no object. Return the body of the answer.')
  }
  if (of && ('refresh_token' in body || 'refreshToken' in body)) {
    throw new HostError(
      'ERR_MFA_TOKENS',
      "tokens.issue returned a refresh token for a step-up, so nothing was sent. With the reason 'step-up', return an access token alone.",
    )
  }
  const after = await generations.read(userId)
  if (after.hasEnded({ generation, sid })) {
    await reportEnd(tokens, { userId, sessionId: sid, reason: 'issued_too_late' })
    throw sessionEnded()
  }
  return body
}

/** The claims of a login whose reference is consumed, of the generation that was read then. @throws {SessionEndedError} */
export async function completeClaims({ deps, shared }: EnteredRequest, login: TokenLogin) {
  const tokens = requireTokenDeps(deps)
  const state = shared.session?.state
  if (!state || state.stage === 'none' || state.stage === 'pending') throw sessionEnded()
  const { user, userId, record } = state
  const { of, generation } = login.about
  const sid = of?.sid ?? newId()
  const now = await tokens.generations.read(userId)
  if (now.hasEnded({ generation, sid })) throw sessionEnded()
  const claims = await makeClaims(tokens, {
    record,
    sid,
    generation: now.count,
    login: of?.login,
  })
  return { user, claims, generation: now.count }
}

/** Says in `req.mfa` what the handler that issues the tokens of a complete login puts into them. */
export async function tellClaims(at: EnteredRequest): Promise<void> {
  const { mfa } = at.req
  const login = getTokenLogin(at.req)
  if (login && mfa instanceof RequestMfaStatus) mfa.claims = (await completeClaims(at, login)).claims
}

/** Tells the host which tokens ended. A failure is logged, since guards know it. */
export async function reportEnd(
  { options, settings: { logger } }: Pick<TokenDeps, 'options' | 'settings'>,
  end: TokenEnd,
): Promise<void> {
  try {
    await options.onEnded?.(end)
  } catch (error) {
    logger.error('countersign: tokens.onEnded failed; guards refuse the tokens that ended', error)
  }
}
