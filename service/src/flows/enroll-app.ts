import { formatUser, ServiceError } from 'countersign/protocol'
import { countLockedSeconds, holdAccount } from '../accounts/account.js'
import { APP_FACTOR, type ConfirmedSecret, storePendingSecret } from '../accounts/app-secret.js'
import type { Application } from '../accounts/application.js'
import { refuseMethod } from '../accounts/applications/offered-methods.js'
import { qrImage } from '../accounts/authenticator-app/qr-image.js'
import { newAppSecret, otpauthUri } from '../accounts/authenticator-app/totp.js'
import { importFactors } from '../accounts/import-factors.js'
import { appSecretIdentity, seal } from '../store/secrets/seal.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import { type Encoding, REFUSALS } from './import/import-row.js'
import { readSecret, type SecretDefaults } from './import/read-secret.js'
import type { RequestUser } from './inputs.js'
import { refuseLocked } from './refusals.js'
import { simulateRefusal } from './test-mode/simulated-carrier.js'

/** Creates a secret for an authenticator app. It proves nothing until its first valid code (R54). */
export const enrollApp: Flow<'enrollApp'> = async (context, application, input) => {
  const refusal = refuseMethod(application, 'app') ?? simulateRefusal(application, input.contact)
  if (refusal) return refusal
  const now = Date.now()
  const secret = newAppSecret()
  const lockSeconds = await context.store.transaction(async (tx) => {
    const account = await holdAccount(context.keys, tx, application, input.account)
    const seconds = countLockedSeconds(account, now)
    if (seconds === 0) await storePendingSecret(context.keys, tx, application, input.account, secret, now)
    return seconds
  })
  if (lockSeconds > 0) return refuseLocked(lockSeconds)
  const fields = factorFields(context, application, input, APP_FACTOR)
  context.log({ level: 'info', event: 'factor.prepared', ...fields })
  const uri = otpauthUri(secret, application.name, formatUser(input.contact))
  return { outcome: 'prepared', qr: `data:image/png;base64,${qrImage(uri)}`, uri, secret }
}

/** An authenticator secret of another system. */
export interface ForeignSecret extends Pick<SecretDefaults, 'algorithm' | 'digits' | 'period'> {
  /** In base32, with or without padding, in either case, with or without spaces; or an `otpauth://` URI. */
  readonly secret: string
  /** How the secret is written. Defaults to `base32`. */
  readonly encoding?: Encoding | undefined
  /** Accepts secrets of 80 to 127 bits too. Defaults to `false`. */
  readonly allowWeak?: boolean | undefined
}

/** Binds an authenticator app whose secret comes from elsewhere. `kept`: the account already has an app, which is left unchanged. */
export async function importApp(
  context: FlowContext,
  application: Application,
  input: RequestUser,
  foreign: ForeignSecret,
): Promise<'bound' | 'kept'> {
  const { text, ...strength } = checkForeign(foreign)
  const { keys, store } = context
  const { account } = input
  const sealed = seal(keys, appSecretIdentity(application.id, account), text)
  const bound = await store.transaction(async (tx) => {
    await holdAccount(keys, tx, application, account)
    const app = { account, sealed, ...strength, salt: null, macs: [] }
    return importFactors(tx, application, [app], Date.now())
  })
  if (bound === 0) return 'kept'
  const fields = factorFields(context, application, input, APP_FACTOR)
  context.log({ level: 'info', event: 'factor.imported', ...fields })
  return 'bound'
}

function checkForeign({ encoding = 'base32', ...foreign }: ForeignSecret): ConfirmedSecret {
  const secret = readSecret(foreign, { encoding }, foreign.allowWeak === true)
  if (typeof secret !== 'string') return secret
  const why =
    secret === 'weak'
      ? 'The secret has fewer than 128 bits. To import it nevertheless, set allowWeak.'
      : REFUSALS[secret]
  throw new ServiceError('ERR_MFA_SERVICE_REQUEST', why)
}
