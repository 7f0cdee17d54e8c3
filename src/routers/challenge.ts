import { Router } from 'express'
import type * as z from 'zod'
import { startChallenge } from '../flows/challenge.js'
import { maskContact } from '../protocol/destination.js'
import { isCurrent, storeRecord } from '../session/slot.js'
import { endHalfLogin, givenUp } from '../session/standing.js'
import { readBody } from '../visit/body.js'
import type { DoorDeps } from '../visit/deps.js'
import { listFactors } from '../visit/factor-view.js'
import { sendProblem } from '../visit/problem.js'
import { type cancelledAnswer, challengeBody, type challengedAnswer, type MfaState } from '../visit/wire.js'
import { addAssets } from './assets.js'
import { challengeNow } from './challenge-now.js'
import { offerOtherWays } from './outage.js'
import { choosePage, hasBackup, sendRefusal, showPage } from './reply.js'
import { addRoute, stop } from './route.js'
import { factorViews, liveChallenge, type Visitor } from './visitor.js'

/** `GET /` shows where the person stands and offers the factors; `POST /challenge` starts one; `POST /cancel` ends it. */
export function buildChallengeRouter(deps: DoorDeps): Router {
  const router = Router()
  addRoute(router, deps, '/', {
    get: (visitor) => (visitor.html ? showStart(visitor) : tellState(visitor)),
    nobody: (res) => {
      res.json({ status: 'none', factors: [] } satisfies MfaState)
    },
  })
  addRoute(router, deps, '/challenge', { post: challenge })
  addRoute(router, deps, '/cancel', { post: cancel })
  addAssets(router)
  return router
}

function showStart(visitor: Visitor): void {
  const { req, res, deps, known, person } = visitor
  const { path } = deps.settings
  if (known.stage === 'pending' && person.factors.length === 0) return res.redirect(303, `${path}/enroll-app`)
  if (known.stage !== 'pending' && !known.record.stepUp) {
    const { backupCodes } = known.record
    return showPage(visitor, {
      page: 'overview',
      factors: factorViews(visitor),
      backup: hasBackup(visitor),
      ...(backupCodes && { backupCodesLeft: backupCodes.left }),
      devices: deps.browsers !== undefined,
    })
  }
  if (req.query.choose === undefined) {
    if (liveChallenge(visitor)) return res.redirect(303, `${path}/verify`)
    const [only, ...others] = person.factors
    if (only?.method === 'app' && others.length === 0)
      return res.redirect(303, `${path}/verify?factor=${only.id}`)
  }
  showPage(visitor, choosePage(visitor))
}

/** The state as JSON. */
export async function tellState(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person } = visitor
  const { asked, live } = await challengeNow(visitor)
  if (asked && !(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  const shared = {
    factors: listFactors(person.factors),
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
  const endsAt = iso(known.record.startedAt + deps.settings.halfLoginMs)
  const state: MfaState =
    known.stage === 'pending'
      ? { status: 'pending', ...shared, expiresAt: endsAt }
      : { status: known.stage === 'verified' ? 'verified' : 'none', ...shared }
  res.json(state)
}

async function challenge(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const body = await readBody(req, res, challengeBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')

  const asked = body.fields.factor
  const outcome = await startChallenge(deps, person, known.record, asked).catch((error: unknown) =>
    offerOtherWays(visitor, error, asked),
  )
  if (!outcome) return
  if (!(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  if (outcome.outcome === 'refused') return sendRefusal(visitor, outcome.refusal, asked)

  const { challenge } = outcome
  await storeRecord(req, { ...known.record, challenge })
  if (html) return res.redirect(303, `${deps.settings.path}/verify${outcome.again ? '?again' : ''}`)
  const factor = person.factors.find(({ id }) => id === challenge.factorId)
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

async function cancel({ req, res, deps, known, html }: Visitor): Promise<void> {
  const { signInPath, homePath } = deps.settings
  // Only a half-login can be cancelled; who is signed in signs out with the host.
  if (known.stage !== 'pending')
    return html ? res.redirect(303, homePath) : sendProblem(res, { code: 'not_found' })
  await endHalfLogin(req, known.record.returnTo)
  deps.tell(givenUp('cancelled', known.record))
  if (html) return res.redirect(303, signInPath)
  res.json({ status: 'cancelled', next: signInPath } satisfies z.output<typeof cancelledAnswer>)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
