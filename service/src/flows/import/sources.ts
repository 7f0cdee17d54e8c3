import { createHash } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { managedNonce } from '@noble/ciphers/utils.js'
import { jsonIn } from '../../telemetry/json.js'
import type { Candidate, Encoding, ImportSource, SourceRow } from './import-row.js'
import { listedCodes, objectIn, recordsOf } from './read-file.js'

type Fields = Readonly<Record<string, unknown>>

/** An encrypted text, after the version of its secret, if there is one. */
const ENCRYPTED = /^(?:\$ba\$\d+\$)?((?:[0-9a-f]{2}){40,})$/i
const BASE32 = 'base32:'

/** A row of the table `twoFactor` of better-auth, encrypted with one of the secrets of the app, or decrypted already. */
function betterAuthRow(fields: Fields, account: string, secrets: readonly string[]): SourceRow['found'] {
  const stored = fields.secret
  if (typeof stored !== 'string' || stored === '') return 'absent'
  if (['false', '0'].includes(String(fields.verified))) return 'unconfirmed'
  const secret = decrypted(stored, secrets)
  if (secret === undefined) return 'undecryptable'
  const isBase32 = secret.startsWith(BASE32)
  const codes = fields.backupCodes ?? fields.backup_codes
  return {
    // Databases may write the column with an underscore.
    account: fields[account] ?? fields.user_id,
    secret: isBase32 ? secret.slice(BASE32.length) : secret,
    encoding: isBase32 ? 'base32' : 'text',
    codes: listedCodes(typeof codes === 'string' ? (decrypted(codes, secrets) ?? '?') : codes),
  }
}

/** The text, decrypted if it is encrypted; `undefined` when no secret decrypts it. */
function decrypted(text: string, secrets: readonly string[]): string | undefined {
  const hex = ENCRYPTED.exec(text)?.[1]
  if (hex === undefined) return text
  for (const secret of secrets) {
    const key = createHash('sha256').update(secret).digest()
    try {
      const bytes = managedNonce(xchacha20poly1305)(key).decrypt(Buffer.from(hex, 'hex'))
      return Buffer.from(bytes).toString('utf8')
    } catch {
      // The text is authenticated: this is not its secret.
    }
  }
  return undefined
}

interface Source {
  /** The field of the account's name, unless the operator names another. */
  readonly account: string
  /** The encoding of secrets, unless the row or the operator says otherwise. */
  readonly encoding: Encoding
  read(fields: Fields, account: string, secrets: readonly string[]): SourceRow['found']
}

/** The systems, each with the shape of its own export. */
export const SOURCES: Readonly<Record<ImportSource, Source>> = {
  csv: { account: 'account', encoding: 'base32', read: plainRow },
  speakeasy: { account: 'account', encoding: 'base32', read: plainRow },
  otplib: { account: 'account', encoding: 'base32', read: plainRow },
  // The library takes the characters of the key as its bytes.
  'passport-totp': { account: 'account', encoding: 'text', read: plainRow },
  'better-auth': { account: 'userId', encoding: 'text', read: betterAuthRow },
  auth0: { account: 'user_id', encoding: 'base32', read: auth0Row },
  keycloak: { account: 'id', encoding: 'text', read: keycloakRow },
}

/** Which field names the account: by the application's own name, or, with `user`, by a contact. */
export interface AccountFields {
  readonly account?: string | undefined
  readonly user?: string | undefined
}

/** The rows of a file; `undefined` when it is neither JSON nor CSV. `secrets` decrypt what the source encrypted. */
export function* rowsOf(
  source: ImportSource,
  text: string,
  fields: AccountFields,
  secrets: readonly string[],
): Generator<SourceRow> {
  const { read, account } = SOURCES[source]
  const records = recordsOf(text) ?? [{ line: 1, fields: undefined }]
  if (records.length === 0) yield { line: 1, found: 'no_rows' }
  for (const record of records) {
    const found = record.fields ? read(record.fields, fields.account ?? account, secrets) : 'unreadable'
    if (typeof found === 'string') yield { line: record.line, found }
    else yield { line: record.line, found: { ...found, ...identityIn(record.fields, fields, found) } }
  }
}

/** A named field of contacts wins; a field of account ids must be there, unless the row names its contact as `user`. */
function identityIn(record: Fields | undefined, { user, account }: AccountFields, found: Candidate) {
  if (user !== undefined) return { account: undefined, user: record?.[user] }
  return { account: found.account, user: account === undefined ? found.user : undefined }
}

/** A row of a table of one's own. The secret is text, bytes, an `otpauth://` URI, or what speakeasy's `generateSecret` returned. */
function plainRow(fields: Fields, account: string): SourceRow['found'] {
  const secret = first(fields.secret, fields.key, fields.otpauth_url, fields.otpauth)
  if (secret === undefined) return 'absent'
  const { base32, hex, ascii } = objectIn(secret) ?? {}
  const written = first(base32, hex, ascii)
  const encoding = base32 !== undefined ? 'base32' : hex !== undefined ? 'hex' : 'text'
  return {
    account: fields[account],
    user: fields.user,
    secret: written ?? secret,
    encoding: written === undefined ? fields.encoding : encoding,
    algorithm: fields.algorithm,
    digits: fields.digits,
    period: first(fields.period, fields.step),
    codes: listedCodes(first(fields.backup_codes, fields.backupCodes)),
  }
}

/** A user in the shape of Auth0's bulk import: `mfa_factors: [{ totp: { secret } }]`. */
function auth0Row(fields: Fields, account: string): SourceRow['found'] {
  const factors = Array.isArray(fields.mfa_factors) ? fields.mfa_factors : []
  const totp = factors.map((factor) => objectIn(objectIn(factor)?.totp)).find((found) => found !== undefined)
  if (!totp) return 'absent'
  return { account: fields[account], secret: totp.secret, encoding: 'base32' }
}

/** A user in the export of a realm: `credentials` with `secretData` and `credentialData` as JSON text. */
function keycloakRow(fields: Fields, account: string): SourceRow['found'] {
  const credentials = (Array.isArray(fields.credentials) ? fields.credentials : []).flatMap((one) => {
    const found = objectIn(one)
    return found
      ? [{ type: found.type, data: dataOf(found.credentialData), secret: dataOf(found.secretData) }]
      : []
  })
  const apps = credentials.filter(({ type }) => type === 'otp')
  const app = apps.find(({ data }) => data?.subType !== 'hotp') ?? apps[0]
  if (!app) return 'absent'
  if (app.data?.subType === 'hotp') return 'counter_based'
  const recovery = credentials.find(({ type }) => type === 'recovery-authn-codes')
  return {
    account: fields[account],
    secret: app.secret?.value,
    encoding: first(app.data?.secretEncoding, 'text'),
    algorithm: app.data?.algorithm,
    digits: app.data?.digits,
    period: app.data?.period,
    codes: recovery && recoveryCodes(recovery),
  }
}

function dataOf(value: unknown): Fields | undefined {
  return objectIn(typeof value === 'string' ? jsonIn(value) : value)
}

/** Keycloak names the hash after a signature: `RS512` stands for SHA-512. */
function recoveryCodes(credential: {
  readonly data?: Fields | undefined
  readonly secret?: Fields | undefined
}) {
  const { codes } = credential.secret ?? {}
  const hashes = (Array.isArray(codes) ? codes : []).map((code) => objectIn(code)?.encodedHashedValue)
  const isKnown = credential.data?.algorithm === 'RS512' && Number(credential.data.hashIterations ?? 1) === 1
  const sha512 = hashes.flatMap((hash) => (typeof hash === 'string' && isKnown ? [hash] : []))
  return sha512.length === hashes.length ? { plain: [], sha512 } : 'unverifiable'
}

function first(...values: readonly unknown[]): unknown {
  return values.find((value) => value !== undefined && value !== null && value !== '')
}
