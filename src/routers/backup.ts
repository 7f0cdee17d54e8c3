import { Router } from 'express'
import * as z from 'zod'
import { sendBackupCodes } from '../flows/backup.js'
import { backupTarget } from '../flows/person.js'
import type { Refusal } from '../flows/refusal.js'
import type { View } from '../pages/view.js'
import { maskContact } from '../protocol/destination.js'
import { isCurrent, storeRecord } from '../session/slot.js'
import { readBody } from '../visit/body.js'
import type { DoorDeps } from '../visit/deps.js'
import { notify } from '../visit/notify.js'
import { sendProblem } from '../visit/problem.js'
import type { backupSentAnswer } from '../visit/wire.js'
import { addAssets } from './assets.js'
import { factorChangeRefusal } from './factor-change.js'
import { sendRefusal, showPage } from './reply.js'
import { addRoute, stop } from './route.js'
import type { Visitor } from './visitor.js'

/**
 * `GET /backup` tells where backup codes would go; `POST /backup` has new ones made and delivered, and leads to
 * `GET /backup?sent`, which says so: loading that again sends nothing.
 */
export function buildBackupRouter(deps: DoorDeps): Router {
  const router = Router()
  addRoute(router, deps, '/backup', { get: showStart, post: send })
  addAssets(router)
  return router
}

async function showStart(visitor: Visitor): Promise<void> {
  const { req, known, person, html } = visitor
  const target = backupTarget(person)
  const { codesSent } = known.record
  if (html && req.query.sent !== undefined && codesSent && target) {
    const { count, next } = codesSent
    return showPage(visitor, {
      page: 'backup-sent',
      to: maskContact(target.contact),
      ...(count !== undefined && { count }),
      ...(next && { next }),
    })
  }
  const refusal = await refusalFor(visitor)
  if (refusal) return sendRefusal(visitor, refusal)
  if (!html) return sendProblem(visitor.res, { code: 'not_found' })
  showPage(visitor, startView(visitor))
}

function startView({ person }: Visitor): View {
  const target = backupTarget(person)
  return { page: 'backup', ...(target && { to: maskContact(target.contact) }) }
}

async function send(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const body = await readBody(req, res, z.object({}))
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const refusal = await refusalFor(visitor)
  if (refusal) return sendRefusal(visitor, refusal)

  const outcome = await sendBackupCodes(deps, person, known.record)
  if (outcome.outcome === 'sent') {
    const method = backupTarget(person)?.method
    await notify(deps, req, known, { type: 'backup_codes_sent', ...(method && { method }), to: outcome.to })
  }
  if (!(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  if (outcome.outcome === 'refused') {
    const { refusal } = outcome
    // Where the codes were asked for, they can be asked for again; a factor is not what is missing.
    if (html && refusal.code !== 'locked')
      return showPage(visitor, startView(visitor), { tone: 'error', ...refusal })
    return sendRefusal(visitor, refusal)
  }
  const { to, count } = outcome
  const counted = count !== undefined && { count }
  const { backupCodes: before, ...rest } = known.record
  await storeRecord(req, {
    ...rest,
    codesSent: { ...counted, ...(before?.next && { next: before.next }) },
    ...(count !== undefined && { backupCodes: { left: count } }),
  })
  if (html) return res.redirect(303, `${deps.settings.path}/backup?sent`)
  res.json({ status: 'sent', to, ...counted } satisfies z.output<typeof backupSentAnswer>)
}

/** Backup codes stand in for a factor; who has none has nothing to back up. */
async function refusalFor(visitor: Visitor): Promise<Refusal | undefined> {
  if (visitor.person.factors.length === 0) return { code: 'enrolment_required' }
  return factorChangeRefusal(visitor, '/backup')
}
