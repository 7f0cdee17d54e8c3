import { randomUUID } from 'node:crypto'
import type { Router } from 'express'
import * as z from 'zod'
import type { RouteDeps } from '../actions/deps.js'
import { notify } from '../actions/notify.js'
import { type BackupCreated, createBackupCodes } from '../flows/backup.js'
import type { Refused } from '../flows/deps.js'
import type { Refusal } from '../flows/refusal.js'
import { refusalWithoutFactor } from '../flows/user.js'
import { browserSeal } from '../http/browser-seal.js'
import { sendProblem } from '../http/problem.js'
import type { backupCreatedAnswer, backupSavedAnswer } from '../http/schemas.js'
import { storeRecord } from '../session/store.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { sendRefusal, showPage } from './respond.js'
import { action, addRoute } from './route.js'

const codesSeal = browserSeal('mfa_backup_codes')

/** The redirect to the page with the codes follows at once. */
const WAITS_MS = 60_000

/**
 * `POST /backup/codes` creates backup codes and redirects to `GET /backup/codes`, which shows them once: with the page, the
 * browser loses the key to them. `POST /backup/saved` is the user's confirmation.
 */
export function addBackupCodes(router: Router, deps: RouteDeps): void {
  addRoute(router, deps, '/backup/codes', {
    get: showCodes,
    post: action({ body: z.object({}), run: create, respond: respondCreated }),
  })
  addRoute(router, deps, '/backup/saved', { post: confirmSaved })
}

type Outcome = BackupCreated | Refused | { readonly outcome: 'not_allowed'; readonly refusal: Refusal }

async function create(context: RouteContext): Promise<Outcome> {
  const { req, deps, state, user } = context
  // A user without a factor needs no backup codes.
  const refusal: Refusal | undefined =
    (await factorChangeRefusal(context, '/backup')) ?? refusalWithoutFactor(user)
  if (refusal) return { outcome: 'not_allowed', refusal }
  const outcome = await createBackupCodes(deps, user, state.record)
  if (outcome.outcome === 'created') await notify(deps, req, state, { type: 'backup_codes_shown' })
  return outcome
}

async function respondCreated(context: RouteContext, outcome: Outcome): Promise<void> {
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
  const { path } = deps.settings
  const id = randomUUID()
  const sealed = codesSeal.seal({ req, res }, JSON.stringify(codes), { id, path, lifetimeMs: WAITS_MS })
  const next = before?.next ?? codesShown?.next
  await storeRecord(req, { ...record, codesShown: { id, at: Date.now(), sealed, ...(next && { next }) } })
  res.redirect(303, `${path}/backup/codes`)
}

function showCodes(context: RouteContext): void {
  const { req, res, deps, state, html } = context
  const { codesShown } = state.record
  const { path } = deps.settings
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (!codesShown) return res.redirect(303, `${path}/backup`)
  const isWaiting = Date.now() - codesShown.at < WAITS_MS
  const codes = isWaiting ? codesSeal.open(req, codesShown.sealed, codesShown.id) : undefined
  if (codes === undefined) {
    const { next } = codesShown
    return showPage(context, { page: 'backup-codes-gone', ...(next && { next }) })
  }
  // The key goes with the response that shows the codes, so that a browser that got no response can ask again.
  if (req.method === 'GET') codesSeal.forget(res, path)
  showPage(context, { page: 'backup-codes', codes: z.array(z.string()).parse(JSON.parse(codes)) })
}

async function confirmSaved({ req, res, deps, state, html }: RouteContext): Promise<void> {
  const { codesShown, ...record } = state.record
  if (codesShown) await storeRecord(req, record)
  const next = codesShown?.next ?? deps.settings.path
  codesSeal.forget(res, deps.settings.path)
  if (html) return res.redirect(303, next)
  res.json({ status: 'saved', next } satisfies z.output<typeof backupSavedAnswer>)
}
