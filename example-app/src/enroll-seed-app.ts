import type { CompleteMfaService, Contact } from 'countersign/protocol'
import { appCode } from './app-code.js'

/** The functions of an external service that enrolling an app needs. */
export type ExternalService = Pick<CompleteMfaService, 'enrollApp' | 'verify'>

/** The user of the app, as the service identifies users. */
interface Owner {
  readonly contact: Contact
  readonly account: string
}

/**
 * Enrolls an authenticator app for a seed user with an external service, which creates the secret itself. If the service does
 * not return the secret, the documented one is tried: the service may know it from an earlier start. Returns the secret of
 * the app, or `undefined` if neither works.
 */
export async function enrollSeedApp(
  service: ExternalService,
  owner: Owner,
  documented: string,
): Promise<string | undefined> {
  const works = async (secret: string, kind: 'confirm' | 'code') => {
    // The previous code, so that the current one can still be used to sign in.
    const code = appCode(secret, Date.now() - STEP_MS)
    return (await service.verify({ ...owner, method: 'app', kind, code })).outcome === 'valid'
  }
  const prepared = await service.enrollApp(owner)
  if (prepared.outcome === 'prepared' && prepared.secret !== undefined) {
    return (await works(prepared.secret, 'confirm')) ? prepared.secret : undefined
  }
  return (await works(documented, 'code')) ? documented : undefined
}

const STEP_MS = 30_000
