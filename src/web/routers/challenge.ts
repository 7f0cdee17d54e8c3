import type { Response } from 'express'
import { ServiceError } from '../../errors.js'
import { type Challenged, startChallenge } from '../../flows/challenge.js'
import { type Refused, refuse } from '../../flows/deps.js'
import { keyFactorOf, listKeys, type PreparedAssertion, prepareAssertion } from '../../flows/keys.js'
import {
  canShowBackupCodes,
  findKnownFactors,
  findLastUse,
  lastBackupUse,
} from '../../flows/known-factors.js'
import { refusalAtStep } from '../../flows/login-step.js'
import { listFactorsToEnd } from '../../flows/recovery.js'
import { findFactor, listOfferedFactors, openApproval } from '../../flows/user.js'
import type { FactorView, KeyView, PageMessage, View } from '../../pages/view.js'
import type { Factor } from '../../protocol/factor.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { isDelivered, isKeyMethod } from '../../protocol/methods.js'
import type { MfaState } from '../../routes/answers.js'
import type { AnswerOf, BodyOf } from '../../routes/routes.js'
import { createGivenUpEvent, endPendingLogin } from '../../session/pending-login.js'
import { storeRecord } from '../../session/store.js'
import { pickGiven } from '../../shape.js'
import { iso } from '../../time.js'
import { describeApproval, refuseApproval } from '../actions/approval.js'
import type { EnteredRequest } from '../actions/context.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { enrollPathFor, mayEnrollFirst } from '../actions/enrollment.js'
import { createActing } from '../guard/acting.js'
import { factorView, listFactors } from '../http/listed-factors.js'
import { logFailure, sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'
import {
  countLockedSeconds,
  factorViews,
  followChallenge,
  liveChallenge,
  type RouteContext,
} from './context.js'
import {
  asksNothing,
  asksRecovery,
  backupOffer,
  choosePage,
  findPreferredFactor,
  hasBackup,
  showSignedIn,
} from './factor-pages.js'
import { keyAccount, keyView, offersKeys, warnAboutKeys } from './key-page.js'
import {
  answerOutcome,
  type Responses,
  readFieldsFirst,
  refuseUnlessGone,
  respond,
  runAdmitted,
} from './outcome.js'
import { sendRefusal, showLock, showWithheld, takeKeptRefusal } from './refused.js'
import { listOfferedRemovals } from './remove-factor.js'
import type { RouteHandlers } from './route.js'
import { showPage } from './show-page.js'

/** Shows status and factors, starts a challenge, and ends the login. */
export function challengeRoutes(): RouteHandlers<'challengeRouter'> {
  const start = readFieldsFirst('challenge', challenge)
  return {
    state: {
      handle: (context) => (context.html ? showStart(context) : respondState(context)),
      signedOut: (res) => {
        res.json({ status: 'none', factors: [] } satisfies MfaState)
      },
    },
    challenge: (context) => (context.html && asksNothing(context) ? showSignedIn(context) : start(context)),
    cancel: {
      handle: answerOutcome('cancel', {
        run: cancel,
        json: (_context, next) => ({ status: 'canceled', next }),
        page: (_context, next) => next,
        // Only a pending login can be canceled; a signed-in user signs out with the host.
        refuse: refuseUnlessGone('not_found', getHome),
      }),
      acting: stopActing,
    },
  }
}

async function showStart(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, step } = context
  await readDisabledFactors(context)
  const { path } = deps.settings.urls
  if (step === 'bypass_code') return res.redirect(303, `${path}/verify?factor=bypass`)
  if (step === 'enrollment') return res.redirect(303, `${path}/enroll-app`)
  if (state.stage !== 'pending' && !state.record.stepUp) {
    const mayEnroll = user.existing.length > 0 || mayEnrollFirst(context)
    const left = await deps.backupCodes.left(user)
    const backup = await hasBackup(context)
    const removals = await listOfferedRemovals(context)
    const known = await findKnownFactors(deps, user)
    const backupCodesUsedAt = lastBackupUse(known)
    const weakApp = known?.existing.some(({ weak }) => weak)
    const overview = {
      page: 'overview',
      factors: await listManagedFactors(context, removals.app),
      backup: backup || (user.factors.length > 0 && (await canShowBackupCodes(deps, user))),
      ...(deps.settings.pages.addFactorPath && { addUrl: deps.settings.pages.addFactorPath }),
      ...(typeof left === 'number' && backup && { backupCodesLeft: left }),
      ...(backupCodesUsedAt !== undefined && { backupCodesUsedAt }),
      canRemoveBackup: removals.backup,
      ...(weakApp && { weakApp }),
      enroll: mayEnroll && deps.settings.apps,
      keys: mayEnroll && (await offersKeys(context)),
      ...(await listKeysIfAny(context)),
      // Only a second factor can be skipped.
      devices: deps.settings.trustedDevices !== undefined && user.factors.length > 0,
    } as const
    return showPage(context, overview, createRemovedMessage(context) ?? takeKeptRefusal(context))
  }
  if (state.stage !== 'pending' && user.existing.length === 0) {
    return res.redirect(303, `${path}/enroll-app?required`)
  }
  if (await showLock(context)) return
  if (await hasOnlyWithheld(context)) return showWithheld(context)
  const { choose } = req.query
  const recovers = choose !== 'all' && asksRecovery(context)
  const permits = ({ method }: FactorView) => listFactorsToEnd(user.existing, [method]).length > 0
  const factors = factorViews(context).filter((factor) => !recovers || permits(factor))
  if (choose === undefined) {
    if (liveChallenge(context)) return res.redirect(303, `${path}/verify`)
    const first = firstFactor(factors, findPreferredFactor(context))
    if (first) return res.redirect(303, `${path}/verify?factor=${first.id}`)
  }
  const view = await choosePage(context, factors)
  showPage(context, recovers ? { ...view, recovers } : view, takeKeptRefusal(context))
}

/** Each key of a user who has some, unless the service cannot list them now. */
async function listKeysIfAny(context: RouteContext): Promise<{ readonly listedKeys?: readonly KeyView[] }> {
  const { deps, user } = context
  if (!user.factors.some(({ method }) => isKeyMethod(method))) return {}
  const listed = await listKeys(deps, keyAccount(context)).catch(() => undefined)
  return listed?.outcome === 'listed' ? { listedKeys: listed.keys.map(keyView) } : {}
}

/** Whether nothing is left that the user could show: the factors that are accepted here are withheld, and there are no backup codes. */
async function hasOnlyWithheld(context: RouteContext): Promise<boolean> {
  const { user } = context
  if (user.withheld.length === 0 || factorViews(context).length > 0) return false
  const { backup, mayHaveBackup } = await backupOffer(context)
  return !backup && mayHaveBackup !== true
}

/** The factor whose page comes without a choice: of those accepted here, the preferred or only one, if nothing is sent for it (R14). */
function firstFactor(factors: readonly FactorView[], preferred: string | undefined): FactorView | undefined {
  const [only, ...others] = factors
  const first = factors.find(({ id }) => id === preferred) ?? (others.length === 0 ? only : undefined)
  return first && !isDelivered(first.method) ? first : undefined
}

/** Says which factor the form before this page removed. */
function createRemovedMessage({ req }: RouteContext): PageMessage | undefined {
  const { removed } = req.query
  if (removed !== 'app' && removed !== 'backup') return undefined
  return { tone: 'success', code: removed === 'app' ? 'app_removed' : 'backup_codes_removed' }
}

/** The factors with the pages on which they are changed, and when the service last accepted a code of each. */
async function listManagedFactors(context: RouteContext, canRemoveApp: boolean): Promise<FactorView[]> {
  const { deps, user } = context
  const factors = new Map(user.factors.map((factor) => [factor.id, factor]))
  const known = await findKnownFactors(deps, user)
  return factorViews(context).map((view) => {
    const factor = factors.get(view.id)
    const lastUsedAt = factor && findLastUse(factor, known)
    const manageUrl =
      factor?.manageUrl ??
      (isKeyMethod(view.method) && deps.keys.areOffered ? `${deps.settings.urls.path}/keys` : undefined)
    return {
      ...view,
      ...pickGiven({ manageUrl, lastUsedAt }),
      ...(view.method === 'app' && canRemoveApp && { canRemove: true }),
    }
  })
}

/** Responds with the state of the login as JSON. */
export async function respondState(context: RouteContext): Promise<void> {
  const { res, deps, state, user, step } = context
  const [live, retryAfterSeconds] = await Promise.all([
    followChallenge(context),
    countLockedSeconds(context),
    readDisabledFactors(context),
  ])
  const asked = openApproval(state.record)
  const approval = asked && { approval: describeApproval(asked) }
  const shared = {
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
    factors: listFactors(listOfferedFactors(user)),
    ...(user.withheld.length > 0 && { withheld: user.withheld.map(({ method }) => method) }),
    ...(live && {
      challenge: {
        factor: live.factor.id,
        to: live.factor.to,
        delivery: live.delivery,
        expiresAt: iso(live.expiresAt),
        ...(live.resendAt !== undefined && { resendAt: iso(live.resendAt) }),
      },
    }),
  }
  const endsAt = iso(state.record.startedAt + deps.settings.login.pendingLifetimeMs)
  const answer: MfaState =
    state.stage === 'pending'
      ? {
          status: 'pending',
          ...shared,
          ...(user.minStrength && { minStrength: user.minStrength }),
          ...(step === 'bypass_code' && { factors: [], bypass: true as const }),
          ...(step === 'enrollment' && { enroll: deps.settings.urls.path + enrollPathFor(context) }),
          expiresAt: endsAt,
        }
      : state.stage === 'verified'
        ? { status: 'verified', ...shared, ...approval, ...(!live && (await factorUses(context))) }
        : { status: 'none', ...shared, ...approval }
  res.json(answer)
}

type VerifiedState = Extract<MfaState, { status: 'verified' }>

/** When the factors were last used and how many backup codes there are, if the service says. */
async function factorUses({
  deps,
  user,
}: RouteContext): Promise<Partial<Pick<VerifiedState, 'factors' | 'backupCodes'>>> {
  const known = await findKnownFactors(deps, user)
  if (!known) return {}
  const factors = listOfferedFactors(user).flatMap((factor) => {
    const usedAt = findLastUse(factor, known)
    return listFactors([factor]).map((listed) => ({ ...listed, ...lastUsed(usedAt) }))
  })
  return { factors, backupCodes: { left: known.backupCodesLeft, ...lastUsed(lastBackupUse(known)) } }
}

function lastUsed(at: number | undefined) {
  return at === undefined ? {} : { lastUsedAt: iso(at) }
}

async function challenge(context: RouteContext, fields: BodyOf<'challenge'>): Promise<void> {
  const outcome = await runAdmitted(context, () => begin(context, fields))
  if (outcome.outcome === 'undelivered') return respondUndelivered(context, outcome)
  if (outcome.outcome === 'challenged') await storeChallenge(context, outcome)
  await respond('challenge', context, outcome, CHALLENGED, fields)
}

async function begin(
  context: RouteContext,
  { factor, approval }: BodyOf<'challenge'>,
): Promise<Started | Refused | Undelivered> {
  const { deps, state, user, step, html } = context
  const refusal = refusalAtStep(step)
  if (refusal) return refuse(refusal)
  if (openApproval(state.record)?.id !== approval) return refuse({ code: 'approval_ended' })
  const started = await startChallenge(deps, user, state.record, factor).catch((error: unknown) =>
    findOtherFactors(context, error, factor),
  )
  const key = started.outcome === 'challenged' ? keyFactorOf(user, started.challenge.factorId) : undefined
  // The script of the page asks for JSON.
  if (!key || started.outcome !== 'challenged' || html) return started
  const assertion = await prepareAssertion(deps, user, state.record, key)
  return assertion.outcome === 'refused' ? assertion : { ...started, assertion }
}

/** A challenge, with what the browser needs to use a key. */
type Started = Challenged & { readonly assertion?: PreparedAssertion }

async function storeChallenge(context: RouteContext, { challenge, assertion }: Started): Promise<void> {
  const { refused: _answered, ...record } = context.state.record
  if (assertion) warnAboutKeys(context, assertion.options.rpId)
  await storeRecord(context.req, { ...record, challenge })
}

const CHALLENGED: Responses<'challenge', Started> = {
  json({ user }, { challenge, assertion }) {
    const { factorId, delivery, expiresAt, resendAt } = challenge
    const factor = user.factors.find(({ id }) => id === factorId)
    return {
      status: 'challenged',
      factor: factorId,
      ...(factor && { to: maskForOwner(factor.contact) }),
      delivery,
      expiresAt: iso(Math.min(expiresAt, assertion?.expiresAt ?? expiresAt)),
      ...(resendAt !== undefined && { resendAt: iso(resendAt) }),
      ...(assertion && { publicKey: assertion.options }),
    }
  },
  page: ({ deps }, { again }) => `${deps.settings.urls.path}/verify${again ? '?again' : ''}`,
  refuse: sendRefusal,
}

function getHome({ deps }: RouteContext): string {
  return deps.settings.login.homePath
}

/** Ends what is under way, and returns where the user continues. */
async function cancel(context: RouteContext, { approval }: BodyOf<'cancel'>): Promise<string | Refused> {
  const { req, deps, state } = context
  if (approval !== undefined || openApproval(state.record)) {
    return (await refuseApproval(context, approval)) ?? getHome(context)
  }
  if (state.stage !== 'pending') return refuse({ code: 'not_found' })
  await endPendingLogin(req, state.record)
  deps.emit(createGivenUpEvent('canceled', state.record))
  return deps.settings.login.signInPath
}

async function stopActing({ req, deps }: EnteredRequest, res: Response): Promise<void> {
  const { homePath } = deps.settings.login
  await createActing(deps).stopActing(req)
  if (wantsHtml(req)) return res.redirect(303, homePath)
  res.json({ status: 'canceled', next: homePath } satisfies AnswerOf<'cancel'>)
}

/** The service failed to deliver a code, and the user may use another factor. */
interface Undelivered {
  readonly outcome: 'undelivered'
  readonly error: ServiceError
  readonly factors: readonly Factor[]
  readonly backup: boolean
}

// A wrong key is no outage. Nor is a service that is busy, or an attacker could cause one.
const KEPT_CLOSED = ['ERR_MFA_SERVICE_KEY', 'ERR_MFA_SERVICE_BUSY']

/** The factors that `outage` allows when no code could be delivered. @throws the service's error without any. */
async function findOtherFactors(
  context: RouteContext,
  error: unknown,
  requested: string,
): Promise<Undelivered> {
  const { deps, user } = context
  const { outage, logger } = deps.settings
  if (outage.offer === 'nothing' || !(error instanceof ServiceError) || KEPT_CLOSED.includes(error.code))
    throw error
  await readDisabledFactors(context)
  const failed = findFactor(user, requested)
  const factors =
    outage.offer === 'other-factor' ? listOfferedFactors(user).filter(({ id }) => id !== failed?.id) : []
  const offer = await backupOffer(context)
  const backup = offer.backup || offer.mayHaveBackup === true
  if (factors.length === 0 && !backup) throw error
  logFailure(logger, error)
  return { outcome: 'undelivered', error, factors, backup }
}

async function respondUndelivered(
  context: RouteContext,
  { error, factors, backup }: Undelivered,
): Promise<void> {
  const { res, deps, html } = context
  const { retryAfterSeconds } = error
  const problem = {
    code: 'delivery_unavailable',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  } as const
  if (html) return showPage(context, await pageFor(context, factors), { tone: 'error', ...problem })
  const { path: next } = deps.settings.urls
  sendProblem(res, { ...problem, next, factors: listFactors(factors), backup }, error.status)
}

async function pageFor(context: RouteContext, factors: readonly Factor[]): Promise<View> {
  if (factors.length > 0) return choosePage(context, factors.map(factorView))
  return { page: 'code', factor: 'backup', exhausted: false, others: [], backup: false }
}
