import type { NextFunction, Response } from 'express'
import { findSessionState, setState } from '../../session/find-state.js'
import { RequestMfaStatus } from '../../session/mfa-status.js'
import { getUser, showUser } from '../../session/passport-request.js'
import { addRecord } from '../../session/product.js'
import { decideState } from '../../session/settled-state.js'
import { carryLogin } from '../../session/transport.js'
import { readUserId } from '../../session/user-factors.js'
import { pickGiven } from '../../shape.js'
import type { EnteredRequest } from '../actions/context.js'
import { respondPending } from './begin.js'
import { makeClaims, readClaims } from './claims.js'
import { newLogin, refuseToken, requireTokenDeps } from './enter.js'

/** Decides whether a token may be refreshed, before the host's own handler (R133, R152). */
export async function refreshTokens(at: EnteredRequest, res: Response, next: NextFunction): Promise<void> {
  const { req, deps } = at
  const tokens = requireTokenDeps(deps)
  const payload = tokens.options.claims(req)
  const claims = payload ? await readClaims(tokens, payload, req) : undefined
  if (!claims?.sid || claims.generation === undefined) return refuseToken(res, { code: 'sign_in_required' })
  const { userId, sid, login: proven } = claims
  const user = getUser(req) ?? (await tokens.options.findUser(userId))
  if (!user) return refuseToken(res, { code: 'session_ended' })
  if (readUserId(user, deps.settings) !== userId) return refuseToken(res, { code: 'other_user' })
  const generation = await tokens.generations.read(userId)
  if (generation.hasEnded(claims)) return refuseToken(res, { code: 'session_ended' })
  // A due factor is a login of its own, since the access token beside it may have expired.
  const recordFor = (sessionId: string) => ({
    ...claims.recordFor(sessionId, proven),
    ...pickGiven({ lastEnd: generation.lastEnd }),
  })
  const login = newLogin(tokens, userId, generation.count, (id) => addRecord(undefined, recordFor(id)))
  login.isVouched = true
  carryLogin(req, login)
  showUser(req, user)
  const { stage, grace } = recordFor('')
  const isGraceOver = stage === 'verified' && grace !== undefined && grace.until <= Date.now()
  const state = isGraceOver
    ? setState(at, await decideState(at, { user, userId, record: undefined }))
    : await findSessionState(at)
  if (state.stage === 'none') return refuseToken(res, { code: 'session_ended' })
  if (state.stage === 'pending') return respondPending(at, res, state)
  const status = req.mfa
  if (status instanceof RequestMfaStatus) {
    status.claims = await makeClaims(tokens, { record: state.record, sid, generation: generation.count })
  }
  next()
}
