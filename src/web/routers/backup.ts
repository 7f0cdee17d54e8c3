import { randomUUID } from 'node:crypto'
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
import { pickGiven } from '../../shape.js'
import type { RouteDeps } from '../actions/context.js'
import { changeFactor, recordFactors, takeBackIfEnded } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import { browserSeal } from '../http/browser-seal.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { type ChangeRule, changeApproved, factorChangeRefusal } from './factor-change.js'
import { action, answerOutcome, pageOnly } from './outcome.js'
import { sendRefusal, takeKeptRefusal } from './refused.js'
import { backupCodesRemoval, showRemoval } from './remove-factor.js'
import type { RouteHandlers } from './route.js'
import { showPage } from './show-page.js'

/** Sends backup codes, or shows new ones once; below, their removal. */
export function backupRoutes({ service }: RouteDeps): RouteHandlers<'backupRouter'> {
  serviceVerb(service, 'sendBackupCodes')
  return {
    backupPage: showStart,
    backup: action('backup', {
      run: send,
      store: storeSent,
      json: (_context, { to, strength, count }) => ({
        status: 'sent',
        to,
        strength,
        ...pickGiven({ count }),
      }),
      page: ({ deps }) => `${deps.settings.urls.path}/backup?sent`,
      // The page with the request offers to repeat it.
      refuse: { page: '/backup' },
    }),
    backupCodesPage: pageOnly(showCodes),
    createBackupCodes: action('createBackupCodes', {
      run: create,
      store: storeCreated,
      json: (_context, { codes, strength }) => ({
        status: 'created',
        codes,
        count: codes.length,
        strength,
      }),
      page: ({ deps }) => `${deps.settings.urls.path}/backup/codes`,
      refuse: { page: '/backup' },
    }),
    removeBackupCodesPage: (context) => showRemoval(context, 'backup'),
    removeBackupCodes: backupCodesRemoval,
    backupCodesSaved: answerOutcome('backupCodesSaved', {
      run: confirmSaved,
      json: (_context, next) => ({ status: 'saved', next }),
      page: (_context, next) => next,
    }),
  }
}

async function showStart(context: RouteContext): Promise<void> {
  const { req, state, user, html } = context
  const target = backupTarget(user)
  const { codesSent } = state.record
  if (html && req.query.sent !== undefined && codesSent && target) {
    const { count, next } = codesSent
    const to = maskForOwner(target.contact)
    return showPage(context, { page: 'backup-sent', to, ...pickGiven({ count, next }) })
  }
  const refusal = await findRefusal(context, { change: 'backup_codes' })
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(context.res, { code: 'not_found' })
  showPage(context, await startView(context), takeKeptRefusal(context))
}

async function startView({ deps, user }: RouteContext): Promise<View> {
  const target = backupTarget(user)
  const shows = await canShowBackupCodes(deps, user)
  return { page: 'backup', ...(target && { to: maskForOwner(target.contact) }), ...(shows && { shows }) }
}

async function send(context: RouteContext): Promise<BackupSent | Refused> {
  const { deps, state, user } = context
  const refusal = await findRefusal(context)
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

async function storeSent({ req, state }: RouteContext, { count }: BackupSent): Promise<void> {
  const { backupCodes: before, refused: _answered, ...rest } = state.record
  await storeRecord(req, {
    ...rest,
    codesSent: pickGiven({ count, next: before?.next }),
    ...(count !== undefined && { backupCodes: { left: count } }),
  })
}

/** Why the user may not request backup codes now. Backup codes replace a factor, so a user without factors gets none. */
async function findRefusal(context: RouteContext, rule?: ChangeRule): Promise<Refusal | undefined> {
  return (await factorChangeRefusal(context, '/backup', rule)) ?? refusalWithoutFactor(context.user)
}

const codesSeal = browserSeal('mfa_backup_codes')

/** The redirect to the page with the codes follows at once. */
const WAITS_MS = 60_000

async function create(context: RouteContext): Promise<BackupCreated | Refused> {
  const { deps, state, user } = context
  // A service that cannot show codes says so, and nobody approves it before.
  const rule = deps.service.createBackupCodes && ({ change: 'backup_codes', uses: true } as const)
  const refusal = await findRefusal(context, rule)
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

async function storeCreated(context: RouteContext, { codes }: BackupCreated): Promise<void> {
  const { req, res, deps, state, html } = context
  const { backupCodes: before, refused: _answered, codesShown, ...rest } = state.record
  const record = { ...rest, backupCodes: { left: codes.length } }
  if (!html) return storeRecord(req, record)
  const id = randomUUID()
  const sealed = codesSeal.seal({ req, res }, JSON.stringify(codes), {
    id,
    settings: deps.settings,
    lifetimeMs: WAITS_MS,
  })
  const next = before?.next ?? codesShown?.next
  await storeRecord(req, { ...record, codesShown: { id, at: Date.now(), sealed, ...(next && { next }) } })
}

function showCodes(context: RouteContext): void {
  const { req, res, deps, state } = context
  const { codesShown } = state.record
  const { settings } = deps
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

async function confirmSaved({ req, res, deps, state }: RouteContext): Promise<string> {
  const { codesShown, ...record } = state.record
  if (codesShown) await storeRecord(req, record)
  codesSeal.forget(res, deps.settings)
  return codesShown?.next ?? deps.settings.urls.path
}
