import { Router } from 'express'
import * as z from 'zod'
import { confirmApp, prepareApp } from '../flows/enroll-app.js'
import { type Contact, formatUser, parseUser } from '../protocol/contact.js'
import { maskContact } from '../protocol/destination.js'
import { isCurrent, storeRecord } from '../session/slot.js'
import { approve } from '../visit/approve.js'
import { readBody } from '../visit/body.js'
import type { DoorDeps } from '../visit/deps.js'
import { notify } from '../visit/notify.js'
import { sendProblem } from '../visit/problem.js'
import { confirmBody, type enrolledAnswer, type preparedAnswer } from '../visit/wire.js'
import { addAssets } from './assets.js'
import { factorChangeRefusal } from './factor-change.js'
import { hasBackup, sendRefusal, showPage } from './reply.js'
import { addRoute, stop } from './route.js'
import type { Visitor } from './visitor.js'

/** `POST /enroll-app` prepares an authenticator app and shows its QR code once; `POST /enroll-app/confirm` makes it count. */
export function buildEnrollAppRouter(deps: DoorDeps): Router {
  const router = Router()
  addRoute(router, deps, '/enroll-app', { get: showStart, post: prepare })
  addRoute(router, deps, '/enroll-app/confirm', { get: showConfirm, post: confirm })
  addAssets(router)
  return router
}

async function showStart(visitor: Visitor): Promise<void> {
  const refusal = await factorChangeRefusal(visitor, '/enroll-app')
  if (refusal) return sendRefusal(visitor, refusal)
  if (!visitor.html) return sendProblem(visitor.res, { code: 'not_found' })
  showPage(visitor, {
    page: 'enroll-start',
    replaces: visitor.person.factors.some(({ method }) => method === 'app'),
  })
}

/** The QR code is shown once; who comes back by address finds the code entry without it, or starts anew. */
function showConfirm(visitor: Visitor): void {
  const { res, deps, known, html } = visitor
  if (!html || !known.record.enrolment) return res.redirect(303, `${deps.settings.path}/enroll-app`)
  showPage(visitor, { page: 'enroll' })
}

async function prepare(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const body = await readBody(req, res, z.object({}))
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const refusal = await factorChangeRefusal(visitor, '/enroll-app')
  if (refusal) return sendRefusal(visitor, refusal)

  const outcome = await prepareApp(deps, person, appContact(visitor))
  if (!(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  if (outcome.outcome === 'refused') return sendRefusal(visitor, outcome.refusal)
  const { enrolment, qr, uri, secret } = outcome
  await storeRecord(req, { ...known.record, enrolment })
  const shown = { qr, ...(uri && { uri }), ...(secret && { secret }) }
  if (html) return showPage(visitor, { page: 'enroll', ...shown })
  res.json(shown satisfies z.output<typeof preparedAnswer>)
}

async function confirm(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const body = await readBody(req, res, confirmBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  if (known.stage === 'pending' && person.factors.length > 0) {
    return sendRefusal(visitor, { code: 'mfa_required' })
  }

  const contact = appContact(visitor)
  const outcome = await confirmApp(deps, person, known.record.enrolment, contact, body.fields.code)
  if (outcome.outcome === 'refused') {
    if (!(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
    const { refusal } = outcome
    const again = refusal.code === 'invalid_code' && refusal.triesLeft > 0
    return html && again
      ? showPage(visitor, { page: 'enroll' }, { tone: 'error', ...refusal })
      : sendRefusal(visitor, refusal)
  }
  // The app counts from now on, whatever has become of the session meanwhile: host and person hear of it.
  if (contact) await deps.settings.onAppEnrolled?.(known.user, { method: 'app', user: formatUser(contact) })
  const to = contact && maskContact(contact)
  await notify(deps, req, known, { type: 'factor_added', method: 'app', ...(to && { to }) })
  // The person has just shown this factor; nothing less than before is proven.
  if (!(await approve(req, deps, known, { method: 'app', claim: outcome.claim }))) {
    return sendRefusal(visitor, { code: 'session_ended' })
  }
  if (html) return showPage(visitor, { page: 'enrolled', backup: hasBackup(visitor) })
  res.json({ status: 'enrolled' } satisfies z.output<typeof enrolledAnswer>)
}

/** The contact under which the service knows this person's app. */
function appContact({ deps, known, person }: Visitor): Contact | undefined {
  const { user } = known
  const given: unknown = deps.settings.appContact
    ? deps.settings.appContact(user)
    : Reflect.get(user, 'email')
  const contact = typeof given === 'string' ? parseUser(given) : undefined
  if (contact) return contact.kind === 'dual' ? undefined : contact
  const [first] = person.factors.map((factor) => factor.contact)
  return first?.kind === 'dual' ? { kind: 'email', email: first.email } : first
}
