/**
 * The methods of WebAuthn. A `security-key` proves possession and is asked for without user verification. A `passkey` is
 * asked for with user verification, a PIN or biometrics, and so proves two factors.
 */
export const KEY_METHODS = ['security-key', 'passkey'] as const

/** A method of WebAuthn. */
export type KeyMethod = (typeof KEY_METHODS)[number]

/** `Type` values for keys. */
export const KEY_TYPES = ['SECURITY_KEY', 'PASSKEY'] as const

/** A `Type` value for keys. */
export type KeyType = (typeof KEY_TYPES)[number]

/** The `Type` value of each method of WebAuthn. */
export const KEY_TYPE: Readonly<Record<KeyMethod, KeyType>> = {
  'security-key': 'SECURITY_KEY',
  passkey: 'PASSKEY',
}

const KEY_METHOD: Readonly<Record<KeyType, KeyMethod>> = { SECURITY_KEY: 'security-key', PASSKEY: 'passkey' }

/** The method of a `Type` value for keys. */
export function keyMethodOf(type: KeyType): KeyMethod {
  return KEY_METHOD[type]
}

/** Every method for a second factor that the service's API supports. */
export const METHODS = ['app', 'email', 'sms', 'whatsapp', 'call', 'dual', ...KEY_METHODS] as const

/** A method for a second factor. `dual` sends the same code by email and by text message. */
export type Method = (typeof METHODS)[number]

/** The methods whose codes the user types. A key signs a challenge instead. */
export type CodeMethod = Exclude<Method, KeyMethod>

/** The methods that deliver a code. An authenticator app generates its codes itself. */
export type DeliveredMethod = Exclude<CodeMethod, 'app'>

/** Whether a method is one of WebAuthn, which needs a key and a script in the browser. */
export function isKeyMethod(method: Method | 'backup'): method is KeyMethod {
  return method === 'security-key' || method === 'passkey'
}

/** Whether a method delivers a code to a contact. */
export function isDelivered(method: Method | 'backup'): method is DeliveredMethod {
  return method !== 'app' && method !== 'backup' && !isKeyMethod(method)
}

/** The methods for sending backup codes. */
export type BackupMethod = 'email' | 'sms' | 'dual'

/** `Type` values for sending a code. WHATSAPP and CALL are additions to the published API. */
export const SEND_TYPES = ['EMAIL', 'SMS', 'WHATSAPP', 'CALL', 'DUAL'] as const

/** `Type` values for verifying a code. */
export const VERIFY_TYPES = ['EMAIL', 'PHONE', 'APP', 'DUAL'] as const

/** A `Type` value for verifying a code. */
export type VerifyType = (typeof VERIFY_TYPES)[number]

/** `Type` values for requesting backup codes. */
export const BACKUP_TYPES = ['EMAIL', 'SMS', 'DUAL'] as const

/**
 * Kinds of codes: `CODE` is delivered or comes from an app, `BACKUP` is a backup code, `CONFIRM` is the first code of an
 * authenticator app during enrollment. A request without a kind (the published API) can mean any of them.
 */
export const CODE_KINDS = ['CODE', 'BACKUP', 'CONFIRM'] as const

/** The kind of a code, as `MfaService.verify` gets it. */
export type CodeKind = Lowercase<(typeof CODE_KINDS)[number]>

/** The `Type` value for verifying a code of each method. PHONE is for every method that uses a phone number. */
export const VERIFY_TYPE: Readonly<Record<CodeMethod, VerifyType>> = {
  app: 'APP',
  email: 'EMAIL',
  sms: 'PHONE',
  whatsapp: 'PHONE',
  call: 'PHONE',
  dual: 'DUAL',
}

/** The method that sends backup codes to a user who has the given method. */
export const BACKUP_METHOD: Readonly<Record<DeliveredMethod, BackupMethod>> = {
  email: 'email',
  sms: 'sms',
  whatsapp: 'sms',
  call: 'sms',
  dual: 'dual',
}
