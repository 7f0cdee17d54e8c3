import type * as z from 'zod'
import { type Refused, refuse } from '../../flows/deps.js'
import { type ChangedKey, findKey, removeKey } from '../../flows/keys.js'
import {
  canRemoveFactors,
  findApp,
  type RemovableFactor,
  type Removed,
  removeFactor,
} from '../../flows/remove-factor.js'
import { listOfferedFactors } from '../../flows/user.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { removeKeyBody } from '../../routes/bodies.js'
import { getRoutePath } from '../../routes/routes.js'
import { requireCurrent, storeRecord } from '../../session/store.js'
import { isListedByHost } from '../../session/user-factors.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { changeFactor, recordFactors } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import { factorView } from '../http/listed-factors.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { factorChangeRefusal } from './factor-change.js'
import { keyAccount, keyView } from './key-page.js'
import { action, pageOnly, refuseUnlessGone } from './outcome.js'
import { sendRefusal, takeKeptRefusal } from './refused.js'
import { showPage } from './show-page.js'

const PATH: Readonly<Record<RemovableFactor, string>> = {
  app: getRoutePath('removeApp'),
  backup: getRoutePath('removeBackupCodes'),
}

/** The answer to a removal, with the page after it. The page before may be outdated: a factor that is gone is what the user wanted. */
const answerRemoval = (gone: 'unknown_factor' | 'unknown_key', pageAfter: string, page = '') => {
  const getAddressAfter = ({ deps }: RouteContext) => deps.settings.urls.path + pageAfter
  return {
    json: () => ({ status: 'removed' }) as const,
    page: getAddressAfter,
    refuse: refuseUnlessGone(gone, getAddressAfter, { page }),
  }
}

/** Removes the authenticator app, and redirects to the factor page. */
export const appRemoval = action('removeApp', {
  run: (context) => remove(context, 'app'),
  ...answerRemoval('unknown_factor', '?removed=app'),
})

/** Removes all backup codes, and redirects to the factor page. */
export const backupCodesRemoval = action('removeBackupCodes', {
  run: (context) => remove(context, 'backup'),
  ...answerRemoval('unknown_factor', '?removed=backup'),
})

/** Whether the factor page offers to remove the authenticator app and the backup codes. */
export async function listOfferedRemovals(
  context: RouteContext,
): Promise<Readonly<Record<RemovableFactor, boolean>>> {
  const { deps, user } = context
  const isPossible = user.factors.length > 0 && (await canRemoveFactors(deps, user))
  return { app: isPossible && canRemoveApp(context), backup: isPossible }
}

/** Whether removing the app also takes it out of the user's factors, and not only of the service. */
function canRemoveApp({ deps, user }: RouteContext): boolean {
  const app = findApp(user)
  return app !== undefined && (deps.settings.recordedFactors !== undefined || !isListedByHost(app))
}

/** Asks the user to confirm that the factor is removed. */
export async function showRemoval(context: RouteContext, factor: RemovableFactor): Promise<void> {
  const { res, deps, user, html } = context
  const refusal = await factorChangeRefusal(context, PATH[factor])
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(res, { code: 'not_found' })
  // Removed in the meantime, perhaps in another tab: the factor page shows what there is.
  if (!(await listOfferedRemovals(context))[factor]) return res.redirect(303, deps.settings.urls.path)
  await readDisabledFactors(context)
  const others = listOfferedFactors(user).filter(({ method }) => factor === 'backup' || method !== 'app')
  const revokesDevices = factor === 'app' && deps.settings.trustedDevices !== undefined
  const view = { page: 'remove', factor, others: others.map(factorView), revokesDevices } as const
  showPage(context, view, takeKeptRefusal(context))
}

async function remove(context: RouteContext, factor: RemovableFactor): Promise<Removed | Refused> {
  const { req, deps, state, user } = context
  const refusal = await findRefusal(context, factor)
  if (refusal) return { outcome: 'refused', refusal }
  const outcome = await changeFactor(context, () => removeFactor(deps, user, factor))
  if (outcome.outcome === 'refused') return outcome
  const { weakApp, ...record } = state.record
  if (factor === 'app' && weakApp) await storeRecord(req, record)
  const app = factor === 'app' ? findApp(user) : undefined
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
  return outcome.outcome === 'none' ? refuse({ code: 'unknown_factor' }) : outcome
}

async function findRefusal(context: RouteContext, factor: RemovableFactor) {
  const { user } = context
  if (user.existing.length === 0) return { code: 'unknown_factor' } as const
  const refusal = await factorChangeRefusal(context, PATH[factor])
  if (refusal || factor === 'backup') return refusal
  if (!findApp(user)) return { code: 'unknown_factor' } as const
  return canRemoveApp(context) ? undefined : ({ code: 'method_off' } as const)
}

/** Asks the user to confirm that the key is removed. */
export const showKeyRemoval = pageOnly(showKeyConfirmation)

/** Removes a key, and redirects to the list of keys. */
export const keyRemoval = action('removeKey', {
  run: removeSelectedKey,
  ...answerRemoval('unknown_key', '/keys?removed', '/keys'),
})

async function showKeyConfirmation(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user } = context
  const id = removeKeyBody.shape.key.safeParse(req.query.key).data
  const list = `${deps.settings.urls.path}/keys`
  if (id === undefined) return res.redirect(303, list)
  const refusal = await factorChangeRefusal(
    context,
    `${getRoutePath('removeKey')}?key=${encodeURIComponent(id)}`,
  )
  if (refusal) return sendRefusal(context, refusal)
  const found = await deps.admission.admit(() => findKey(deps, keyAccount(context), id))
  await requireCurrent(req, state.record)
  // Removed in the meantime, perhaps in another tab: the list shows what there is.
  if (found.outcome === 'refused') return res.redirect(303, list)
  await readDisabledFactors(context)
  const { key, all } = found
  const isLastOfItsKind = all.every(({ id: other, method }) => other === id || method !== key.method)
  const others = listOfferedFactors(user).filter(({ method }) => !isLastOfItsKind || method !== key.method)
  const revokesDevices = deps.settings.trustedDevices !== undefined
  const view = {
    page: 'key-remove',
    key: keyView(key),
    others: others.map(factorView),
    revokesDevices,
  } as const
  showPage(context, view, takeKeptRefusal(context))
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
