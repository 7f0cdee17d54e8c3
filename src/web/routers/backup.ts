import { randomUUID } from 'node:crypto'
import type { Router } from 'express'
import * as z from 'zod'
import {
  type BackupCreated,
  type BackupSent,
  createBackupCodes,
  sendBackupCodes,
} from '../../flows/backup.js'
import { backupTarget } from '../../flows/backup-target.js'
import { type Refused, refuse, serviceVerb } from '../../flows/deps.js'
import { removeEndedFactor } from '../../flows/keys.js'
import { canShowBackupCodes } from '../../flows/known-factors.js'
import type { Refusal } from '../../flows/refusal.js'
import { refusalWithoutFactor } from '../../flows/user.js'
import type { View } from '../../pages/view.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { storeRecord } from '../../session/store.js'
import { onlyGiven } from '../../shape.js'
import type { RouteDeps } from '../actions/context.js'
import { changeFactor, recordFactors, takeBackIfEnded } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import type { backupCreatedAnswer, backupSavedAnswer, backupSentAnswer } from '../http/answers.js'
import { browserSeal } from '../http/browser-seal.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { type ChangeRule, changeApproved, factorChangeRefusal } from './factor-change.js'
import { addRemoval } from './remove-factor.js'
import { keptRefusal, sendRefusal, showPage } from './respond.js'
import { action, addRoute } from './route.js'

/** `GET /backup` shows who receives backup codes, `POST /backup` sends them; below: the codes, `remove`. */
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
    const to = maskForOwner(target.contact)
    return showPage(context, { page: 'backup-sent', to, ...onlyGiven({ count, next }) })
  }
  const refusal = await refusalFor(context, { change: 'backup_codes' })
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(context.res, { code: 'not_found' })
  showPage(context, await startView(context), keptRefusal(context))
}

async function startView({ deps, user }: RouteContext): Promise<View> {
  const target = backupTarget(user)
  const shows = await canShowBackupCodes(deps, user)
  return { page: 'backup', ...(target && { to: maskForOwner(target.contact) }), ...(shows && { shows }) }
}

async function send(context: RouteContext): Promise<BackupSent | Refused> {
  const { deps, state, user } = context
  const refusal = await refusalFor(context)
  if (refusal) return refuse(refusal)
  const outcome = await changeFactor(context, () => sendBackupCodes(deps, user, state.record))
  if (outcome.outcome === 'sent') {
    await takeBackIfEnded(context, (account) => removeEndedFactor(deps, account, 'backup'))
    const method = backupTarget(user)?.method
    await notify(context, { type: 'backup_codes_sent', ...(method && { method }), to: outcome.to })
    await recordFactors(context, { backupCodes: true })
  }
  return outcome
}

async function respondSent(context: RouteContext, outcome: BackupSent | Refused): Promise<void> {
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
  if (html) return res.redirect(303, `${deps.settings.urls.path}/backup?sent`)
  res.json({ status: 'sent', to, strength, ...counted } satisfies z.output<typeof backupSentAnswer>)
}

/** Why the user may not request backup codes now. Backup codes replace a factor, so a user without factors gets none. */
async function refusalFor(context: RouteContext, rule?: ChangeRule): Promise<Refusal | undefined> {
  return (await factorChangeRefusal(context, '/backup', rule)) ?? refusalWithoutFactor(context.user)
}

const codesSeal = browserSeal('mfa_backup_codes')

/** The redirect to the page with the codes follows at once. */
const WAITS_MS = 60_000

/** `POST /backup/codes` creates codes, `GET` shows them once, and `POST /backup/saved` confirms that. */
function addBackupCodes(router: Router, deps: RouteDeps): void {
  addRoute(router, deps, '/backup/codes', {
    get: showCodes,
    post: action({ body: z.object({}), run: create, respond: respondCreated }),
  })
  addRoute(router, deps, '/backup/saved', { post: confirmSaved })
}

async function create(context: RouteContext): Promise<BackupCreated | Refused> {
  const { deps, state, user } = context
  // A service that cannot show codes says so, and nobody approves it before.
  const rule = deps.service.createBackupCodes && ({ change: 'backup_codes', uses: true } as const)
  const refusal = await refusalFor(context, rule)
  if (refusal) return refuse(refusal)
  const outcome = await changeApproved(context, 'backup_codes', () =>
    changeFactor(context, () => createBackupCodes(deps, user, state.record)),
  )
  if (outcome.outcome === 'created') {
    await takeBackIfEnded(context, (account) => removeEndedFactor(deps, account, 'backup'))
    await notify(context, { type: 'backup_codes_shown' })
    await recordFactors(context, { backupCodes: true })
  }
  return outcome
}

async function respondCreated(context: RouteContext, outcome: BackupCreated | Refused): Promise<void> {
  const { req, res, deps, state, html } = context
  if (outcome.outcome !== 'created') return sendRefusal(context, outcome.refusal, { page: '/backup' })
  const { codes, strength } = outcome
  const { backupCodes: before, refused: _answered, codesShown, ...rest } = state.record
  const record = { ...rest, backupCodes: { left: codes.length } }
  if (!html) {
    await storeRecord(req, record)
    const answer: z.output<typeof backupCreatedAnswer> = {
      status: 'created',
      codes: [...codes],
      count: codes.length,
      strength,
    }
    return void res.json(answer)
  }
  const { path } = deps.settings.urls
  const id = randomUUID()
  const sealed = codesSeal.seal({ req, res }, JSON.stringify(codes), {
    id,
    settings: deps.settings,
    lifetimeMs: WAITS_MS,
  })
  const next = before?.next ?? codesShown?.next
  await storeRecord(req, { ...record, codesShown: { id, at: Date.now(), sealed, ...(next && { next }) } })
  res.redirect(303, `${path}/backup/codes`)
}

function showCodes(context: RouteContext): void {
  const { req, res, deps, state, html } = context
  const { codesShown } = state.record
  const { settings } = deps
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (!codesShown) return res.redirect(303, `${settings.urls.path}/backup`)
  const isWaiting = Date.now() - codesShown.at < WAITS_MS
  const codes = isWaiting
    ? codesSeal.open(req, codesShown.sealed, { id: codesShown.id, settings })
    : undefined
  if (codes === undefined) {
    const { next } = codesShown
    return showPage(context, { page: 'backup-codes-gone', ...(next && { next }) })
  }
  // The key goes with the response that shows the codes, so that a browser that got no response can ask again.
  if (req.method === 'GET') codesSeal.forget(res, settings)
  showPage(context, { page: 'backup-codes', codes: z.array(z.string()).parse(JSON.parse(codes)) })
}

async function confirmSaved({ req, res, deps, state, html }: RouteContext): Promise<void> {
  const { codesShown, ...record } = state.record
  if (codesShown) await storeRecord(req, record)
  const next = codesShown?.next ?? deps.settings.urls.path
  codesSeal.forget(res, deps.settings)
  if (html) return res.redirect(303, next)
  res.json({ status: 'saved', next } satisfies z.output<typeof backupSavedAnswer>)
}
