import { requestContext } from '../actions/context.js'
import { gateOf, type RouteDeps } from '../actions/deps.js'
import { factorChange, isFresh } from '../flows/freshness.js'
import { existingFactors } from '../flows/user.js'
import { requestState } from '../session/request-state.js'
import { type AnyRouteHandler, forAnyRoute } from './any-route-handler.js'
import { pass, requireFactor, requireSignIn } from './require-mfa.js'
import { readStrongestRule, type StrongestRule } from './rule.js'
import { withState } from './with-state.js'

/**
 * The guard for changes of factors, contacts and credentials that the host makes itself. It requires what our own changes of
 * factors require, and refuses as `requireMfa` does.
 * @throws {OptionsError} when the app starts, if the rule is invalid (R18).
 */
export function strongestGuard(given: StrongestRule, own: RouteDeps): AnyRouteHandler {
  const rule = readStrongestRule(given)

  return forAnyRoute(function strongestRequired(req, res, next) {
    const shared = requestState<RouteDeps>(req)
    const deps = gateOf({ req, shared }, own)
    const at = { req, deps, shared }
    withState(at, next, async (state) => {
      if (state.stage === 'none') return requireSignIn(req, res, deps)
      const { user } = await requestContext(at, state)
      const required = { ...rule, ...factorChange(deps.settings, user, rule.maxAgeMs) }
      const hasNone = existingFactors(user).length === 0 && state.stage !== 'pending'
      if (!hasNone && !isFresh(state.record, required)) return requireFactor(at, res, state, required)
      shared.strongestShown = true
      return pass(req, next, deps, state)
    })
  })
}
