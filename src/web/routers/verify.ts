import type { Router } from 'express'
import type * as z from 'zod'
import { findFactor } from '../../flows/user.js'
import type { Frozen } from '../../protocol/verb.js'
import { onlyGiven } from '../../shape.js'
import { isReady } from '../../stores/trust/recoveries.js'
import type { RouteDeps } from '../actions/context.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { verifyBypassCode } from '../actions/recovery.js'
import { verifyFactor } from '../actions/verification.js'
import type { approvedAnswer, goesOnAnswer, verifiedAnswer } from '../http/answers.js'
import { verifyBody } from '../http/bodies.js'
import { readBody } from '../http/body.js'
import { lastUsedFactor, rememberUsedFactor } from '../http/cookies.js'
import { sendProblem } from '../http/problem.js'
import { respondState } from './challenge.js'
import type { RouteContext, RouteParts } from './context.js'
import { requestAsked } from './recover.js'
import {
  asksNothing,
  asksRecovery,
  codePage,
  sendAnswer,
  sendRefusal,
  showPage,
  showSignedIn,
} from './respond.js'
import { addRoute } from './route.js'
import { showBackupCodesLeft, showCodeEntry, showResume } from './verify-pages.js'

/** `/verify` shows and checks a factor; `/resume` offers an interrupted form; `/backup-codes-left` counts. */
export function addVerifyRoutes(router: Router, deps: RouteDeps, { recovery }: RouteParts): void {
  addRoute(router, deps, '/verify', {
    get: (context) => (context.html ? showCodeEntry(context) : respondState(context)),
    post: (context) => verify(context, recovery),
  })
  addRoute(router, deps, '/resume', { get: showResume })
  addRoute(router, deps, '/backup-codes-left', { get: showBackupCodesLeft })
}

async function verify(context: RouteContext, recovery: RouteParts['recovery']): Promise<void> {
  const { req, res, deps, state, user, step, html } = context
  if (html && asksNothing(context)) return showSignedIn(context)
  const body = await readBody(req, res, verifyBody)
  if ('fault' in body) {
    if (!html) return sendProblem(res, body.fault)
    return showPage(context, await codePage(context, undefined), { tone: 'error', code: body.fault.code })
  }
  const isBypass = step === 'bypass_code' && body.fields.factor === 'bypass'
  const outcome = isBypass
    ? await verifyBypassCode(context, body.fields.code ?? '')
    : await verifyFactor(context, body.fields, 'log-in')
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, body.fields)
  const used = findFactor(user, body.fields.factor ?? state.record.challenge?.factorId ?? '')
  const { settings } = deps
  if (used && lastUsedFactor(req, settings.users) !== used.id) rememberUsedFactor(req, res, used.id, settings)
  const after = state.record.returnTo ?? deps.settings.login.homePath
  if (outcome.outcome === 'approved') {
    if (html) return res.redirect(303, after)
    const approved = { status: 'approved', next: after, approval: outcome.approval } as const
    return sendAnswer(context, approved satisfies Frozen<z.output<typeof approvedAnswer>>)
  }
  if (outcome.mustEnroll) return respondGoesOn(context, 'enrollment_required')
  if (html && asksRecovery(context)) return requestAsked(context, recovery)
  if (outcome.mayRecover) return respondGoesOn(context, 'recovery_allowed')
  const next = (await recoveryPage(context)) ?? after
  const { trusted, backupCodesLeft: left, keyOffer } = outcome
  const { path } = deps.settings.urls
  if (html && keyOffer) return res.redirect(303, `${path}/keys/offer`)
  if (html) return res.redirect(303, left === undefined ? next : `${path}/backup-codes-left`)
  const given = onlyGiven({ trusted, backupCodesLeft: left })
  const signedIn = { status: 'verified', next, ...given } satisfies z.output<typeof verifiedAnswer>
  await sendAnswer(context, signedIn)
}

/** After a factor that does not complete the login: on to the setup of a new one, or to the recovery. */
async function respondGoesOn(
  context: RouteContext,
  status: z.output<typeof goesOnAnswer>['status'],
): Promise<void> {
  const { res, deps, html } = context
  // The page to set up an app leads a browser on to the keys, where only a key is strong enough.
  const enroll = html ? '/enroll-app' : enrollPathFor(context)
  const next = deps.settings.urls.path + (status === 'recovery_allowed' ? '/recover' : enroll)
  if (html) return res.redirect(303, next)
  await sendAnswer(context, { status, next } satisfies z.output<typeof goesOnAnswer>)
}

/** The page on which a user who signs in after the waiting period completes the recovery. */
async function recoveryPage({ deps, state }: RouteContext): Promise<string | undefined> {
  if (state.stage !== 'pending') return undefined
  const recovery = await deps.recoveries.find(state.userId)
  return recovery && isReady(recovery) ? `${deps.settings.urls.path}/recover` : undefined
}
