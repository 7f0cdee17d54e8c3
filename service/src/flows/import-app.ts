import { ServiceError } from 'countersign/protocol'
import { holdAccount } from '../accounts/account.js'
import { keepConfirmed } from '../accounts/app-secret.js'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import { accountReference } from '../log/logger.js'
import type { Person } from '../requests/request-user.js'

// 26 base32 characters are the 128 bits that RFC 4226 §4 asks for at least.
const BASE32 = /^[A-Z2-7]{26,128}$/

/**
 * Binds an authenticator app whose secret the person already has, from another system or for a demonstration.
 * `kept`: the account has an app, and it was left as it is.
 */
export async function importApp(
  core: Core,
  application: Application,
  input: Person,
  secret: string,
): Promise<'bound' | 'kept'> {
  if (!BASE32.test(secret)) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_REQUEST',
      'The secret must be base32 without padding, 128 bits or more.',
    )
  }
  const bound = await core.store.transaction(async (tx) => {
    await holdAccount(tx, application, input.account)
    return keepConfirmed(core, tx, application, input.account, secret, Date.now())
  })
  if (!bound) return 'kept'
  const account = accountReference(core.keys, application, input.account)
  core.log({ level: 'info', event: 'factor.imported', application: application.id, account, factor: 'APP' })
  return 'bound'
}
