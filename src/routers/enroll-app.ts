import { Router } from 'express'
import * as z from 'zod'
import { confirmApp, prepareApp } from '../flows/enroll-app.js'
import { readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { notify } from '../http/notify.js'
import { sendProblem } from '../http/problem.js'
import { confirmBody, type enrolledAnswer, type preparedAnswer } from '../http/schemas.js'
import { approve } from '../http/verification.js'
import { type Contact, formatUser, parseUser } from '../protocol/contact.js'
import { maskContact } from '../protocol/destination.js'
import { isCurrent, storeRecord } from '../session/store.js'
import { addAssets } from './assets.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { hasBackup, sendRefusal, showPage } from './respond.js'
import { addRoute, stop } from './route.js'

/** `POST /enroll-app` prepares an authenticator app and shows its QR code once; `POST /enroll-app/confirm` makes it count. */
export function buildEnrollAppRouter(deps: RouteDeps): Router {
  const router = Router()
  addRoute(router, deps, '/enroll-app', { get: showStart, post: prepare })
  addRoute(router, deps, '/enroll-app/confirm', { get: showConfirm, post: confirm })
  addAssets(router)
  return router
}

async function showStart(context: RouteContext): Promise<void> {
  const refusal = await factorChangeRefusal(context, '/enroll-app')
  if (refusal) return sendRefusal(context, refusal)
  if (!context.html) return sendProblem(context.res, { code: 'not_found' })
  showPage(context, {
    page: 'enroll-start',
    replaces: context.user.factors.some(({ method }) => method === 'app'),
  })
}

/** The QR code is shown once; who comes back by address finds the code entry without it, or starts anew. */
function showConfirm(context: RouteContext): void {
  const { res, deps, state, html } = context
  if (!html || !state.record.enrollment) return res.redirect(303, `${deps.settings.path}/enroll-app`)
  showPage(context, { page: 'enroll' })
}

async function prepare(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const body = await readBody(req, res, z.object({}))
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const refusal = await factorChangeRefusal(context, '/enroll-app')
  if (refusal) return sendRefusal(context, refusal)

  const outcome = await prepareApp(deps, user, appContact(context))
  if (!(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal)
  const { enrollment, qr, uri, secret } = outcome
  await storeRecord(req, { ...state.record, enrollment })
  const shown = { qr, ...(uri && { uri }), ...(secret && { secret }) }
  if (html) return showPage(context, { page: 'enroll', ...shown })
  res.json(shown satisfies z.output<typeof preparedAnswer>)
}

async function confirm(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const body = await readBody(req, res, confirmBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  if (state.stage === 'pending' && user.factors.length > 0) {
    return sendRefusal(context, { code: 'mfa_required' })
  }

  const contact = appContact(context)
  const outcome = await confirmApp(deps, user, state.record.enrollment, contact, body.fields.code)
  if (outcome.outcome === 'refused') {
    if (!(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
    const { refusal } = outcome
    const again = refusal.code === 'invalid_code' && refusal.attemptsLeft > 0
    return html && again
      ? showPage(context, { page: 'enroll' }, { tone: 'error', ...refusal })
      : sendRefusal(context, refusal)
  }
  // The app counts from now on, whatever has become of the session meanwhile: host and user hear of it.
  if (contact) await deps.settings.onAppEnrolled?.(state.user, { method: 'app', user: formatUser(contact) })
  const to = contact && maskContact(contact)
  await notify(deps, req, state, { type: 'factor_added', method: 'app', ...(to && { to }) })
  // The user has just shown this factor; nothing less than before is proven.
  if (!(await approve(req, deps, state, { method: 'app', claim: outcome.claim }))) {
    return sendRefusal(context, { code: 'session_ended' })
  }
  if (html) return showPage(context, { page: 'enrolled', backup: hasBackup(context) })
  res.json({ status: 'enrolled' } satisfies z.output<typeof enrolledAnswer>)
}

/** The contact under which the service knows this user's app. */
function appContact({ deps, state, user: { factors } }: RouteContext): Contact | undefined {
  const { user } = state
  const given: unknown = deps.settings.appContact
    ? deps.settings.appContact(user)
    : Reflect.get(user, 'email')
  const contact = typeof given === 'string' ? parseUser(given) : undefined
  if (contact) return contact.kind === 'dual' ? undefined : contact
  const [first] = factors.map((factor) => factor.contact)
  return first?.kind === 'dual' ? { kind: 'email', email: first.email } : first
}
