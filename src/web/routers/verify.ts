import { findFactor } from '../../flows/user.js'
import type { BodyOf } from '../../routes/routes.js'
import { pickGiven } from '../../shape.js'
import { isReady } from '../../stores/trust/recoveries.js'
import type { Approved } from '../actions/approval.js'
import type { RouteDeps } from '../actions/context.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { verifyBypassCode } from '../actions/recovery.js'
import { type Verified, verifyFactor } from '../actions/verification.js'
import type { BodyFault } from '../http/body.js'
import { lastUsedFactor, rememberUsedFactor } from '../http/cookies.js'
import { respondState } from './challenge.js'
import type { RouteContext, RouteParts } from './context.js'
import { asksNothing, asksRecovery, codePage, showSignedIn } from './factor-pages.js'
import { pageOnly, type Responses, readFieldsFirst, respond } from './outcome.js'
import { requestAsked } from './recover.js'
import { sendRefusal } from './refused.js'
import type { RouteHandlers } from './route.js'
import { showBackupCodesLeft, showCodeEntry, showResume } from './verify-pages.js'

/** Shows and checks a factor; offers an interrupted form, and counts the backup codes that are left. */
export function verifyRoutes(_deps: RouteDeps, { recovery }: RouteParts): RouteHandlers<'verifyRouter'> {
  const check = readFieldsFirst('verify', (context, fields) => verify(context, fields, recovery), showEntry)
  return {
    verifyState: (context) => (context.html ? showCodeEntry(context) : respondState(context)),
    verify: (context) => (context.html && asksNothing(context) ? showSignedIn(context) : check(context)),
    resume: pageOnly(showResume),
    backupCodesLeft: pageOnly(showBackupCodesLeft),
  }
}

async function showEntry(context: RouteContext, { code }: BodyFault) {
  return { view: await codePage(context, undefined), message: { tone: 'error', code } as const }
}

async function verify(
  context: RouteContext,
  fields: BodyOf<'verify'>,
  recovery: RouteParts['recovery'],
): Promise<void> {
  const { req, res, deps, state, user, step, html } = context
  const isBypass = step === 'bypass_code' && fields.factor === 'bypass'
  const outcome = isBypass
    ? await verifyBypassCode(context, fields.code ?? '')
    : await verifyFactor(context, fields, 'log-in')
  if (outcome.outcome !== 'refused') {
    const used = findFactor(user, fields.factor ?? state.record.challenge?.factorId ?? '')
    const { settings } = deps
    if (used && lastUsedFactor(req, settings.users) !== used.id)
      rememberUsedFactor(req, res, used.id, settings)
  }
  const mayGoOn = outcome.outcome === 'verified' && !outcome.mustEnroll
  if (html && mayGoOn && asksRecovery(context)) return requestAsked(context, recovery)
  await respond('verify', context, outcome, PROOF, fields)
}

/** How a right code is answered: of an approval, of a login that it completes, and of one that goes on. */
const PROOF: Responses<'verify', Verified | Approved> = {
  async json(context, outcome) {
    const { path } = context.deps.settings.urls
    if (outcome.outcome === 'approved') {
      return { status: 'approved', next: findAddressAfter(context), approval: outcome.approval }
    }
    if (outcome.mustEnroll) return { status: 'enrollment_required', next: path + enrollPathFor(context) }
    if (outcome.mayRecover) return { status: 'recovery_allowed', next: `${path}/recover` }
    const { trusted, backupCodesLeft } = outcome
    const next = (await recoveryPage(context)) ?? findAddressAfter(context)
    return { status: 'verified', next, ...pickGiven({ trusted, backupCodesLeft }) }
  },
  async page(context, outcome) {
    const { path } = context.deps.settings.urls
    if (outcome.outcome === 'approved') return findAddressAfter(context)
    // Leads on to the keys, where only a key is strong enough.
    if (outcome.mustEnroll) return `${path}/enroll-app`
    if (outcome.mayRecover) return `${path}/recover`
    if (outcome.keyOffer) return `${path}/keys/offer`
    if (outcome.backupCodesLeft !== undefined) return `${path}/backup-codes-left`
    return (await recoveryPage(context)) ?? findAddressAfter(context)
  },
  refuse: sendRefusal,
}

function findAddressAfter({ deps, state }: RouteContext): string {
  return state.record.returnTo ?? deps.settings.login.homePath
}

/** The page on which a user who signs in after the waiting period completes the recovery. */
async function recoveryPage({ deps, state }: RouteContext): Promise<string | undefined> {
  if (state.stage !== 'pending') return undefined
  const recovery = await deps.recoveries.find(state.userId)
  return recovery && isReady(recovery) ? `${deps.settings.urls.path}/recover` : undefined
}
