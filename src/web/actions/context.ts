import type { Request } from 'express'
import { HostError, type HostErrorCode, OptionsError } from '../../errors.js'
import type { Deps } from '../../flows/deps.js'
import { type LoginStep, loginStep } from '../../flows/login-step.js'
import type { EventMetrics } from '../../flows/metrics.js'
import type { PendingRecoveries } from '../../flows/recovery.js'
import { isOver, type MfaUser, openApproval } from '../../flows/user.js'
import type { Settings } from '../../options/settings.js'
import type { RenderView } from '../../pages/view.js'
import { languageTag, pickLocale } from '../../protocol/language.js'
import { type MfaRecord, removeActivity } from '../../session/record.js'
import { requestState } from '../../session/request-state.js'
import type {
  ActiveState,
  KnownAccount,
  LoginRequirement,
  RequestState,
  SessionDeps,
  SessionRequest,
} from '../../session/state.js'
import { isGated } from '../../session/ungated-logins.js'
import { findAccount, findAppContact } from '../../session/user-factors.js'
import type { AccountLimits } from '../../stores/limits/attempts.js'
import type { Generations } from '../../stores/trust/generations.js'
import type { KnownBrowsers } from '../../stores/trust/known-browsers.js'
import type { NotMeLinks } from '../../stores/trust/not-me-links.js'
import type { Resets } from '../../stores/trust/resets.js'
import type { TokenLogins } from '../../stores/trust/token-logins.js'
import type { Diagnostics } from '../diagnostics/diagnostics.js'
import type { Admission } from '../http/admission.js'
import { signInOf } from '../http/browser.js'
import { approvalLocales, getClientAddress, listLocales } from '../http/request.js'
import type { DeviceTrust } from './trusted-devices.js'

/** The user of a request. Its languages are negotiated once, when they are first needed. */
interface AskedUser extends MfaUser {
  disabled: MfaUser['disabled']
  /** The languages that the request prefers, best first. */
  readonly locales: readonly string[]
}

/** A request where it enters this package: at the gate, a route, a guard or the strategy. */
export type EnteredRequest = SessionRequest<RouteDeps>

/** A request of a user who showed the first factor, with everything that a route, the gate or the strategy needs. */
export interface RequestContext extends EnteredRequest {
  readonly state: ActiveState
  /** The user as the flows see it; the host's own user object is `state.user`. */
  readonly user: AskedUser
  /** The step that this session must take first because factors of its account ended, or none is strong enough. */
  readonly requirement: LoginRequirement
  /** The next step of the login. */
  readonly step: LoginStep
}

/** The context of a request. Asks the host for the user's factors, unless this request already did. */
export async function requestContext(at: EnteredRequest, found: ActiveState): Promise<RequestContext> {
  const { req, deps, shared } = at
  const account = await findAccount(found, deps)
  const record = removeEndedApproval(found.record)
  const state = record === found.record ? found : { ...found, record }
  const { requirement } = account
  const user = requestUser(at, state, account)
  const step = loginStep(state.stage, requirement, user)
  return { req, deps, shared, state, requirement, step, user }
}

/** The record without a request whose time is over, and without the challenge and the choice of factors that were for it. */
function removeEndedApproval(record: MfaRecord): MfaRecord {
  const { approval } = record
  if (!approval || approval.granted || !isOver(approval)) return record
  return removeActivity(record, 'approval', 'stepUp', 'challenge')
}

/** The languages and the address of a request, read only where they are needed. Languages are negotiated once. */
class RequestOrigin {
  private readonly req: Request
  private readonly settings: Settings
  private negotiated: readonly string[] | undefined
  private picked: string | undefined

  /** With `approver`, a user who is asked to approve something, the request has no say in the language. */
  constructor(req: Request, settings: Settings, approver: Express.User | undefined) {
    this.req = req
    this.settings = settings
    this.negotiated = approver && approvalLocales(approver, settings)
  }

  get locales(): readonly string[] {
    this.negotiated ??= listLocales(this.req, this.settings)
    return this.negotiated
  }

  get locale(): string {
    this.picked ??= languageTag(pickLocale(this.locales, this.settings.languages.texts))
    return this.picked
  }

  get clientAddress(): string | undefined {
    return getClientAddress(this.req)
  }

  get signIn(): MfaUser['signIn'] {
    return signInOf(this.req, this.settings)
  }
}

function requestUser(
  { req, deps: { settings, attempts } }: EnteredRequest,
  { user, userId, record }: ActiveState,
  { factors, withheld, existing, minStrength, requirement }: KnownAccount,
): AskedUser {
  const { transaction, enrollment } = record
  let limits: Promise<AccountLimits> | undefined
  return Object.assign(new RequestOrigin(req, settings, openApproval(record) && user), {
    userId,
    factors,
    withheld,
    existing,
    minStrength,
    acceptsLess: requirement.open !== undefined || requirement.requires === 'recovery',
    resetContact: requirement.open ? findAppContact(settings, user, userId, existing) : undefined,
    disabled: undefined,
    limits() {
      // Attempts are counted for the login, and for the enrollment of an app.
      limits ??= attempts.findLimits(userId, enrollment ? [transaction, enrollment.id] : [transaction])
      return limits
    },
  })
}

/** The parts that the routes, the gate and the strategy work with, built once from the options. */
export interface RouteDeps extends Deps, SessionDeps {
  readonly render: RenderView
  /** Bounds the requests that wait at once. */
  readonly admission: Admission
  readonly diagnostics: Diagnostics
  readonly metrics: EventMetrics
  readonly trustedDevices: DeviceTrust
  readonly notMeLinks: NotMeLinks
  /** Notices of sign-ins in new browsers. */
  readonly newBrowsers: SessionDeps['newBrowsers'] & Pick<KnownBrowsers, 'forgetSince'>
  readonly recoveries: PendingRecoveries
  readonly resets: Pick<Resets, 'find' | 'redeem'>
  /** Present with the option `tokens`. */
  readonly tokens: TokenDeps | undefined
}

/** The parts that logins without a session work with. */
export interface TokenDeps {
  readonly settings: Settings
  readonly options: NonNullable<Settings['tokens']>
  readonly logins: TokenLogins
  readonly generations: Generations
}

/** A request with the gates that it passed. */
type GatedRequest = Pick<EnteredRequest, 'req' | 'shared'>

/** The parts that the gate of these options works with for this request, if it passed that gate. */
export function ownGate({ gates }: RequestState<RouteDeps>, own: RouteDeps): RouteDeps | undefined {
  // A gate in a mounted app works with a copy. The counters of wrong codes are there once for each options object.
  if (gates?.last.attempts === own.attempts) return gates.last
  return gates?.others.find(({ attempts }) => attempts === own.attempts)
}

/** A request behind its gate. `own`: the options of the gate. @throws {HostError} without a gate. */
export function enterRequest(req: Request, own?: RouteDeps): EnteredRequest {
  const shared = requestState<RouteDeps>(req)
  return { req, deps: findGate({ req, shared }, own), shared }
}

/** The parts that the last gate of this request works with (with `own`: of the same options). @throws {HostError} without. */
export function findGate({ req, shared }: GatedRequest, own?: RouteDeps): RouteDeps {
  const gate = own ? ownGate(shared, own) : shared.gates?.last
  if (gate) return gate
  if (shared.gates) throw twoOptionsError(own)
  throw isGated(req) ? misuse(own, 'ERR_MFA_TWO_COPIES', TWO_COPIES) : createNoGateError(own)
}

const TWO_COPIES =
  'The gate before this route belongs to another copy of countersign, which keeps its own state, or something replaced `req.mfa`. `npm ls countersign` shows where the copies are: keep one (npm dedupe), and leave the package out of bundles.'

/** No gate ran for a request. The error is in the log once for each options object. */
export function createNoGateError(own: RouteDeps | undefined): HostError {
  return misuse(
    own,
    'ERR_MFA_NO_GATE',
    'No gate ran for this request, so the first factor alone would be enough. Add app.use(mfa.router) without a path, or app.use(mfa.session), after passport.session() and before the login routes and all others.',
  )
}

/** A route and the gate before it were built from two options objects. */
export function twoOptionsError(own: RouteDeps | undefined): HostError {
  return misuse(
    own,
    'ERR_MFA_TWO_OPTIONS',
    'This route was built from another options object than the gate before it, so each would count wrong codes for itself. Call createMfa(options) once, and take every part from what it returned.',
  )
}

/** An error in how the app mounts a part. It is in the log once for each code and options object. */
export function misuse(own: RouteDeps | undefined, code: HostErrorCode, message: string): HostError {
  const error = new HostError(code, message)
  own?.diagnostics.report(error)
  return error
}

/** Checks that Express calls a handler, and not a reader who took it for a factory. @throws {OptionsError} */
export function checkMounted(name: string, how: string, next: unknown): void {
  if (typeof next === 'function') return
  throw new OptionsError([`${name} was called by hand: mount it without calling it, ${how}`])
}
