/** The methods of WebAuthn: a `passkey` is asked for with user verification, and so proves two factors. */
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

/** The method of each `Type` value for keys. */
export const KEY_METHOD: Readonly<Record<KeyType, KeyMethod>> = {
  SECURITY_KEY: 'security-key',
  PASSKEY: 'passkey',
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

/** `CODE` is delivered or of an app, `CONFIRM` the first one of an app. Without a kind: any of them. */
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

/** The maximum length of the input for a code, in characters (R82). */
export const MAX_CODE_LENGTH = 64

/** The signs that keyboards, mail programs and lists put around a code, and users between its characters. */
const STRAY = /[\s\p{Dash}\p{Cf}\p{Pi}\p{Pf}\p{Ps}\p{Pe}\p{Pc}.,:#"'`*·•‣◦。、]+/gu

/** The form of a code for limits and comparisons (R30): ASCII digits, upper case, no spaces and signs, and no word with a colon before it. */
export function canonicalCode(typed: string): string {
  const plain = typed.normalize('NFKC').replace(/^[\p{L}\p{M}\s]+:/u, '')
  return asciiDigits(plain.replace(STRAY, '')).toUpperCase()
}

/** A text with the digits of every script as ASCII digits. */
export function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
}

/** Unicode keeps the ten digits of a script together, in order, so the place in such a run is the value. */
function asciiDigit(digit: string): string {
  const last = digit.codePointAt(0) ?? 0
  let first = last
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return String((last - first) % 10)
}

/** As `canonicalCode`, with letters that look like digits as those digits (Crockford's base32), and without its number in a list. */
export function canonicalBackupCode(typed: string): string {
  const code = typed.normalize('NFKC').replace(/^\s*\d{1,2}[.)]\s+/u, '')
  return canonicalCode(code).replaceAll('O', '0').replaceAll('I', '1').replaceAll('L', '1')
}

/** Whether a canonical code has a valid format. Anything else is a wrong code and is not sent to the service. */
export function isCodeShaped(code: string): boolean {
  return /^[0-9A-Z]{4,64}$/.test(code)
}

/** The form of the codes of one kind, in canonical form. */
export interface CodeShape {
  /** Every character that can occur in them. */
  readonly alphabet: string
  /** The number of characters in the shortest one. */
  readonly shortest: number
  /** The number of characters in the longest one. */
  readonly longest: number
}

/** The forms of the codes of a service. */
export interface CodeShapes {
  /** Codes that are sent. */
  readonly delivered: CodeShape
  /** Codes of authenticator apps. */
  readonly app: CodeShape
  /** Backup codes. */
  readonly backup: CodeShape
}

/** Whether a text can be a code of this form. */
export function hasShape(code: string, { alphabet, shortest, longest }: CodeShape): boolean {
  const characters = [...code]
  if (characters.length < shortest || characters.length > longest) return false
  return characters.every((character) => alphabet.includes(character))
}
