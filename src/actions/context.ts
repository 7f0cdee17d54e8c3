import type { Request } from 'express'
import { LimitsStoreError } from '../errors.js'
import { bindingsOf } from '../flows/factor-binding.js'
import { type LoginStep, loginStep } from '../flows/login-step.js'
import { existingFactors, type MfaUser } from '../flows/user.js'
import { localesOf } from '../http/locale.js'
import { clientAddressOf } from '../http/request.js'
import { languageTag, pickLocale } from '../pages/text.js'
import type { Contact } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { appContactOf } from '../session/app-contact.js'
import type { RequestState } from '../session/request-state.js'
import type { ActiveState, KnownAccount, ResetState } from '../session/state.js'
import { accountOf } from '../session/user-factors.js'
import type { Settings } from '../settings.js'
import type { RouteDeps } from './deps.js'

/** The user of a request. Its languages are negotiated once, when they are first needed. */
export interface AskedUser extends MfaUser {
  disabled: MfaUser['disabled']
  /** The languages that the request prefers, best first. */
  readonly locales: readonly string[]
}

/** A request where it enters this package: at the gate, a route, a guard or the strategy. */
export type EnteredRequest = Pick<RequestContext, 'req' | 'deps' | 'shared'>

/** A request of a user who showed the first factor, with everything that a route, the gate or the strategy needs. */
export interface RequestContext {
  readonly req: Request
  readonly deps: RouteDeps
  /** What this package keeps for the request. */
  readonly shared: RequestState<RouteDeps>
  readonly state: ActiveState
  /** The user as the flows see it; the host's own user object is `state.user`. */
  readonly user: AskedUser
  /** What this session must do first because factors of its account ended. */
  readonly reset: ResetState
  /** What the login has to do next. */
  readonly step: LoginStep
}

/** The context of a request. Asks the host for the user's factors, unless this request already did. */
export async function requestContext(
  { req, deps, shared }: EnteredRequest,
  state: ActiveState,
): Promise<RequestContext> {
  const account = await accountOf(state, deps)
  const { reset } = account
  const user = new RequestUser(req, deps.settings, state, account)
  return {
    req,
    deps,
    shared,
    state,
    reset,
    step: loginStep(state.stage, reset, user),
    user,
  }
}

/**
 * Reads which factors of the user are disabled, so that they are not offered. If the store fails, all are offered: a code
 * for a disabled factor is refused in any case.
 */
export async function readDisabledFactors({ deps, user }: RequestContext): Promise<void> {
  const bindings = bindingsOf(user)
  if (bindings.size === 0 || user.disabled) return
  try {
    const { disabled } = await deps.attempts.limitsOf(user.userId, [...bindings.values()])
    user.disabled = new Set([...bindings].flatMap(([id, binding]) => (disabled.has(binding) ? [id] : [])))
  } catch (error) {
    if (!(error instanceof LimitsStoreError)) throw error
    deps.settings.logger.error(`countersign: ${error.message}`, error.cause ?? '')
  }
}

/** Computes language and client address only for a request that calls the service. */
class RequestUser implements AskedUser {
  readonly userId: string
  readonly factors: readonly Factor[]
  readonly withheld: readonly Factor[]
  readonly resetContact: Contact | undefined
  disabled: ReadonlySet<string> | undefined
  private readonly req: Request
  private readonly settings: Settings
  private negotiated: readonly string[] | undefined
  private picked: string | undefined

  constructor(
    req: Request,
    settings: Settings,
    state: ActiveState,
    { factors, withheld, reset }: KnownAccount,
  ) {
    const { user, userId } = state
    this.req = req
    this.settings = settings
    this.userId = userId
    this.factors = factors
    this.withheld = withheld
    this.resetContact = reset.open
      ? appContactOf(settings, user, userId, existingFactors({ factors, withheld }))
      : undefined
  }

  get locales(): readonly string[] {
    this.negotiated ??= localesOf(this.req, this.settings)
    return this.negotiated
  }

  get locale(): string {
    this.picked ??= languageTag(pickLocale(this.locales, this.settings.languages.texts))
    return this.picked
  }

  get clientAddress(): string | undefined {
    return clientAddressOf(this.req)
  }
}
