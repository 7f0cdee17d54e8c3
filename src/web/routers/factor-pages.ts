import { hasUsedAppCode } from '../../flows/enroll-app.js'
import { factorChange } from '../../flows/freshness.js'
import { findDigits, hasBackupCodes } from '../../flows/known-factors.js'
import { findFactor } from '../../flows/user.js'
import { challengeIdFor } from '../../flows/verify.js'
import type { View, ViewOf } from '../../pages/view.js'
import type { Factor } from '../../protocol/factor.js'
import { isKeyMethod } from '../../protocol/methods.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { lastUsedFactor } from '../http/cookies.js'
import { factorView } from '../http/listed-factors.js'
import { factorViews, isExhausted, lastChallenge, type RouteContext } from './context.js'
import { showPage } from './show-page.js'

/** The id of the factor that is offered first: the host's choice, or the one that was last used in this browser. */
export function findPreferredFactor({ req, deps, state }: RouteContext): string | undefined {
  return deps.settings.pages.preferred?.(state.user) ?? lastUsedFactor(req, deps.settings.users)
}

/** Whether a browser is asked for no factor: its user signed in, perhaps in another tab, and the page before is outdated. */
export function asksNothing({ state }: RouteContext): boolean {
  return state.stage !== 'pending' && !state.record.stepUp
}

/** How long a recovery waits for the factor that the user must show first. */
const ASKED_LIFETIME_MS = 10 * 60_000

/** Whether the user asked for a recovery on its page, and now shows a factor for it. */
export function asksRecovery({ deps, state: { record } }: Pick<RouteContext, 'deps' | 'state'>): boolean {
  const { recovery, returnTo } = record
  const isOpen = recovery !== undefined && recovery.shown === undefined
  return (
    isOpen &&
    returnTo === `${deps.settings.urls.path}/recover` &&
    Date.now() - recovery.at < ASKED_LIFETIME_MS
  )
}

/** Says that the user is signed in, and goes on. */
export function showSignedIn(context: RouteContext): void {
  const message = { tone: 'success', code: 'signed_in' } as const
  showPage(context, { page: 'stop', message, next: 'home', isPageLost: 'page-lost' in context.req.query })
}

/** The page on which the user chooses a factor. */
export async function choosePage(
  context: RouteContext,
  factors = factorViews(context),
): Promise<ViewOf<'choose'>> {
  const preferred = findPreferredFactor(context)
  return { page: 'choose', factors, ...(preferred && { preferred }), ...(await backupOffer(context)) }
}

/** The page on which the user types a code or uses a key, or the choice of factors if there is no factor to type a code for. */
export async function codePage(context: RouteContext, name: string | undefined): Promise<View> {
  const { state, user } = context
  await readDisabledFactors(context)
  const id = name ?? state.record.challenge?.factorId
  const named = id === undefined || id === 'backup' ? undefined : findFactor(user, id)
  const found = named && user.disabled?.has(named.id) ? undefined : named
  if (!found && !(id === 'backup' && (await hasBackup(context)))) return choosePage(context)
  const challenge = lastChallenge(context)
  const shared = {
    exhausted: await isExhausted(context, challengeIdFor(state.record, found?.id ?? 'backup')),
    others: factorViews(context).filter((other) => other.id !== found?.id),
    ...(id === 'backup' ? { backup: false } : await backupOffer(context)),
    ...(found && trustOffer(context, found)),
  }
  if (!found) return { page: 'code', factor: 'backup', ...shared }
  const view = factorView(found)
  if (isKeyMethod(view.method)) return { page: 'key', factor: { ...view, method: view.method }, ...shared }
  return {
    page: 'code',
    factor: { ...view, method: view.method },
    ...(view.method === 'app' && {
      digits: await findDigits(context.deps, user, found),
      ...(hasUsedAppCode(state.record) && { isUsed: true }),
    }),
    ...(challenge && challenge.factor.id === found.id && { challenge }),
    ...shared,
  }
}

/** The checkbox for trusting this browser, if the user signs in and may trust it with this factor (R92). */
function trustOffer(
  { req, deps, state, user }: RouteContext,
  { method }: Factor,
): Pick<ViewOf<'code'>, 'trust'> {
  const isAccepted =
    state.stage === 'pending' && user.minStrength === undefined && factorChange(user).accepts(method)
  const forMs = isAccepted ? deps.trustedDevices.offer(req, state.user) : undefined
  if (forMs === undefined) return {}
  // The choice outlasts a wrong code.
  return { trust: { forMs, ticked: state.record.refused?.trust === true } }
}

/** How pages offer a backup code: as a factor, in a question if it is unknown whether there are any, or not. */
export async function backupOffer(
  context: RouteContext,
): Promise<{ readonly backup: boolean; readonly mayHaveBackup?: true }> {
  if (!(await hasBackup(context))) return { backup: false }
  const left = await context.deps.backupCodes.leftRecently(context.user)
  if (left === undefined) return { backup: false, mayHaveBackup: true }
  return { backup: left !== 0 }
}

/** Whether this user can have backup codes, and the step-up accepts them. */
export async function hasBackup({ deps, user, state }: RouteContext): Promise<boolean> {
  if (user.disabled?.has('backup') || state.record.stepUp?.backup === false) return false
  return hasBackupCodes(deps, user)
}
