import { createHash } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { managedNonce } from '@noble/ciphers/utils.js'
import type { SourceRow } from './import-row.js'
import { listedCodes } from './read-file.js'

type Fields = Readonly<Record<string, unknown>>

/** An encrypted text, after the version of its secret, if there is one. */
const ENCRYPTED = /^(?:\$ba\$\d+\$)?((?:[0-9a-f]{2}){40,})$/i
/** Secrets that better-auth took over from elsewhere begin with this. */
const BASE32 = 'base32:'

/** A row of the table `twoFactor` of better-auth, encrypted with one of the secrets of the app, or decrypted already. */
export function betterAuthRow(
  fields: Fields,
  account: string,
  secrets: readonly string[],
): SourceRow['found'] {
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
