import { type KeyAccount, removeEndedFactor, removeEndedKeys } from '../../flows/keys.js'
import type { KeyView } from '../../pages/view.js'
import { KEY_METHODS } from '../../protocol/methods.js'
import type { Key } from '../../protocol/service.js'
import type { AnswerOf } from '../../routes/routes.js'
import { iso } from '../../time.js'
import { appContact, isEnoughFactor } from '../actions/enrollment.js'
import type { RouteContext } from './context.js'

/** The account of the request, as the service names its keys. */
export function keyAccount(context: RouteContext): KeyAccount {
  return { user: context.user, contact: appContact(context) }
}

/** Whether the user can add security keys or passkeys, as the service says. */
export async function offersKeys(context: RouteContext): Promise<boolean> {
  const { enrolledFactors, keys } = context.deps
  if (!keys.areOffered || !isEnoughFactor(context, '/keys')) return false
  const { user, contact } = keyAccount(context)
  return (await enrolledFactors.of(user.userId, contact))?.keys !== undefined
}

/** Whether a change of the factors of this user ends the trust in browsers. */
export function revokesDevices({ deps, user }: RouteContext): boolean {
  return deps.settings.trustedDevices !== undefined && user.existing.length > 0
}

/** Has the service remove what an open reset ended, before it is closed. `added`: the key in its place. */
export async function forgetEndedFactors(context: RouteContext, added?: Key): Promise<void> {
  const { deps } = context
  const { open } = context.requirement
  if (!open) return
  const account = keyAccount(context)
  const hasEnded = (method: Key['method'] | 'app') => open.hasEnded({ method, contact: account.contact })
  if (open.endsAll) await removeEndedFactor(deps, account, 'backup')
  if (added && hasEnded('app')) await removeEndedFactor(deps, account, 'app')
  if (!KEY_METHODS.some(hasEnded)) return
  await removeEndedKeys(deps, account, ({ id, method }) => id !== added?.id && hasEnded(method))
}

/** Warns the operator if the browser will refuse keys on this page. */
export function warnAboutKeys({ req, res, deps }: RouteContext, relyingPartyId?: unknown): void {
  const { diagnostics, keys } = deps
  const permissionsPolicy = res.getHeader('permissions-policy')
  diagnostics.inspectKeys(
    { hostname: req.hostname, permissionsPolicy, relyingPartyId },
    async () => (await keys.relyingParty())?.relatedOrigins ?? [],
  )
}

/** A key as pages show it. */
export function keyView({ id, method, name, backupEligible, createdAt, lastUsedAt }: Key): KeyView {
  const synced = backupEligible
  return { id, method, name, synced, createdAt, ...(lastUsedAt !== undefined && { lastUsedAt }) }
}

/** A key as JSON responses list it. */
export function describeKey(key: Key): AnswerOf<'keys'>['keys'][number] {
  const { createdAt, lastUsedAt, ...view } = keyView(key)
  return {
    ...view,
    createdAt: iso(createdAt),
    ...(lastUsedAt !== undefined && { lastUsedAt: iso(lastUsedAt) }),
  }
}
