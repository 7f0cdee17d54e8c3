import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** A new key for one job. */
export function newJobKey(): Buffer {
  return randomBytes(32)
}

/** Encrypts what belongs to a job by AES-256-GCM. It can only be decrypted under the same name. */
export function encrypt(key: Buffer, name: string, content: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(name))
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted])
}

/** Decrypts what was encrypted under this name; throws when the key, the name or a single bit differs. */
export function decrypt(key: Buffer, name: string, encrypted: Buffer): Buffer {
  const iv = encrypted.subarray(0, IV_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(name)).setAuthTag(encrypted.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(encrypted.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
}
