import { Router } from 'express'
import type * as z from 'zod'
import { startChallenge } from '../flows/challenge.js'
import { readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { listFactors } from '../http/factors.js'
import { sendProblem } from '../http/problem.js'
import { type cancelledAnswer, challengeBody, type challengedAnswer, type MfaState } from '../http/schemas.js'
import { maskContact } from '../protocol/destination.js'
import { endPendingLogin, givenUp } from '../session/state.js'
import { isCurrent, storeRecord } from '../session/store.js'
import { addAssets } from './assets.js'
import { factorViews, liveChallenge, type RouteContext } from './context.js'
import { liveChallengeNow } from './live-challenge.js'
import { offerOtherFactors } from './other-factors.js'
import { choosePage, hasBackup, sendRefusal, showPage } from './respond.js'
import { addRoute, stop } from './route.js'

/** `GET /` shows where the user stands and offers the factors; `POST /challenge` starts one; `POST /cancel` ends it. */
export function buildChallengeRouter(deps: RouteDeps): Router {
  const router = Router()
  addRoute(router, deps, '/', {
    get: (context) => (context.html ? showStart(context) : respondState(context)),
    nobody: (res) => {
      res.json({ status: 'none', factors: [] } satisfies MfaState)
    },
  })
  addRoute(router, deps, '/challenge', { post: challenge })
  addRoute(router, deps, '/cancel', { post: cancel })
  addAssets(router)
  return router
}

function showStart(context: RouteContext): void {
  const { req, res, deps, state, user } = context
  const { path } = deps.settings
  if (state.stage === 'pending' && user.factors.length === 0) return res.redirect(303, `${path}/enroll-app`)
  if (state.stage !== 'pending' && !state.record.stepUp) {
    const { backupCodes } = state.record
    return showPage(context, {
      page: 'overview',
      factors: factorViews(context),
      backup: hasBackup(context),
      ...(backupCodes && { backupCodesLeft: backupCodes.left }),
      devices: deps.browsers !== undefined,
    })
  }
  if (req.query.choose === undefined) {
    if (liveChallenge(context)) return res.redirect(303, `${path}/verify`)
    const [only, ...others] = user.factors
    if (only?.method === 'app' && others.length === 0)
      return res.redirect(303, `${path}/verify?factor=${only.id}`)
  }
  showPage(context, choosePage(context))
}

/** The state as JSON. */
export async function respondState(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user } = context
  const { asked, live } = await liveChallengeNow(context)
  if (asked && !(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
  const shared = {
    factors: listFactors(user.factors),
    ...(live && {
      challenge: {
        factor: live.factor.id,
        to: live.factor.to,
        delivery: live.delivery,
        expiresAt: iso(live.expiresAt),
        ...(live.resendAt !== undefined && { resendAt: iso(live.resendAt) }),
      },
    }),
  }
  const endsAt = iso(state.record.startedAt + deps.settings.pendingLoginMs)
  const answer: MfaState =
    state.stage === 'pending'
      ? { status: 'pending', ...shared, expiresAt: endsAt }
      : { status: state.stage === 'verified' ? 'verified' : 'none', ...shared }
  res.json(answer)
}

async function challenge(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const body = await readBody(req, res, challengeBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')

  const asked = body.fields.factor
  const outcome = await startChallenge(deps, user, state.record, asked).catch((error: unknown) =>
    offerOtherFactors(context, error, asked),
  )
  if (!outcome) return
  if (!(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, asked)

  const { challenge } = outcome
  await storeRecord(req, { ...state.record, challenge })
  if (html) return res.redirect(303, `${deps.settings.path}/verify${outcome.again ? '?again' : ''}`)
  const factor = user.factors.find(({ id }) => id === challenge.factorId)
  const answer: z.output<typeof challengedAnswer> = {
    status: 'challenged',
    factor: challenge.factorId,
    ...(factor && { to: maskContact(factor.contact) }),
    delivery: challenge.delivery,
    expiresAt: iso(challenge.expiresAt),
    ...(challenge.resendAt !== undefined && { resendAt: iso(challenge.resendAt) }),
  }
  res.json(answer)
}

async function cancel({ req, res, deps, state, html }: RouteContext): Promise<void> {
  const { signInPath, homePath } = deps.settings
  // Only a half-login can be cancelled; who is signed in signs out with the host.
  if (state.stage !== 'pending')
    return html ? res.redirect(303, homePath) : sendProblem(res, { code: 'not_found' })
  await endPendingLogin(req, state.record.returnTo)
  deps.emit(givenUp('cancelled', state.record))
  if (html) return res.redirect(303, signInPath)
  res.json({ status: 'cancelled', next: signInPath } satisfies z.output<typeof cancelledAnswer>)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
