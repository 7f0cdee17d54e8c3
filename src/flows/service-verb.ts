import { OptionsError } from '../errors.js'
import type { CompleteMfaService, MfaService } from '../protocol/service.js'

/** The verbs that only some routes call. A host's own service may lack those whose routes it does not mount. */
type OptionalVerb = 'enrollApp' | 'sendBackupCodes'

const CALLED_BY: Readonly<Record<OptionalVerb, string>> = {
  enrollApp: 'the routes for authenticator apps (mfa.enrollAppRouter)',
  sendBackupCodes: 'the routes for backup codes (mfa.backupRouter)',
}

/**
 * A verb that some routes call.
 * @throws {OptionsError} if the host's own service lacks it.
 */
export function serviceVerb<Verb extends OptionalVerb>(
  service: MfaService,
  verb: Verb,
): CompleteMfaService[Verb] {
  const call = service[verb] as CompleteMfaService[Verb] | undefined
  if (call) return call
  throw new OptionsError([
    `service must have the function ${verb}, which ${CALLED_BY[verb]} call: implement it, or mount only the routers whose verbs the service has, instead of mfa.router`,
  ])
}
