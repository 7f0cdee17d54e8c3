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
import { readObject } from '../../json.js'
import type { PageMessage } from '../../pages/view.js'
import { formatUser, isAccountAddress } from '../../protocol/contact.js'
import type { ShownMethod } from '../../protocol/factor.js'
import { KEY_METHODS } from '../../protocol/methods.js'
import type { Key } from '../../protocol/service.js'
import { type BodyOf, getRoutePath } from '../../routes/routes.js'
import { storeIfCurrent, storeRecord } from '../../session/store.js'
import { pickGiven } from '../../shape.js'
import type { RouteDeps } from '../actions/context.js'
import { confirmFactor, isEnoughFactor, recordFactors, takeBackIfEnded } from '../actions/enrollment.js'
import { notify } from '../actions/notify.js'
import { completeVerification } from '../actions/verification.js'
import { rememberKeyOffer, rememberUsedFactor } from '../http/cookies.js'
import type { RouteContext } from './context.js'
import {
  changeApproved,
  conditionalKeyRefusal,
  confirmationRefusal,
  enrollmentRefusal,
  factorChangeRefusal,
} from './factor-change.js'
import {
  describeKey,
  forgetEndedFactors,
  keyAccount,
  keyView,
  revokesDevices,
  warnAboutKeys,
} from './key-page.js'
import { action, answerOutcome, pageOnly } from './outcome.js'
import { createRequiredMessage, takeKeptRefusal } from './refused.js'
import { keyRemoval, showKeyRemoval } from './remove-factor.js'
import type { RouteHandlers } from './route.js'
import { showPage } from './show-page.js'

const PAGE = getRoutePath('keys')

const createPageAddress = ({ deps }: RouteContext, query: string) =>
  `${deps.settings.urls.path}${PAGE}?${query}`

/** How long ago a registration may have begun, so that the time in which the user creates the key does not count. */
const REGISTRATION_MS = 5 * 60_000

/** Lists keys, and adds, renames and removes them. No routes without keys. */
export function keysRoutes({ keys }: RouteDeps): RouteHandlers<'enrollKeyRouter'> | undefined {
  if (!keys.areOffered) return undefined
  return {
    keys: action('keys', {
      run: list,
      json: (_context, { keys, relyingPartyId, userHandle }) => ({
        keys: keys.map(describeKey),
        relyingPartyId,
        ...(userHandle !== undefined && { userHandle }),
      }),
      page: keysPage,
      refuse: { page: '' },
    }),
    addKey: answerOutcome('addKey', {
      run: add,
      json: (_context, { key }) => ({ status: 'added', key: describeKey(key) }),
      page: (context, { isUnprompted }) => createPageAddress(context, isUnprompted ? 'saved' : 'added'),
      refuse: { page: PAGE },
    }),
    keyOptions: action('keyOptions', {
      run: prepare,
      store: storePrepared,
      json: (_context, { options }) => ({ publicKey: options }),
      // Only the script of the page can go on.
      page: ({ deps }) => `${deps.settings.urls.path}${PAGE}`,
      refuse: { page: PAGE },
    }),
    renameKey: action('renameKey', {
      run: rename,
      json: () => ({ status: 'renamed' }),
      page: (context) => createPageAddress(context, 'renamed'),
      refuse: { page: PAGE },
    }),
    removeKeyPage: showKeyRemoval,
    removeKey: keyRemoval,
    keyOfferPage: pageOnly(showOffer),
    declineKeyOffer: pageOnly(decline),
  }
}

/** Lists the keys. A pending login that must set up a factor sees the page, without the keys that the account has (R135). */
async function list(context: RouteContext): Promise<ListedKeys | Refused> {
  const { deps, user, requirement, step, html } = context
  if (step !== 'none' && step !== 'enrollment') {
    return refuse(refusalWithoutFactor(user) ?? { code: 'mfa_required' })
  }
  if (requirement.open && (!html || !isEnoughFactor(context, PAGE))) {
    return refuse({ code: 'enrollment_required' })
  }
  const listed = await listKeys(deps, keyAccount(context))
  return listed.outcome === 'listed' && requirement.open ? { ...listed, keys: [] } : listed
}

function keysPage(context: RouteContext, { keys, relyingPartyId, userHandle }: ListedKeys) {
  const { req, deps, state, user, step } = context
  warnAboutKeys(context, relyingPartyId)
  const { contact } = keyAccount(context)
  const isAdded = req.query.added !== undefined || req.query.saved !== undefined
  const next = isAdded ? state.record.enrolled?.next : undefined
  const view = {
    page: 'keys',
    keys: keys.map(keyView),
    methods: KEY_METHODS,
    relyingPartyId,
    ...(userHandle !== undefined && { userHandle }),
    userName: isAccountAddress(contact) ? deps.settings.appName : formatUser(contact),
    ...(next !== undefined && { next }),
    ...(step === 'enrollment' && user.minStrength && { strongerRequired: true }),
    revokesDevices: revokesDevices(context),
  } as const
  return {
    view,
    message: changeMessage(context) ?? createRequiredMessage(context) ?? takeKeptRefusal(context),
  }
}

/** The change that the form before this page made. */
function changeMessage({ req }: RouteContext): PageMessage | undefined {
  for (const change of ['added', 'saved', 'renamed', 'removed'] as const) {
    if (req.query[change] !== undefined) return { tone: 'success', code: `key_${change}` }
  }
  return undefined
}

async function prepare(context: RouteContext, fields: BodyOf<'keyOptions'>): Promise<PreparedKey | Refused> {
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
    return { ...prepared, registration: { ...prepared.registration, ...pickGiven(allowedBy) } }
  }
  return isOffered || mediation ? make() : changeApproved(context, change, make)
}

/** Adds the one passkey that the sign-in offered, which the user does not approve. */
async function registerOffered(
  { deps: { transactions }, state: { userId, record } }: RouteContext,
  register: () => Promise<RegisteredKey | Refused>,
): Promise<RegisteredKey | Refused> {
  const offer = `key-offer:${record.startedAt}`
  if (!(await transactions.acquire(userId, offer))) return refuse({ code: 'enrollment_not_allowed' })
  const outcome = await register()
  if (outcome.outcome === 'refused') await transactions.release(userId, offer)
  return outcome
}

/** Why the browser may not be asked to create a passkey without a prompt, or `undefined` if it may: once for each offer. */
function attemptRefusal(context: RouteContext): Refusal | undefined {
  const wasTried = context.state.record.keyOffer?.tried
  return wasTried ? { code: 'enrollment_not_allowed' } : conditionalKeyRefusal(context)
}

async function storePrepared(context: RouteContext, { options, registration }: PreparedKey): Promise<void> {
  const { req, state, html } = context
  if (html) return
  warnAboutKeys(context, readObject(options.rp).id)
  const { keyOffer, ...record } = state.record
  const offered = keyOffer && {
    keyOffer: registration.mediation ? { ...keyOffer, tried: true as const } : keyOffer,
  }
  await storeRecord(req, { ...record, ...offered, keyRegistration: registration })
}

/** A key that was added; `isUnprompted` if the browser created it by itself. */
interface AddedKey {
  readonly key: Key
  readonly isUnprompted: boolean
}

async function add(context: RouteContext, fields: BodyOf<'addKey'>): Promise<AddedKey | Refused> {
  const { deps, state } = context
  const { keyRegistration } = state.record
  const begunMs = keyRegistration ? Date.now() - keyRegistration.startedAt : 0
  const sinceMs = Math.min(Math.max(0, begunMs), REGISTRATION_MS)
  const account = keyAccount(context)
  const offered = keyRegistration?.offered
  const registerNew = () => registerKey(deps, account, keyRegistration, fields)
  const register = offered ? () => registerOffered(context, registerNew) : registerNew
  if (keyRegistration?.mediation) return addUnprompted(context, sinceMs, register)
  // Checked again, since the account may have got a stronger factor in the meantime.
  const refusal = await enrollmentRefusal(context, PAGE, async () =>
    offered
      ? conditionalKeyRefusal(context, sinceMs)
      : confirmationRefusal(context, PAGE, keyRegistration, sinceMs),
  )
  if (refusal) return refuse(refusal)
  let added: Key | undefined
  const outcome = await confirmFactor(context, () =>
    completeVerification<RegisteredKey>(context, {
      check: register,
      transaction: keyRegistration?.id ?? '',
      // The key is valid from now on, even if no session follows.
      async onAccepted({ key }) {
        added = key
        return keyWasAdded(context, key)
      },
      enrolls: true,
      endsAs: () => 'log-in',
    }),
  )
  if (outcome.outcome === 'refused') return outcome
  if (!added) throw sessionEnded()
  return { key: added, isUnprompted: false }
}

/** Adds a passkey that the browser created without a prompt. It proves nothing in this session. */
async function addUnprompted(
  context: RouteContext,
  sinceMs: number,
  register: () => Promise<RegisteredKey | Refused>,
): Promise<AddedKey | Refused> {
  const { req, deps, state } = context
  const refusal = conditionalKeyRefusal(context, sinceMs)
  if (refusal) return refuse(refusal)
  const outcome = await confirmFactor(context, () => deps.admission.admit(register))
  if (outcome.outcome === 'refused') return outcome
  await keyWasAdded(context, outcome.key)
  const { keyRegistration: _used, keyOffer, ...record } = state.record
  const isStored = await storeIfCurrent(req, {
    ...record,
    ...(keyOffer && { enrolled: { next: keyOffer.next } }),
  })
  if (!isStored) throw sessionEnded()
  return { key: outcome.key, isUnprompted: true }
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

async function rename(context: RouteContext, fields: BodyOf<'renameKey'>): Promise<ChangedKey | Refused> {
  const refusal = await factorChangeRefusal(context, PAGE, { acceptsSetup: true })
  return refusal ? refuse(refusal) : renameKey(context.deps, keyAccount(context), fields)
}

/** Offers a passkey once; how long it is not offered again in this browser, the option `keys.offerPasskey` says. */
function showOffer(context: RouteContext): void {
  const { req, res, deps, state } = context
  const { keyOffer, stage } = state.record
  const { login } = deps.settings
  if (stage !== 'verified' || !keyOffer) return res.redirect(303, login.homePath)
  rememberKeyOffer(req, res, deps.settings, deps.keys.offerPasskeyMs ?? 0)
  const mayCreate = attemptRefusal(context) === undefined
  const { next } = keyOffer
  showPage(context, { page: 'key-offer', next, mayCreate, revokesDevices: revokesDevices(context) })
}

function decline({ res, deps, state }: RouteContext): void {
  res.redirect(303, state.record.keyOffer?.next ?? deps.settings.login.homePath)
}
