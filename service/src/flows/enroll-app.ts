import { type EnrollAppAnswer, formatUser } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { keepPending } from '../accounts/app-secret.js'
import { qrImage } from '../authenticator-app/qr-image.js'
import { newAppSecret, otpauthUri } from '../authenticator-app/totp.js'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import { accountReference } from '../log/logger.js'
import { stagedRefusal } from '../test-mode/answers.js'
import type { Person } from '../requests/request-user.js'
import { locked } from '../refusals.js'

/** Prepares an authenticator app. The secret proves nothing until its first right code (R54). */
export async function enrollApp(
  core: Core,
  application: Application,
  input: Person,
): Promise<EnrollAppAnswer> {
  const staged = stagedRefusal(application, input.contact)
  if (staged) return staged
  const now = Date.now()
  const secret = newAppSecret()
  const lockSeconds = await core.store.transaction(async (tx) => {
    const account = await holdAccount(tx, application, input.account)
    const seconds = lockedForSeconds(account, now)
    if (seconds === 0) await keepPending(core, tx, application, input.account, secret)
    return seconds
  })
  if (lockSeconds > 0) return locked(lockSeconds)
  core.log({
    level: 'info',
    event: 'factor.prepared',
    application: application.id,
    account: accountReference(core.keys, application, input.account),
    factor: 'APP',
  })
  const uri = otpauthUri(secret, application.name, formatUser(input.contact))
  return { outcome: 'prepared', qr: `data:image/png;base64,${qrImage(uri)}`, uri, secret }
}
