import { createHash } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { managedNonce } from '@noble/ciphers/utils.js'
import { tryTo } from '../../try-to.js'
import { AMBIGUOUS, parseExactJson } from './exact-json.js'
import type { Candidate, Encoding, ImportSource, Refusal, SourceRow } from './import-row.js'
import { fieldName, readListedCodes, readObject, readRecords } from './read-file.js'

type Fields = Readonly<Record<string, unknown>>

/** An encrypted text, after the version of its secret, if there is one. */
const ENCRYPTED = /^(?:\$ba\$\d+\$)?((?:[0-9a-f]{2}){40,})$/i
const BASE32 = 'base32:'

/** A row of the table `twoFactor` of better-auth, encrypted with one of the secrets of the app, or decrypted already. */
function betterAuthRow(fields: Fields, account: string, secrets: readonly string[]): SourceRow['found'] {
  const stored = fields.secret
  if (typeof stored !== 'string' || stored === '') return 'absent'
  // Older versions have no such column: an app was saved with its first code.
  const doubt = describeDoubt(findFirst(fields.verified, true))
  if (doubt) return doubt
  const secret = decryptText(stored, secrets)
  if (secret === undefined) return 'undecryptable'
  const isBase32 = secret.startsWith(BASE32)
  const codes = fields.backupcodes
  return {
    account: fields[account],
    secret: isBase32 ? secret.slice(BASE32.length) : secret,
    encoding: isBase32 ? 'base32' : 'text',
    codes: readListedCodes(typeof codes === 'string' ? (decryptText(codes, secrets) ?? '?') : codes),
  }
}

/** The text, decrypted if it is encrypted; `undefined` when no secret decrypts it. */
function decryptText(text: string, secrets: readonly string[]): string | undefined {
  const hex = ENCRYPTED.exec(text)?.[1]
  if (hex === undefined) return text
  for (const secret of secrets) {
    const key = createHash('sha256').update(secret).digest()
    // The text is authenticated, so another secret fails.
    const bytes = tryTo(() => managedNonce(xchacha20poly1305)(key).decrypt(Buffer.from(hex, 'hex')))
    if (bytes) return Buffer.from(bytes).toString('utf8')
  }
  return undefined
}

interface Source {
  /** The field of the account's name, unless the operator names another. */
  readonly account: string
  /** The encoding of secrets, unless the row or the operator says otherwise. */
  readonly encoding: Encoding
  /** The field that says whether the user ever typed a code of the app: `none`, or `ask` where each table has another. */
  readonly confirmed: string
  read(fields: Fields, account: string, secrets: readonly string[]): SourceRow['found']
}

const OWN_TABLE: Source = { account: 'account', encoding: 'base32', confirmed: 'ask', read: plainRow }

/** The systems, each with the shape of its own export. */
export const SOURCES: Readonly<Record<ImportSource, Source>> = {
  csv: OWN_TABLE,
  speakeasy: OWN_TABLE,
  otplib: OWN_TABLE,
  // The library takes the characters of the key as its bytes.
  'passport-totp': { ...OWN_TABLE, encoding: 'text' },
  'better-auth': { account: 'userId', encoding: 'text', confirmed: 'none', read: betterAuthRow },
  auth0: { account: 'user_id', encoding: 'base32', confirmed: 'none', read: auth0Row },
  keycloak: { account: 'id', encoding: 'text', confirmed: 'none', read: keycloakRow },
  'django-otp': { account: 'user_id', encoding: 'hex', confirmed: 'confirmed', read: plainRow },
  supabase: { account: 'user_id', encoding: 'base32', confirmed: 'status', read: plainRow },
  fortify: { account: 'id', encoding: 'base32', confirmed: 'two_factor_confirmed_at', read: plainRow },
}

/** The fields that the operator names: the application's own name for the account, a contact, and whether the app was confirmed. */
export interface NamedFields {
  readonly account?: string | undefined
  readonly user?: string | undefined
  readonly confirmed?: string | undefined
}

/** The rows of a file; one that cannot be read for JSON that cannot. `secrets` decrypt what the source encrypted. */
export function* readRowsOf(
  source: ImportSource,
  file: string | Uint8Array,
  named: NamedFields,
  secrets: readonly string[],
): Generator<SourceRow> {
  const { read, account, confirmed } = SOURCES[source]
  const records = readRecords(file) ?? [{ line: 1, fields: undefined }]
  if (records.length === 0) yield { line: 1, found: 'no_rows' }
  // Two users of different realms may have the same name, but not the same id.
  const isByName = named.user !== undefined || fieldName(named.account ?? 'id') !== 'id'
  const isOfRealms = isByName && new Set(records.map(({ realm }) => realm)).size > 1
  for (const { line, fields } of records) {
    const found = fields ? read(fields, fieldName(named.account ?? account), secrets) : 'unreadable'
    const doubt = isOfRealms ? 'realms' : findDoubt(fields ?? {}, named.confirmed ?? confirmed)
    const refusal = found === 'absent' || !fields ? undefined : doubt
    if (typeof found === 'string' || refusal) yield { line, found: refusal ?? found }
    else yield { line, found: { ...found, ...readIdentity(fields, named, found) } }
  }
}

/** Fields that may say that the app was confirmed. In tables of users they may mean the mailbox. */
const DOUBTFUL = /confirm|verif|validat|enabl|activ|enroll|requir|pending|status|state$/
const YES = /^(?:t|true|y|yes|on|1|verified|confirmed|enabled|active|\d{10}|\d{13}|\d{4}-\d\d-\d\d.*)$/i
const NO = /^(?:|f|false|n|no|off|0|null|\\N|none|un(?:verifi|confirm)ed|pending|disabled|inactive|0000-.*)$/i

function findDoubt(fields: Fields, name: string): Refusal | undefined {
  if (Object.values(fields).includes(AMBIGUOUS)) return 'ambiguous'
  const isAsked = name === 'ask' && Object.keys(fields).some((field) => DOUBTFUL.test(field))
  if (isAsked) return 'confirmation'
  return name === 'ask' || name === 'none' ? undefined : describeDoubt(fields[fieldName(name)])
}

/** Why an app does not count as confirmed, by what its field says. */
function describeDoubt(said: unknown): Refusal | undefined {
  if (said === undefined) return 'confirmation'
  const text = String(said ?? '').trim()
  if (NO.test(text)) return 'unconfirmed'
  return YES.test(text) ? undefined : 'confirmation'
}

/** A named field of contacts wins; a field of account ids must be there, unless the row names its contact as `user`. */
function readIdentity(fields: Fields | undefined, { user, account }: NamedFields, found: Candidate) {
  if (user !== undefined) return { account: undefined, user: fields?.[fieldName(user)] }
  return { account: found.account, user: account === undefined ? found.user : undefined }
}

/** A row of a table of one's own. The secret is text, bytes, an `otpauth://` URI, or what speakeasy's `generateSecret` returned. */
function plainRow(fields: Fields, account: string): SourceRow['found'] {
  const secret = findFirst(
    fields.secret,
    fields.key,
    fields.twofactorsecret,
    fields.otpauthurl,
    fields.otpauth,
  )
  if (secret === undefined) return 'absent'
  const { base32, hex, ascii } = readObject(secret) ?? {}
  const written = findFirst(base32, hex, ascii)
  const encoding = base32 !== undefined ? 'base32' : hex !== undefined ? 'hex' : 'text'
  return {
    account: fields[account],
    user: fields.user,
    secret: written ?? secret,
    encoding: written === undefined ? fields.encoding : encoding,
    algorithm: fields.algorithm,
    digits: fields.digits,
    period: findFirst(fields.period, fields.step),
    codes: readListedCodes(findFirst(fields.backupcodes, fields.twofactorrecoverycodes)),
  }
}

/** A user in the shape of Auth0's bulk import: `mfa_factors: [{ totp: { secret } }]`. */
function auth0Row(fields: Fields, account: string): SourceRow['found'] {
  const factors = Array.isArray(fields.mfafactors) ? fields.mfafactors : []
  const apps = factors.map((factor) => readObject(readObject(factor)?.totp))
  const [totp, ...further] = apps.filter((app) => app !== undefined)
  if (!totp) return 'absent'
  return { account: fields[account], secret: totp.secret, encoding: 'base32', furtherApps: further.length }
}

/** A user in the export of a realm: `credentials` with `secretData` and `credentialData` as JSON text. */
function keycloakRow(fields: Fields, account: string): SourceRow['found'] {
  const credentials = (Array.isArray(fields.credentials) ? fields.credentials : []).flatMap((entry) => {
    const found = readObject(entry)
    // Up to version 7, a credential has everything in itself.
    return found
      ? [
          {
            type: found.type,
            data: readData(found.credentialData) ?? found,
            secret: readData(found.secretData) ?? found,
          },
        ]
      : []
  })
  const apps = credentials.filter(({ type }) => type === 'otp' || type === 'totp' || type === 'hotp')
  const isCounting = ({ type, data }: (typeof apps)[number]) => (data.subType ?? type) === 'hotp'
  const app = apps.find((other) => !isCounting(other)) ?? apps[0]
  if (!app) return 'absent'
  if (isCounting(app)) return 'counter_based'
  const recovery = credentials.find(({ type }) => type === 'recovery-authn-codes')
  return {
    account: fields[account],
    secret: app.secret.value,
    encoding: findFirst(app.data.secretEncoding, 'text'),
    algorithm: app.data.algorithm,
    digits: app.data.digits,
    period: app.data.period,
    codes: recovery && recoveryCodes(recovery),
    furtherApps: apps.length - 1,
  }
}

function readData(value: unknown): Fields | undefined {
  return readObject(typeof value === 'string' ? parseExactJson(value) : value)
}

/** Keycloak names the hash after a signature: `RS512` stands for SHA-512. */
function recoveryCodes(credential: { readonly data: Fields; readonly secret: Fields }) {
  const { codes } = credential.secret
  const hashes = (Array.isArray(codes) ? codes : []).map((code) => readObject(code)?.encodedHashedValue)
  const isKnown = credential.data.algorithm === 'RS512' && Number(credential.data.hashIterations ?? 1) === 1
  const sha512 = hashes.flatMap((hash) => (typeof hash === 'string' && isKnown ? [hash] : []))
  return sha512.length === hashes.length ? { plain: [], sha512 } : 'unverifiable'
}

function findFirst(...values: readonly unknown[]): unknown {
  return values.find((value) => value !== undefined && value !== null && value !== '')
}
