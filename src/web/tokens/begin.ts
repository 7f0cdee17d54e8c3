import type { Response } from 'express'
import { askSessionState } from '../../session/find-state.js'
import { logIn, requireUser } from '../../session/passport-request.js'
import type { ActiveState } from '../../session/state.js'
import { carryLogin, getTokenLogin } from '../../session/transport.js'
import { readUserId } from '../../session/user-factors.js'
import type { EnteredRequest } from '../actions/context.js'
import { missingFactor } from '../guard/start-mfa.js'
import { sendProblem } from '../http/problem.js'
import { answer } from './answer.js'
import { BESIDE_SESSION, hasSessionUser, newLogin, requireTokenDeps } from './enter.js'

/** Begins the login of the user on the request, and responds: with tokens, or with what is missing. */
export async function beginTokens(at: EnteredRequest, res: Response): Promise<void> {
  const user = requireUser(at.req, 'tokens.begin')
  if (hasSessionUser(at)) return sendProblem(res, BESIDE_SESSION)
  const state = await beginLogin(at, user)
  if (state.stage === 'pending') return respondPending(at, res, state)
  await answer(at, res, { status: 'verified' })
}

/** Begins a login in the place of the session. What the policy requires decides whether it is complete. */
export async function beginLogin(at: EnteredRequest, user: Express.User): Promise<ActiveState> {
  const { req, deps } = at
  const tokens = requireTokenDeps(deps)
  const userId = readUserId(user, deps.settings)
  // Read first, so that an end during this login ends it.
  const { count } = await tokens.generations.read(userId)
  carryLogin(req, newLogin(tokens, userId, count))
  await logIn(req, user)
  const state = await askSessionState(at)
  if (state.stage === 'none') throw new TypeError('A login that has just begun is signed out.')
  return state
}

/** Says what is missing, with the reference of the login, unless the user has too many open logins. */
export async function respondPending(at: EnteredRequest, res: Response, state: ActiveState): Promise<void> {
  const { req, deps } = at
  const login = getTokenLogin(req)
  const seconds = login ? await deps.tokenPlaces.open(state.userId, login.about.place) : 0
  if (seconds === 0) return sendProblem(res, await missingFactor(at, state))
  await requireTokenDeps(deps).logins.take(login?.id ?? '')
  login?.withdraw()
  sendProblem(res, { code: 'too_many_logins', retryAfterSeconds: seconds })
}
