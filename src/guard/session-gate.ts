import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { type RouteDeps, setGate } from '../http/deps.js'
import { listFactors } from '../http/factors.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSubresource, wantsHtml } from '../http/request.js'
import { mfaUserOf } from '../http/verification.js'
import { wrapLogIn } from '../session/log-in.js'
import { askedUrl, safeReturnTo } from '../session/return-to.js'
import { type ActiveState, enter } from '../session/state.js'
import { storeIfCurrent } from '../session/store.js'
import type { Settings } from '../settings.js'

/**
 * Withholds the user from everything behind it while the second factor is missing, whatever signed them in (R01,
 * R02), and shows the way to the challenge.
 */
export function sessionGate(deps: RouteDeps): RequestHandler {
  const { settings } = deps
  const isOpen = openPaths(settings)

  const pass = async (req: Request, res: Response, next: NextFunction) => {
    const { sessionID } = req
    const state = await enter(req, deps)
    wrapLogIn(req, deps)
    setGate(req, deps)
    // A session that was ended just now was followed by one of ours, which shows nothing of how the host's are stored.
    if (req.sessionID === sessionID) deps.diagnostics.inspect(req, res)
    // The user is withheld from what passes here: these answers only show people where to go on.
    if (state.stage !== 'pending' || isOpen(req) || isSubresource(req)) return next()
    setSecurityHeaders(res)
    if (wantsHtml(req)) return sendToChallenge(req, res, state, settings)
    const { factors } = await mfaUserOf(req, state, settings)
    if (factors.length === 0) {
      return sendProblem(res, { code: 'enrollment_required', next: `${settings.path}/enroll-app` })
    }
    sendProblem(res, { code: 'mfa_required', next: settings.path, factors: listFactors(factors) })
  }

  return function mfaSession(req, res, next) {
    pass(req, res, next).catch(next)
  }
}

async function sendToChallenge(
  req: Request,
  res: Response,
  { record }: ActiveState,
  settings: Settings,
): Promise<void> {
  if (req.method === 'GET') {
    // A path of two slashes or a whole address would lead to another site afterwards (R15).
    const returnTo = safeReturnTo(askedUrl(req, settings)) ?? settings.homePath
    await storeIfCurrent(req, { ...record, returnTo })
  }
  res.redirect(303, settings.path)
}

/**
 * The places that somebody halfway may go to, as nobody: our own, the host's own route of the strategy beside it, signing
 * in, signing out, what the host opens.
 */
function openPaths(settings: Settings): (req: Request) => boolean {
  const { path, signInPath, signOutPath, open } = settings
  const places = [path, `${path}-login`, signInPath, signOutPath, ...open]
  return (req) => {
    const [asked = ''] = askedUrl(req, settings).split('?')
    return places.some((place) => asked === place || asked.startsWith(`${place}/`))
  }
}
