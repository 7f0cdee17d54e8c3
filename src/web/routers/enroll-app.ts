import { HostError } from '../../errors.js'
import { type Refused, refuse, serviceVerb } from '../../flows/deps.js'
import {
  appEnrolled,
  confirmApp,
  ENROLLMENT_LIFETIME_MS,
  isExpired,
  type Prepared,
  prepareApp,
} from '../../flows/enroll-app.js'
import { factorChange } from '../../flows/freshness.js'
import { removeEndedFactor } from '../../flows/keys.js'
import { canShowBackupCodes } from '../../flows/known-factors.js'
import { qrImage } from '../../pages/qr-code.js'
import type { ViewOf } from '../../pages/view.js'
import type { Contact } from '../../protocol/contact.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import type { BodyOf } from '../../routes/routes.js'
import type { MfaRecord } from '../../session/record.js'
import { storeRecord } from '../../session/store.js'
import { getTokenLogin } from '../../session/transport.js'
import type { RouteDeps } from '../actions/context.js'
import {
  appContact,
  confirmFactor,
  forgetEnrollment,
  openEnrollment,
  recordFactors,
  sealEnrollment,
  takeBackIfEnded,
} from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import { completeVerification } from '../actions/verification.js'
import { sendProblem } from '../http/problem.js'
import { isExhausted, isReplaced, type RouteContext } from './context.js'
import {
  changeApproved,
  confirmationRefusal,
  enrollmentRefusal,
  factorChangeRefusal,
} from './factor-change.js'
import { hasBackup } from './factor-pages.js'
import { forgetEndedFactors, offersKeys, revokesDevices } from './key-page.js'
import { action, answerOutcome } from './outcome.js'
import { createRequiredMessage, sendRefusal, showLock, takeKeptRefusal } from './refused.js'
import { appRemoval, showRemoval } from './remove-factor.js'
import type { RouteHandlers } from './route.js'
import { showPage } from './show-page.js'

/** Prepares an app, shows its QR code, and checks its first code; below, its removal. */
export function enrollAppRoutes({ settings, service }: RouteDeps): RouteHandlers<'enrollAppRouter'> {
  if (settings.apps) serviceVerb(service, 'enrollApp')
  return {
    enrollAppPage: showStart,
    enrollApp: action('enrollApp', {
      run: prepare,
      store: storePrepared,
      json: (_context, prepared) => describeEnrollment(prepared),
      page: ({ deps }) => `${deps.settings.urls.path}/enroll-app/confirm`,
      refuse: { page: '/enroll-app' },
    }),
    confirmAppPage: showConfirm,
    confirmApp: answerOutcome('confirmApp', {
      run: confirm,
      json: () => ({ status: 'enrolled' }),
      page: ({ deps }) => `${deps.settings.urls.path}/enroll-app/done`,
      refuse: { page: '/enroll-app/confirm' },
    }),
    removeAppPage: (context) => showRemoval(context, 'app'),
    removeApp: appRemoval,
    appEnrolledPage: showDone,
  }
}

async function showStart(context: RouteContext): Promise<void> {
  const { res, deps, html } = context
  const refusal = await startRefusal(context, false)
  // Every way to set up a factor leads here, also where only a key is strong enough.
  if (html && refusal?.code === 'enrollment_required')
    return res.redirect(303, `${deps.settings.urls.path}/keys`)
  if (refusal) return sendRefusal(context, refusal)
  if (!html) return sendProblem(res, { code: 'not_found' })
  const keys = await offersKeys(context)
  const { addFactorPath } = deps.settings.pages
  const hasNone = context.state.stage !== 'pending' && context.user.existing.length === 0
  const view = {
    ...startView(context),
    ...(keys && { keys }),
    ...(hasNone && addFactorPath && { addUrl: addFactorPath }),
    revokesDevices: revokesDevices(context),
  }
  showPage(context, view, createRequiredMessage(context) ?? takeKeptRefusal(context))
}

function startView({ user, state }: RouteContext, over?: 'exhausted' | 'expired'): ViewOf<'enroll-start'> {
  const replaces = user.existing.some(({ method }) => method === 'app')
  const strongerRequired = state.stage === 'pending' && user.minStrength !== undefined
  return {
    page: 'enroll-start',
    replaces,
    ...(over && { over }),
    ...(strongerRequired && { strongerRequired }),
  }
}

/** Shows QR code and key until the app is confirmed or the enrollment is over. */
async function showConfirm(context: RouteContext): Promise<void> {
  const { req, res, deps, state, html } = context
  const { enrollment } = state.record
  if (!html || !enrollment) return res.redirect(303, `${deps.settings.urls.path}/enroll-app`)
  const refusal = await confirmRefusal(context)
  if (refusal) return sendRefusal(context, refusal)
  if (await showLock(context)) return
  if (isExpired(enrollment)) return showPage(context, startView(context, 'expired'))
  if (await isExhausted(context, enrollment.id)) return showPage(context, startView(context, 'exhausted'))
  if (await isReplaced(context, enrollment.id)) {
    return showPage(context, startView(context), { tone: 'error', code: 'enrollment_replaced' })
  }
  const shown = openEnrollment(req, enrollment.sealed, { id: enrollment.id, settings: deps.settings })
  showPage(context, { page: 'enroll', ...shown }, takeKeptRefusal(context))
}

async function prepare(context: RouteContext): Promise<Prepared | Refused> {
  const { html, user } = context
  const shown = await findShownEnrollment(context)
  const approvedBefore = shown?.enrollment.approvedBy
  // Its page shows it for the same approval when it is loaded again, too.
  const isApproved = html && approvedBefore !== undefined && factorChange(user).accepts(approvedBefore)
  const refusal = isApproved ? await confirmRefusal(context) : await startRefusal(context, true)
  if (refusal) return refuse(refusal)
  if (shown && isApproved) return shown
  return changeApproved(context, 'app', async (approvedBy) => {
    if (shown && !approvedBy) return shown
    await checkAppIsOwn(context)
    const prepared = await prepareApp(context.deps, context.user, appContact(context))
    if (prepared.outcome === 'refused' || !approvedBy) return prepared
    return { ...prepared, enrollment: { ...prepared.enrollment, approvedBy } }
  })
}

function startRefusal(context: RouteContext, uses: boolean) {
  return enrollmentRefusal(context, '/enroll-app', () =>
    factorChangeRefusal(context, '/enroll-app', { change: 'app', uses }),
  )
}

function confirmRefusal(context: RouteContext) {
  const { enrollment } = context.state.record
  return enrollmentRefusal(context, '/enroll-app', () =>
    confirmationRefusal(context, '/enroll-app', enrollment, getAge(enrollment)),
  )
}

/** The enrollment that this session was shown, so that a second press leaves the first QR code valid. */
async function findShownEnrollment(context: RouteContext): Promise<Prepared | undefined> {
  const { req, deps, state } = context
  const { enrollment } = state.record
  if (!enrollment || isExpired(enrollment)) return undefined
  const { qr, ...shown } = openEnrollment(req, enrollment.sealed, {
    id: enrollment.id,
    settings: deps.settings,
  })
  const image = qrImage(shown.uri, qr)
  if (!image || (await isExhausted(context, enrollment.id))) return undefined
  if (await isReplaced(context, enrollment.id)) return undefined
  return { outcome: 'prepared', enrollment, qr: image.src, ...shown }
}

/** The texts that the user sees of a prepared app, once. */
function describeEnrollment({ qr, uri, secret }: Prepared) {
  return { qr, ...(uri && { uri }), ...(secret && { secret }) }
}

async function storePrepared({ req, res, deps, state }: RouteContext, prepared: Prepared): Promise<void> {
  const { enrollment } = prepared
  const { refused: _answered, ...record } = state.record
  const seal = { id: enrollment.id, settings: deps.settings, lifetimeMs: ENROLLMENT_LIFETIME_MS }
  // A client without cookies would have no key for it.
  const sealed = getTokenLogin(req)
    ? undefined
    : sealEnrollment({ req, res }, describeEnrollment(prepared), seal)
  await storeRecord(req, { ...record, enrollment: { ...enrollment, ...(sealed && { sealed }) } })
}

async function confirm(context: RouteContext, { code }: BodyOf<'confirmApp'>) {
  const { res, deps, state, user } = context
  const { enrollment } = state.record
  // Checked again, since the account may have got a stronger factor after this enrollment began.
  const refusal = await confirmRefusal(context)
  if (refusal) return refuse(refusal)
  // Before its turn, so that it does not take that of the session with the newer QR code.
  if (enrollment && (await isReplaced(context, enrollment.id))) return refuse({ code: 'enrollment_replaced' })
  const contact = appContact(context)
  const outcome = await confirmFactor(context, () =>
    completeVerification(context, {
      check: () => confirmApp(deps, user, state.record, contact, code),
      transaction: enrollment?.id ?? '',
      // The app is valid from now on, even if no session follows.
      onAccepted: () => appWasEnrolled(context, contact),
      enrolls: true,
      endsAs: () => 'log-in',
    }),
  )
  if (outcome.outcome !== 'refused') forgetEnrollment(res, deps.settings)
  return outcome
}

async function showDone(context: RouteContext): Promise<void> {
  const { res, deps, state, html } = context
  const { enrolled } = state.record
  if (!html || !enrolled) return res.redirect(303, `${deps.settings.urls.path}/enroll-app`)
  showPage(context, {
    page: 'enrolled',
    backup: (await hasBackup(context)) || (await canShowBackupCodes(deps, context.user)),
    next: enrolled.next,
  })
}

function getAge(enrollment: MfaRecord['enrollment']): number {
  return enrollment ? Math.max(0, Date.now() - enrollment.startedAt) : 0
}

/** Reports the new app to the host, and notifies the user. Returns the end of the other sessions that it caused, if any. */
async function appWasEnrolled(context: RouteContext, contact: Contact): Promise<string | undefined> {
  const { deps, user, requirement } = context
  await takeBackIfEnded(context, (account) => removeEndedFactor(deps, account, 'app'))
  await appEnrolled(deps, user, contact)
  await forgetEndedFactors(context)
  const lastEnd = await deps.recoveries.enrolled(user.userId, requirement.open !== undefined)
  await recordFactors(context, { app: true })
  const to = maskForOwner(contact)
  await notify(context, { type: 'factor_added', method: 'app', ...(to && { to }) })
  return lastEnd
}

/** @throws {HostError} when another user's app under this contact would be replaced (R98). */
async function checkAppIsOwn(context: RouteContext): Promise<void> {
  const { deps, user } = context
  if (deps.service.factorsOf) return
  const contact = appContact(context)
  if (!(await deps.appOwners.isAnother(contact, user.userId))) return
  deps.diagnostics.warn('MFA_WARN_APP_CONTACT')
  throw new HostError(
    'ERR_MFA_APP_CONTACT',
    'Another user has an authenticator app under the same contact, which the service would replace. Let appContact return a verified contact that no other user has in any spelling.',
  )
}
