/** Every way to prove a second factor that the service's API knows. */
export const METHODS = ['app', 'email', 'sms', 'whatsapp', 'call', 'dual'] as const

/** One way to prove a second factor. `dual` is one code sent to a mailbox and a phone together. */
export type Method = (typeof METHODS)[number]

/** The methods for which a code is delivered; an authenticator app makes its codes by itself. */
export type DeliveredMethod = Exclude<Method, 'app'>

/** The methods by which backup codes reach a person. */
export type BackupMethod = 'email' | 'sms' | 'dual'

/** `Type` words of the published API when a code is sent; WHATSAPP and CALL are our own additions. */
export const SEND_TYPES = ['EMAIL', 'SMS', 'WHATSAPP', 'CALL', 'DUAL'] as const
export type SendType = (typeof SEND_TYPES)[number]

/** `Type` words of the published API when a code is verified. */
export const VERIFY_TYPES = ['EMAIL', 'PHONE', 'APP', 'DUAL'] as const
export type VerifyType = (typeof VERIFY_TYPES)[number]

/** `Type` words of the published API when backup codes are asked for. */
export const BACKUP_TYPES = ['EMAIL', 'SMS', 'DUAL'] as const
export type BackupType = (typeof BACKUP_TYPES)[number]

/**
 * What a code is for. `CODE` is a delivered code or an app's, `BACKUP` a backup code, `CONFIRM` the first code
 * of an authenticator app that is being set up. A call without it (the published API) may mean any of them.
 */
export const CODE_KINDS = ['CODE', 'BACKUP', 'CONFIRM'] as const
export type CodeKind = Lowercase<(typeof CODE_KINDS)[number]>

/** Which `Type` word verifies a code of this method: all that goes to a telephone is verified as PHONE. */
export const VERIFY_TYPE: Readonly<Record<Method, VerifyType>> = {
  app: 'APP',
  email: 'EMAIL',
  sms: 'PHONE',
  whatsapp: 'PHONE',
  call: 'PHONE',
  dual: 'DUAL',
}

/** Which method carries backup codes to somebody who has this one. An app cannot receive any. */
export const BACKUP_METHOD: Readonly<Record<DeliveredMethod, BackupMethod>> = {
  email: 'email',
  sms: 'sms',
  whatsapp: 'sms',
  call: 'sms',
  dual: 'dual',
}
