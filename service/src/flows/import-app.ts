import { ServiceError } from 'countersign/protocol'
import { holdAccount } from '../accounts/account.js'
import { APP_FACTOR, storeConfirmedSecret } from '../accounts/app-secret.js'
import type { Application } from '../application.js'
import { writeEvent } from '../events/write-events.js'
import type { RequestUser } from '../requests/request-user.js'
import { accountReference } from '../secrets/account-reference.js'
import type { FlowContext } from './context.js'

// 26 base32 characters hold the 128 bits that RFC 4226 §4 requires.
const BASE32 = /^[A-Z2-7]{26,128}$/

/**
 * Binds an authenticator app whose secret comes from another system or from a demonstration. `kept`: the account
 * already has an app, which is left unchanged.
 */
export async function importApp(
  context: FlowContext,
  application: Application,
  input: RequestUser,
  secret: string,
): Promise<'bound' | 'kept'> {
  if (!BASE32.test(secret)) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_REQUEST',
      'The secret must be base32 without padding and have at least 128 bits.',
    )
  }
  const { keys, store } = context
  const bound = await store.transaction(async (tx) => {
    await holdAccount(tx, application, input.account)
    const now = Date.now()
    const isNew = await storeConfirmedSecret(keys, tx, application, input.account, secret, now)
    const data = { factor: APP_FACTOR, by: 'operator' }
    const event = { application: application.id, account: input.account, type: 'factor.added', data } as const
    if (isNew) await writeEvent(tx, event, now)
    return isNew
  })
  if (!bound) return 'kept'
  const account = accountReference(keys, application, input.account)
  context.log({
    level: 'info',
    event: 'factor.imported',
    application: application.id,
    account,
    factor: 'APP',
  })
  return 'bound'
}
