import type { Router } from 'express'
import type * as z from 'zod'
import { readDisabledFactors } from '../actions/context.js'
import type { RouteDeps } from '../actions/deps.js'
import { notify } from '../actions/notify.js'
import { type Refused, refuse } from '../flows/deps.js'
import { type ChangedKey, findKey, removeKey } from '../flows/manage-keys.js'
import { existingFactors, offeredFactors } from '../flows/user.js'
import { keyField } from '../http/body.js'
import { factorView } from '../http/factors.js'
import { sendProblem } from '../http/problem.js'
import { type removedAnswer, removeKeyBody } from '../http/schemas.js'
import { requireCurrent } from '../session/store.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { keptRefusal } from './kept-refusal.js'
import { keyAccount, keyView } from './key-page.js'
import { sendRefusal, showPage } from './respond.js'
import { action, addRoute } from './route.js'

const PATH = '/keys/remove'

/** `GET` asks the user to confirm that the key is removed; `POST` removes it and redirects to the list of keys. */
export function addKeyRemoval(router: Router, deps: RouteDeps): void {
  addRoute(router, deps, PATH, {
    get: showConfirmation,
    post: action({ body: removeKeyBody, run: remove, respond: respondRemoved }),
  })
}

async function showConfirmation(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const id = keyField.safeParse(req.query.key).data
  const list = `${deps.settings.path}/keys`
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (id === undefined) return res.redirect(303, list)
  const refusal = await factorChangeRefusal(context, `${PATH}?key=${encodeURIComponent(id)}`)
  if (refusal) return sendRefusal(context, refusal)
  const found = await deps.admission.admit(req, () => findKey(deps, keyAccount(context), id))
  await requireCurrent(req, state.userId)
  // Removed in the meantime, perhaps in another tab: the list shows what there is.
  if (found.outcome === 'refused') return res.redirect(303, list)
  await readDisabledFactors(context)
  const { key, all } = found
  const isLastOfItsKind = all.every(({ id: other, method }) => other === id || method !== key.method)
  const others = offeredFactors(user).filter(({ method }) => !isLastOfItsKind || method !== key.method)
  const revokesDevices = deps.browsers !== undefined
  const view = {
    page: 'key-remove',
    key: keyView(key),
    others: others.map(factorView),
    revokesDevices,
  } as const
  showPage(context, view, keptRefusal(context))
}

async function remove(
  context: RouteContext,
  { key: id }: z.output<typeof removeKeyBody>,
): Promise<ChangedKey | Refused> {
  const { req, deps, state, user } = context
  if (existingFactors(user).length === 0) return refuse({ code: 'unknown_key' })
  const refusal = await factorChangeRefusal(context, '/keys')
  if (refusal) return refuse(refusal)
  const outcome = await removeKey(deps, keyAccount(context), id)
  if (outcome.outcome === 'refused') return outcome
  const { method, name } = outcome.key
  await notify(deps, req, state, { type: 'factor_removed', method, keyName: name })
  return outcome
}

function respondRemoved(context: RouteContext, outcome: ChangedKey | Refused): Promise<void> | void {
  const { res, deps, html } = context
  // The page may be outdated: a key that is already gone is what the user wanted.
  const isGone = outcome.outcome !== 'refused' || (html && outcome.refusal.code === 'unknown_key')
  if (html && isGone) return res.redirect(303, `${deps.settings.path}/keys?removed`)
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: '/keys' })
  res.json({ status: 'removed' } satisfies z.output<typeof removedAnswer>)
}
