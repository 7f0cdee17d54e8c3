import type { Router } from 'express'
import * as z from 'zod'
import { type Refused, refuse } from '../../flows/deps.js'
import { type ChangedKey, findKey, removeKey } from '../../flows/keys.js'
import {
  appOf,
  canRemoveFactors,
  type RemovableFactor,
  type Removed,
  removeFactor,
} from '../../flows/remove-factor.js'
import { offeredFactors } from '../../flows/user.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { requireCurrent, storeRecord } from '../../session/store.js'
import { isListedByHost } from '../../session/user-factors.js'
import type { RouteDeps } from '../actions/context.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { changeFactor, recordFactors } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import type { removedAnswer } from '../http/answers.js'
import { removeKeyBody } from '../http/bodies.js'
import { factorView } from '../http/listed-factors.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { keyAccount, keyView } from './key-page.js'
import { keptRefusal, sendRefusal, showPage } from './respond.js'
import { action, addRoute } from './route.js'

const PATH: Readonly<Record<RemovableFactor, string>> = {
  app: '/enroll-app/remove',
  backup: '/backup/remove',
}

/** `GET` asks the user to confirm that the factor is removed; `POST` removes it and redirects to the factor page. */
export function addRemoval(router: Router, deps: RouteDeps, factor: RemovableFactor): void {
  addRoute(router, deps, PATH[factor], {
    get: (context) => showConfirmation(context, factor),
    post: action({
      body: z.object({}),
      run: (context) => remove(context, factor),
      respond: (context, outcome) => respondRemoved(context, factor, outcome),
    }),
  })
}

/** Whether the factor page offers to remove the authenticator app and the backup codes. */
export async function offeredRemovals(
  context: RouteContext,
): Promise<Readonly<Record<RemovableFactor, boolean>>> {
  const { deps, user } = context
  const isPossible = user.factors.length > 0 && (await canRemoveFactors(deps, user))
  return { app: isPossible && canRemoveApp(context), backup: isPossible }
}

/** Whether removing the app also takes it out of the user's factors, and not only of the service. */
function canRemoveApp({ deps, user }: RouteContext): boolean {
  const app = appOf(user)
  return app !== undefined && (deps.settings.recordedFactors !== undefined || !isListedByHost(app))
}

async function showConfirmation(context: RouteContext, factor: RemovableFactor): Promise<void> {
  const { res, deps, user, html } = context
  const refusal = await factorChangeRefusal(context, PATH[factor])
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(res, { code: 'not_found' })
  // Removed in the meantime, perhaps in another tab: the factor page shows what there is.
  if (!(await offeredRemovals(context))[factor]) return res.redirect(303, deps.settings.urls.path)
  await readDisabledFactors(context)
  const others = offeredFactors(user).filter(({ method }) => factor === 'backup' || method !== 'app')
  const revokesDevices = factor === 'app' && deps.settings.trustedDevices !== undefined
  const view = { page: 'remove', factor, others: others.map(factorView), revokesDevices } as const
  showPage(context, view, keptRefusal(context))
}

type Outcome = Removed | Refused

async function remove(context: RouteContext, factor: RemovableFactor): Promise<Outcome> {
  const { req, deps, state, user } = context
  const refusal = await refusalFor(context, factor)
  if (refusal) return { outcome: 'refused', refusal }
  const outcome = await changeFactor(context, () => removeFactor(deps, user, factor))
  if (outcome.outcome === 'refused') return outcome
  const { weakApp, ...record } = state.record
  if (factor === 'app' && weakApp) await storeRecord(req, record)
  const app = factor === 'app' ? appOf(user) : undefined
  // Before the host's record, which may fail: the user learns of it in any case.
  if (outcome.outcome === 'removed') {
    const to = app && maskForOwner(app.contact)
    await notify(
      context,
      app ? { type: 'factor_removed', method: 'app', ...(to && { to }) } : { type: 'backup_codes_removed' },
    )
  }
  // Also if the service had none any more, so that a record follows that could not be changed the last time.
  await recordFactors(context, factor === 'app' ? { app: false } : { backupCodes: false })
  return outcome
}

async function refusalFor(context: RouteContext, factor: RemovableFactor) {
  const { user } = context
  if (user.existing.length === 0) return { code: 'unknown_factor' } as const
  const refusal = await factorChangeRefusal(context, PATH[factor])
  if (refusal || factor === 'backup') return refusal
  if (!appOf(user)) return { code: 'unknown_factor' } as const
  return canRemoveApp(context) ? undefined : ({ code: 'method_off' } as const)
}

function respondRemoved(
  context: RouteContext,
  factor: RemovableFactor,
  outcome: Outcome,
): Promise<void> | void {
  const { res, deps, html } = context
  // The page may be outdated: a factor that is already gone is what the user wanted.
  const isGone = outcome.outcome !== 'refused' || (html && outcome.refusal.code === 'unknown_factor')
  if (html && isGone) return res.redirect(303, `${deps.settings.urls.path}?removed=${factor}`)
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: '' })
  if (outcome.outcome === 'none') return sendProblem(res, { code: 'unknown_factor' })
  res.json({ status: 'removed' } satisfies z.output<typeof removedAnswer>)
}

const KEY_PATH = '/keys/remove'

/** `GET` asks the user to confirm that the key is removed; `POST` removes it and redirects to the list of keys. */
export function addKeyRemoval(router: Router, deps: RouteDeps): void {
  addRoute(router, deps, KEY_PATH, {
    get: showKeyConfirmation,
    post: action({ body: removeKeyBody, run: removeSelectedKey, respond: respondKeyRemoved }),
  })
}

async function showKeyConfirmation(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const id = removeKeyBody.shape.key.safeParse(req.query.key).data
  const list = `${deps.settings.urls.path}/keys`
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (id === undefined) return res.redirect(303, list)
  const refusal = await factorChangeRefusal(context, `${KEY_PATH}?key=${encodeURIComponent(id)}`)
  if (refusal) return sendRefusal(context, refusal)
  const found = await deps.admission.admit(() => findKey(deps, keyAccount(context), id))
  await requireCurrent(req, state.record)
  // Removed in the meantime, perhaps in another tab: the list shows what there is.
  if (found.outcome === 'refused') return res.redirect(303, list)
  await readDisabledFactors(context)
  const { key, all } = found
  const isLastOfItsKind = all.every(({ id: other, method }) => other === id || method !== key.method)
  const others = offeredFactors(user).filter(({ method }) => !isLastOfItsKind || method !== key.method)
  const revokesDevices = deps.settings.trustedDevices !== undefined
  const view = {
    page: 'key-remove',
    key: keyView(key),
    others: others.map(factorView),
    revokesDevices,
  } as const
  showPage(context, view, keptRefusal(context))
}

async function removeSelectedKey(
  context: RouteContext,
  { key: id }: z.output<typeof removeKeyBody>,
): Promise<ChangedKey | Refused> {
  const { deps, user } = context
  if (user.existing.length === 0) return refuse({ code: 'unknown_key' })
  const refusal = await factorChangeRefusal(context, '/keys')
  if (refusal) return refuse(refusal)
  const outcome = await changeFactor(context, () => removeKey(deps, keyAccount(context), id))
  if (outcome.outcome === 'refused') return outcome
  const { method, name } = outcome.key
  await notify(context, { type: 'factor_removed', method, keyName: name })
  await recordFactors(context, { keys: false })
  return outcome
}

function respondKeyRemoved(context: RouteContext, outcome: ChangedKey | Refused): Promise<void> | void {
  const { res, deps, html } = context
  // The page may be outdated: a key that is already gone is what the user wanted.
  const isGone = outcome.outcome !== 'refused' || (html && outcome.refusal.code === 'unknown_key')
  if (html && isGone) return res.redirect(303, `${deps.settings.urls.path}/keys?removed`)
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: '/keys' })
  res.json({ status: 'removed' } satisfies z.output<typeof removedAnswer>)
}
