import { type EnrollAppAnswer, formatUser } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { storePendingSecret } from '../accounts/app-secret.js'
import type { Application } from '../application.js'
import { qrImage } from '../authenticator-app/qr-image.js'
import { newAppSecret, otpauthUri } from '../authenticator-app/totp.js'
import { locked } from '../refusals.js'
import type { RequestUser } from '../requests/request-user.js'
import { accountReference } from '../secrets/account-reference.js'
import { simulatedRefusal } from '../test-mode/simulated-outcomes.js'
import type { FlowContext } from './context.js'

/** Creates a secret for an authenticator app. It proves nothing until its first valid code (R54). */
export async function enrollApp(
  context: FlowContext,
  application: Application,
  input: RequestUser,
): Promise<EnrollAppAnswer> {
  const simulated = simulatedRefusal(application, input.contact)
  if (simulated) return simulated
  const now = Date.now()
  const secret = newAppSecret()
  const lockSeconds = await context.store.transaction(async (tx) => {
    const account = await holdAccount(tx, application, input.account)
    const seconds = lockedForSeconds(account, now)
    if (seconds === 0) await storePendingSecret(context.keys, tx, application, input.account, secret, now)
    return seconds
  })
  if (lockSeconds > 0) return locked(lockSeconds)
  context.log({
    level: 'info',
    event: 'factor.prepared',
    application: application.id,
    account: accountReference(context.keys, application, input.account),
    factor: 'APP',
  })
  const uri = otpauthUri(secret, application.name, formatUser(input.contact))
  return { outcome: 'prepared', qr: `data:image/png;base64,${qrImage(uri)}`, uri, secret }
}
