import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { HostError, SessionEndedError } from '../../errors.js'
import { askedStateOf } from '../../session/find-state.js'
import { logIn, userOf } from '../../session/passport-request.js'
import { requestState } from '../../session/request-state.js'
import type { ActiveState } from '../../session/state.js'
import { carryLogin, tokenLoginOf } from '../../session/transport.js'
import { refuseUngatedLogins } from '../../session/ungated-logins.js'
import { userIdOf } from '../../session/user-factors.js'
import { checkMounted, type EnteredRequest, gateOf, noGateError, type RouteDeps } from '../actions/context.js'
import { missingFactor } from '../guard/start-mfa.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { respondFailure } from '../routers/failure.js'
import { answer } from './answer.js'
import { BESIDE_SESSION, hasSessionUser, newLogin, refuseToken, tokensOf } from './enter.js'

/** Begins the login of a user whom the handlers before have identified, and responds: with tokens, or with what is missing. */
export function loginBegin(own: RouteDeps): RequestHandler {
  const begin = async (at: EnteredRequest, res: Response) => {
    const { req } = at
    const user = userOf(req)
    if (!user) {
      throw new HostError(
        'ERR_MFA_NO_PASSPORT',
        "tokens.begin found no user on the request. Mount it after passport.authenticate('local', { session: false }).",
      )
    }
    setSecurityHeaders(res)
    if (hasSessionUser(at)) return sendProblem(res, BESIDE_SESSION)
    const state = await beginLogin(at, user)
    if (state.stage === 'pending') return respondPending(at, res, state)
    await answer(at, res, { status: 'verified' })
  }

  refuseUngatedLogins(() => noGateError(own))
  return function tokensBegin(req: Request, res: Response, next: NextFunction) {
    checkMounted('mfa.tokens.begin', "app.post('/auth/login', …, mfa.tokens.begin)", next)
    const shared = requestState<RouteDeps>(req)
    const at = { req, deps: gateOf({ req, shared }, own), shared }
    begin(at, res).catch((error: unknown) => refuseFailure(error, at, res, next))
  }
}

/** Responds that the login ended, or that the service or a store failed. Any other error is left to the host. */
export function refuseFailure(error: unknown, at: EnteredRequest, res: Response, next: NextFunction): void {
  if (error instanceof SessionEndedError) return refuseToken(res, { code: 'session_ended' })
  respondFailure(error, at, res, next)
}

/** Begins a login in the place of the session. What the policy requires decides whether it is complete. */
export async function beginLogin(at: EnteredRequest, user: Express.User): Promise<ActiveState> {
  const { req, deps } = at
  const tokens = tokensOf(deps)
  const userId = userIdOf(user, deps.settings)
  // Read first, so that an end during this login ends it.
  const { count } = await tokens.generations.read(userId)
  carryLogin(req, newLogin(tokens, userId, count))
  await logIn(req, user)
  const state = await askedStateOf(at)
  if (state.stage === 'none') throw new TypeError('A login that has just begun is signed out.')
  return state
}

/** Says what is missing, with the reference of the login, unless the user has too many open logins. */
export async function respondPending(at: EnteredRequest, res: Response, state: ActiveState): Promise<void> {
  const { req, deps } = at
  const login = tokenLoginOf(req)
  const seconds = login ? await deps.tokenPlaces.open(state.userId, login.about.place) : 0
  if (seconds === 0) return sendProblem(res, await missingFactor(at, state))
  await tokensOf(deps).logins.take(login?.id ?? '')
  login?.withdraw()
  sendProblem(res, { code: 'too_many_logins', retryAfterSeconds: seconds })
}
