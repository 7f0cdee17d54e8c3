import type { Contact, MfaService } from 'countersign/protocol'
import { appCode } from './app-code.js'

/** A service outside, as far as it is asked to bind an app. */
export type OutsideService = Pick<MfaService, 'enrollApp' | 'verify'>

/** Whose app it is, as the service knows them. */
interface Owner {
  readonly contact: Contact
  readonly account: string
}

/**
 * Binds an authenticator app with a service that takes no secret from anybody: sets one up as a person does, with the
 * secret that the service makes. Where it does not tell that secret, it may know the documented one already.
 * Returns the secret in the app; nothing when there is none that works.
 */
export async function bindOutside(
  service: OutsideService,
  owner: Owner,
  documented: string,
): Promise<string | undefined> {
  const works = async (secret: string, kind: 'confirm' | 'code') => {
    // The code before the present one, so that the present one is left for signing in.
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
