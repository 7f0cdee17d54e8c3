import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Keys } from './keys.js'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts `text` by AES-256-GCM. Only under the same `identity` can it be opened: no row passes for another. */
export function seal(keys: Keys, identity: readonly string[], text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keys.sealing, iv)
  cipher.setAAD(Buffer.from(JSON.stringify(identity)))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `1.${keys.id}.${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`
}

/** Opens what `seal` closed; throws when the key, the identity or a single bit differs. */
export function open(keys: Keys, identity: readonly string[], sealed: string): string {
  const [version, keyId, body] = sealed.split('.')
  if (version !== '1' || keyId !== keys.id || !body) throw new Error('This was sealed with another key.')
  const bytes = Buffer.from(body, 'base64url')
  const decipher = createDecipheriv(ALGORITHM, keys.sealing, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(JSON.stringify(identity)))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  )
}
