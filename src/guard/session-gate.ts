import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { wrapLogIn } from '../session/log-in.js'
import { askedUrl, safeReturnTo } from '../session/return-to.js'
import { moveOn } from '../session/slot.js'
import { enter, type Known } from '../session/standing.js'
import type { Settings } from '../settings.js'
import { isSubresource, wantsHtml } from '../visit/accept.js'
import { type DoorDeps, noteGate } from '../visit/deps.js'
import { listFactors } from '../visit/factor-view.js'
import { setHeaders } from '../visit/headers.js'
import { sendProblem } from '../visit/problem.js'
import { personOf } from '../visit/visit.js'

/**
 * Withholds the user from everything behind it while the second factor is missing, whatever signed them in (R01,
 * R02), and shows the way to the challenge.
 */
export function sessionGate(deps: DoorDeps): RequestHandler {
  const { settings } = deps
  const isOpen = openPaths(settings)

  const pass = async (req: Request, res: Response, next: NextFunction) => {
    const { sessionID } = req
    const standing = await enter(req, deps)
    wrapLogIn(req, deps)
    noteGate(req, deps)
    // A session that was ended just now was followed by one of ours, which shows nothing of how the host's are stored.
    if (req.sessionID === sessionID) deps.doctor.look(req, res)
    // The user is withheld from what passes here: these answers only show people where to go on.
    if (standing.stage !== 'pending' || isOpen(req) || isSubresource(req)) return next()
    setHeaders(res)
    if (wantsHtml(req)) return sendToChallenge(req, res, standing, settings)
    const { factors } = await personOf(req, standing, settings)
    if (factors.length === 0) {
      return sendProblem(res, { code: 'enrolment_required', next: `${settings.path}/enroll-app` })
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
  { record }: Known,
  settings: Settings,
): Promise<void> {
  if (req.method === 'GET') {
    // A path of two slashes or a whole address would lead to another site afterwards (R15).
    const returnTo = safeReturnTo(askedUrl(req, settings)) ?? settings.homePath
    await moveOn(req, { ...record, returnTo })
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
