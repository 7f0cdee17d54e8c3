import type { Router } from 'express'
import * as z from 'zod'
import type { RouteDeps } from '../actions/deps.js'
import { notify } from '../actions/notify.js'
import { type BackupSent, sendBackupCodes } from '../flows/backup.js'
import type { Refused } from '../flows/deps.js'
import { canShowBackupCodes } from '../flows/known-factors.js'
import type { Refusal } from '../flows/refusal.js'
import { serviceVerb } from '../flows/service-verb.js'
import { backupTarget, refusalWithoutFactor } from '../flows/user.js'
import { sendProblem } from '../http/problem.js'
import type { backupSentAnswer } from '../http/schemas.js'
import type { View } from '../pages/view.js'
import { maskForOwner } from '../protocol/destination.js'
import { storeRecord } from '../session/store.js'
import { addBackupCodes } from './backup-codes.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { keptRefusal } from './kept-refusal.js'
import { addRemoval } from './remove-factor.js'
import { sendRefusal, showPage } from './respond.js'
import { action, addRoute } from './route.js'

/**
 * `GET /backup` shows which contact receives backup codes; `POST /backup` has new ones created and sent, and redirects to
 * `GET /backup?sent`, which can be loaded again without sending anything. Where the service can, `/backup/codes` shows them once and
 * `/backup/remove` removes them.
 */
export function addBackupRoutes(router: Router, deps: RouteDeps): void {
  serviceVerb(deps.service, 'sendBackupCodes')
  addRoute(router, deps, '/backup', {
    get: showStart,
    post: action({ body: z.object({}), run: send, respond: respondSent }),
  })
  addBackupCodes(router, deps)
  addRemoval(router, deps, 'backup')
}

async function showStart(context: RouteContext): Promise<void> {
  const { req, state, user, html } = context
  const target = backupTarget(user)
  const { codesSent } = state.record
  if (html && req.query.sent !== undefined && codesSent && target) {
    const { count, next } = codesSent
    return showPage(context, {
      page: 'backup-sent',
      to: maskForOwner(target.contact),
      ...(count !== undefined && { count }),
      ...(next && { next }),
    })
  }
  const refusal = await refusalFor(context)
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(context.res, { code: 'not_found' })
  showPage(context, await startView(context), keptRefusal(context))
}

async function startView({ deps, user }: RouteContext): Promise<View> {
  const target = backupTarget(user)
  const shows = await canShowBackupCodes(deps, user)
  return { page: 'backup', ...(target && { to: maskForOwner(target.contact) }), ...(shows && { shows }) }
}

type Outcome = BackupSent | Refused | { readonly outcome: 'not_allowed'; readonly refusal: Refusal }

async function send(context: RouteContext): Promise<Outcome> {
  const { req, deps, state, user } = context
  const refusal = await refusalFor(context)
  if (refusal) return { outcome: 'not_allowed', refusal }
  const outcome = await sendBackupCodes(deps, user, state.record)
  if (outcome.outcome === 'sent') {
    const method = backupTarget(user)?.method
    await notify(deps, req, state, { type: 'backup_codes_sent', ...(method && { method }), to: outcome.to })
  }
  return outcome
}

async function respondSent(context: RouteContext, outcome: Outcome): Promise<void> {
  const { req, res, deps, state, html } = context
  if (outcome.outcome !== 'sent') {
    // The page with the request offers to repeat it.
    return sendRefusal(context, outcome.refusal, { page: '/backup' })
  }
  const { to, count, strength } = outcome
  const counted = count !== undefined && { count }
  const { backupCodes: before, refused: _answered, ...rest } = state.record
  await storeRecord(req, {
    ...rest,
    codesSent: { ...counted, ...(before?.next && { next: before.next }) },
    ...(count !== undefined && { backupCodes: { left: count } }),
  })
  if (html) return res.redirect(303, `${deps.settings.path}/backup?sent`)
  res.json({ status: 'sent', to, strength, ...counted } satisfies z.output<typeof backupSentAnswer>)
}

/** Why the user may not request backup codes now. Backup codes replace a factor, so a user without factors gets none. */
async function refusalFor(context: RouteContext): Promise<Refusal | undefined> {
  return (await factorChangeRefusal(context, '/backup')) ?? refusalWithoutFactor(context.user)
}
