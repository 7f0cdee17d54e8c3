import type { Router } from 'express'
import type * as z from 'zod'
import { sessionEnded } from '../../errors.js'
import { type Refused, refuse } from '../../flows/deps.js'
import {
  type ChangedKey,
  keyAdded,
  type ListedKeys,
  listKeys,
  type PreparedKey,
  prepareKey,
  type RegisteredKey,
  registerKey,
  removeEndedKeys,
  renameKey,
} from '../../flows/keys.js'
import type { Refusal } from '../../flows/refusal.js'
import { refusalWithoutFactor } from '../../flows/user.js'
import type { PageMessage } from '../../pages/view.js'
import { formatUser, isAccountAddress } from '../../protocol/contact.js'
import type { ShownMethod } from '../../protocol/factor.js'
import { KEY_METHODS } from '../../protocol/methods.js'
import type { Key } from '../../protocol/service.js'
import { requireCurrent, storeIfCurrent, storeRecord } from '../../session/store.js'
import { onlyGiven } from '../../shape.js'
import type { RouteDeps } from '../actions/context.js'
import { confirmFactor, isEnoughFactor, recordFactors, takeBackIfEnded } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import { completeVerification } from '../actions/verification.js'
import type { keyAddedAnswer, keyOptionsAnswer, keyRenamedAnswer, keysAnswer } from '../http/answers.js'
import { addKeyBody, keyOptionsBody, renameKeyBody } from '../http/bodies.js'
import { MAX_KEY_BODY_BYTES, readBody } from '../http/body.js'
import { rememberKeyOffer, rememberUsedFactor } from '../http/cookies.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import {
  changeApproved,
  conditionalKeyRefusal,
  confirmationRefusal,
  enrollmentRefusal,
  factorChangeRefusal,
} from './factor-change.js'
import {
  forgetEndedFactors,
  keyAccount,
  keyView,
  listedKey,
  revokesDevices,
  warnAboutKeys,
} from './key-page.js'
import { addKeyRemoval } from './remove-factor.js'
import { keptRefusal, requiredMessage, sendAnswer, sendRefusal, showPage, stop } from './respond.js'
import { action, addRoute } from './route.js'

const PAGE = '/keys'

/** How long ago a registration may have begun, so that the time in which the user creates the key does not count. */
const REGISTRATION_MS = 5 * 60_000

/** `/keys` lists the keys and adds one that `/keys/options` prepared; below: `rename`, `remove`, `offer`. */
export function addKeysRoutes(router: Router, deps: RouteDeps): void {
  if (!deps.keys.areOffered) return
  addRoute(router, deps, PAGE, { get: showKeys, post: add })
  addRoute(router, deps, '/keys/options', {
    post: action({ body: keyOptionsBody, run: prepare, respond: respondPrepared }),
  })
  addRoute(router, deps, '/keys/rename', {
    post: action({ body: renameKeyBody, run: rename, respond: respondRenamed }),
  })
  addKeyRemoval(router, deps)
  addRoute(router, deps, '/keys/offer', { get: showOffer })
  addRoute(router, deps, '/keys/offer/decline', { post: decline })
}

/** Lists the keys. A pending login that must set up a factor sees the page, without the keys that the account has (R135). */
async function showKeys(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, requirement, step, html } = context
  if (step !== 'none' && step !== 'enrollment') {
    return sendRefusal(context, refusalWithoutFactor(user) ?? { code: 'mfa_required' })
  }
  if (requirement.open && (!html || !isEnoughFactor(context, PAGE))) {
    return sendRefusal(context, { code: 'enrollment_required' })
  }
  const account = keyAccount(context)
  const listed = await deps.admission.admit(() => listKeys(deps, account))
  await requireCurrent(req, state.record)
  if (listed.outcome === 'refused') return sendRefusal(context, listed.refusal, { page: '' })
  const keys = requirement.open ? [] : listed.keys
  if (!html) return void res.json(answerOf({ ...listed, keys }))
  warnAboutKeys(context, listed.relyingPartyId)
  const { contact } = account
  const isAdded = req.query.added !== undefined || req.query.saved !== undefined
  const next = isAdded ? state.record.enrolled?.next : undefined
  showPage(
    context,
    {
      page: 'keys',
      keys: keys.map(keyView),
      methods: KEY_METHODS,
      relyingPartyId: listed.relyingPartyId,
      ...(listed.userHandle !== undefined && { userHandle: listed.userHandle }),
      userName: isAccountAddress(contact) ? deps.settings.appName : formatUser(contact),
      ...(next !== undefined && { next }),
      ...(step === 'enrollment' && user.minStrength && { strongerRequired: true }),
      revokesDevices: revokesDevices(context),
    },
    changeMessage(context) ?? requiredMessage(context) ?? keptRefusal(context),
  )
}

/** What the form before this page changed. */
function changeMessage({ req }: RouteContext): PageMessage | undefined {
  for (const change of ['added', 'saved', 'renamed', 'removed'] as const) {
    if (req.query[change] !== undefined) return { tone: 'success', code: `key_${change}` }
  }
  return undefined
}

function answerOf({ keys, relyingPartyId, userHandle }: ListedKeys): z.output<typeof keysAnswer> {
  return { keys: keys.map(listedKey), relyingPartyId, ...(userHandle !== undefined && { userHandle }) }
}

async function prepare(
  context: RouteContext,
  fields: z.output<typeof keyOptionsBody>,
): Promise<PreparedKey | Refused> {
  const { method: change, mediation } = fields
  const isOffered = change === 'passkey' && conditionalKeyRefusal(context) === undefined
  const refusal = mediation
    ? attemptRefusal(context)
    : await enrollmentRefusal(context, PAGE, async () =>
        isOffered ? undefined : factorChangeRefusal(context, PAGE, { change, uses: true }),
      )
  if (refusal) return refuse(refusal)
  const make = async (approvedBy?: ShownMethod): Promise<PreparedKey | Refused> => {
    const prepared = await prepareKey(context.deps, keyAccount(context), fields)
    if (prepared.outcome === 'refused') return prepared
    const allowedBy = isOffered ? { offered: true as const } : { approvedBy }
    return { ...prepared, registration: { ...prepared.registration, ...onlyGiven(allowedBy) } }
  }
  return isOffered || mediation ? make() : changeApproved(context, change, make)
}

/** Adds the one passkey that the sign-in offered, which the user does not approve. */
async function registerOffered(
  { deps: { approvals }, state: { userId, record } }: RouteContext,
  register: () => Promise<RegisteredKey | Refused>,
): Promise<RegisteredKey | Refused> {
  const offer = `key-offer:${record.startedAt}`
  if (!(await approvals.acquire(userId, offer))) return refuse({ code: 'enrollment_not_allowed' })
  const outcome = await register()
  if (outcome.outcome === 'refused') await approvals.release(userId, offer)
  return outcome
}

/** Why the browser may not be asked to create a passkey without a prompt, or `undefined` if it may: once for each offer. */
function attemptRefusal(context: RouteContext): Refusal | undefined {
  const wasTried = context.state.record.keyOffer?.tried
  return wasTried ? { code: 'enrollment_not_allowed' } : conditionalKeyRefusal(context)
}

async function respondPrepared(context: RouteContext, outcome: PreparedKey | Refused): Promise<void> {
  const { req, res, deps, state, html } = context
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: PAGE })
  // Only the script of the page can go on.
  if (html) return res.redirect(303, `${deps.settings.urls.path}${PAGE}`)
  const { rp } = outcome.options
  warnAboutKeys(context, typeof rp === 'object' && rp !== null ? Reflect.get(rp, 'id') : undefined)
  const { registration } = outcome
  const { keyOffer, ...record } = state.record
  const offered = keyOffer && {
    keyOffer: registration.mediation ? { ...keyOffer, tried: true as const } : keyOffer,
  }
  await storeRecord(req, { ...record, ...offered, keyRegistration: registration })
  res.json({ publicKey: outcome.options } satisfies z.output<typeof keyOptionsAnswer>)
}

async function add(context: RouteContext): Promise<void> {
  const { req, res, deps, state, html } = context
  const body = await readBody(req, res, addKeyBody, MAX_KEY_BODY_BYTES)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const { keyRegistration } = state.record
  const begunMs = keyRegistration ? Date.now() - keyRegistration.startedAt : 0
  const sinceMs = Math.min(Math.max(0, begunMs), REGISTRATION_MS)
  const account = keyAccount(context)
  const { offered, approvedBy } = keyRegistration ?? {}
  const registerNew = () => registerKey(deps, account, keyRegistration, body.fields)
  const register = offered ? () => registerOffered(context, registerNew) : registerNew
  if (keyRegistration?.mediation) return addUnprompted(context, sinceMs, register)
  // Checked again, since the account may have got a stronger factor in the meantime.
  const refusal = await enrollmentRefusal(context, PAGE, async () =>
    offered
      ? conditionalKeyRefusal(context, sinceMs)
      : confirmationRefusal(context, PAGE, approvedBy, sinceMs),
  )
  if (refusal) return sendRefusal(context, refusal)
  let added: Key | undefined
  const outcome = await confirmFactor(context, () =>
    completeVerification<RegisteredKey>(context, {
      check: register,
      approval: keyRegistration?.id ?? '',
      // The key is valid from now on, even if no session follows.
      async onApproved({ key }) {
        added = key
        return keyWasAdded(context, key)
      },
      enrolls: true,
      endsAs: () => 'log-in',
    }),
  )
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: PAGE })
  if (html) return res.redirect(303, `${deps.settings.urls.path}${PAGE}?added`)
  if (!added) return
  const addedKey = { status: 'added', key: listedKey(added) } satisfies z.output<typeof keyAddedAnswer>
  await sendAnswer(context, addedKey)
}

/** Adds a passkey that the browser created without a prompt. It proves nothing in this session. */
async function addUnprompted(
  context: RouteContext,
  sinceMs: number,
  register: () => Promise<RegisteredKey | Refused>,
): Promise<void> {
  const { req, res, deps, state, html } = context
  const refusal = conditionalKeyRefusal(context, sinceMs)
  if (refusal) return sendRefusal(context, refusal, { page: PAGE })
  const outcome = await confirmFactor(context, () => deps.admission.admit(register))
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: PAGE })
  await keyWasAdded(context, outcome.key)
  const { keyRegistration: _used, keyOffer, ...record } = state.record
  const isStored = await storeIfCurrent(req, {
    ...record,
    ...(keyOffer && { enrolled: { next: keyOffer.next } }),
  })
  if (!isStored) throw sessionEnded()
  if (html) return res.redirect(303, `${deps.settings.urls.path}${PAGE}?saved`)
  res.json({ status: 'added', key: listedKey(outcome.key) } satisfies z.output<typeof keyAddedAnswer>)
}

/** Has the next sign-in in this browser offer the new key first, closes a recovery, reports the key to the host, and notifies the user. */
async function keyWasAdded(context: RouteContext, key: Key): Promise<string | undefined> {
  const { req, res, deps, user, requirement } = context
  await takeBackIfEnded(context, (account) => removeEndedKeys(deps, account, ({ id }) => id === key.id))
  rememberUsedFactor(req, res, key.method, deps.settings)
  await keyAdded(deps, keyAccount(context), key)
  await forgetEndedFactors(context, key)
  const lastEnd = await deps.recoveries.enrolled(user.userId, requirement.open !== undefined)
  await recordFactors(context, { keys: true })
  await notify(context, { type: 'factor_added', method: key.method, keyName: key.name })
  return lastEnd
}

async function rename(
  context: RouteContext,
  fields: z.output<typeof renameKeyBody>,
): Promise<ChangedKey | Refused> {
  const refusal = await factorChangeRefusal(context, PAGE)
  return refusal ? refuse(refusal) : renameKey(context.deps, keyAccount(context), fields)
}

function respondRenamed(context: RouteContext, outcome: ChangedKey | Refused): Promise<void> | void {
  const { res, deps, html } = context
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, { page: PAGE })
  if (html) return res.redirect(303, `${deps.settings.urls.path}${PAGE}?renamed`)
  res.json({ status: 'renamed' } satisfies z.output<typeof keyRenamedAnswer>)
}

/** Offers a passkey once; how long it is not offered again in this browser, the option `keys.offerPasskey` says. */
function showOffer(context: RouteContext): void {
  const { req, res, deps, state, html } = context
  const { keyOffer, stage } = state.record
  const { login } = deps.settings
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (stage !== 'verified' || !keyOffer) return res.redirect(303, login.homePath)
  rememberKeyOffer(req, res, deps.settings, deps.keys.offerPasskeyMs ?? 0)
  const mayCreate = attemptRefusal(context) === undefined
  const { next } = keyOffer
  showPage(context, { page: 'key-offer', next, mayCreate, revokesDevices: revokesDevices(context) })
}

function decline({ res, deps, state, html }: RouteContext): void {
  const next = state.record.keyOffer?.next ?? deps.settings.login.homePath
  if (html) return res.redirect(303, next)
  sendProblem(res, { code: 'not_found' })
}
