import type { ConfirmedSecret } from '../../accounts/app-secret.js'

/** The systems that factors can be imported from. `csv` is any other system. */
export const IMPORT_SOURCES = [
  'csv',
  'speakeasy',
  'otplib',
  'passport-totp',
  'better-auth',
  'auth0',
  'keycloak',
  'django-otp',
  'supabase',
  'fortify',
] as const

/** A system that factors can be imported from. */
export type ImportSource = (typeof IMPORT_SOURCES)[number]

/** How a secret is written. */
export const ENCODINGS = ['base32', 'hex', 'base64', 'text'] as const
/** How a secret is written: `text` means that its characters are the bytes. */
export type Encoding = (typeof ENCODINGS)[number]

/** Why a row is refused, and what to do. No text names a secret or an account. */
export const REFUSALS = {
  no_rows: 'The file has no rows. CSV needs a heading in its first line.',
  unreadable:
    'The row cannot be read: it is no JSON object, has more or fewer columns than the heading, or is no text (save a spreadsheet as "CSV UTF-8").',
  ambiguous: 'Two fields of one name say different things: leave one out, or rename it.',
  account:
    'The account is missing or invalid: name the field of your account ids with --account-field, or that of the contacts with --user-field.',
  account_number:
    'The account is a number with decimals or an exponent, such as 4.41E+17, which may have been rounded: export it as text.',
  realms: 'Users of several realms may share this name: name accounts by id, or import one realm at a time.',
  secret:
    'The secret is missing, or is not written in this encoding: see --encoding (hex for what begins with \\x).',
  other_address:
    'The address is for Steam, or moves several apps (otpauth-migration): let the user set up a new one.',
  weak: 'The secret has fewer than 128 bits. To import it nevertheless, add --allow-weak; the user should replace it soon.',
  too_weak:
    'The secret has fewer than 80 bits, or more than 640, and is not imported: let the user set up a new one.',
  parameters: 'Codes must use SHA-1, SHA-256 or SHA-512, 6 or 8 digits and steps of 30 or 60 seconds.',
  counter_based: 'The app counts its codes (HOTP), which is not supported: let the user set up a new one.',
  undecryptable:
    'The secret is encrypted, and no given secret decrypts it: name its environment variable with --secret-env.',
  unconfirmed: 'The user never typed a first code of this app, so it proves nothing.',
  confirmation:
    'A field may say whether the user ever typed a code of this app: name it with --confirmed-field, or `none` if all apps were confirmed.',
  other_app: 'The account already has another authenticator app, which stays as it is.',
} as const

/** Why a row is refused. */
export type Refusal = keyof typeof REFUSALS

/** Backup codes as another system keeps them: readable, or as unsalted SHA-512 in base64. */
export interface ImportedCodes {
  readonly plain: readonly string[]
  readonly sha512: readonly string[]
}

/** The contents of a row before it is checked. */
export interface Candidate {
  readonly account: unknown
  readonly user?: unknown
  readonly secret: unknown
  readonly encoding?: unknown
  readonly algorithm?: unknown
  readonly digits?: unknown
  readonly period?: unknown
  /** `undefined` without codes, `'unverifiable'` for codes that no hash can be verified of. */
  readonly codes?: ImportedCodes | 'unverifiable' | undefined
  /** How many apps of the user are left out, since an account has one. Defaults to 0. */
  readonly furtherApps?: number
}

/** A row of a source. `line` is its line, or its position in a JSON array, from 1. */
export interface SourceRow {
  readonly line: number
  /** A user without an authenticator app is `absent`. */
  readonly found: Candidate | Refusal | 'absent'
}

/** A row that can be imported. */
export interface ImportRow {
  readonly line: number
  /** The account as rows name it. */
  readonly account: string
  readonly secret: ConfirmedSecret
  readonly codes: Candidate['codes']
  readonly furtherApps: number
  /** Whether the account is written as other programs change ids. */
  readonly isOddlyWritten: boolean
}
