import { type CipherKey, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16

/** How long a nonce is, the beginning of what `encrypt` returns. */
export const NONCE_BYTES = 12

/** Encrypts by AES-256-GCM: nonce, tag and content. It can only be decrypted under the same name. */
export function encrypt(
  key: CipherKey,
  name: string,
  content: Buffer,
  nonce: Buffer = randomBytes(NONCE_BYTES),
): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(name))
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
}

/** Decrypts what was encrypted under this name; throws when the key, the name or a single bit differs. */
export function decrypt(key: CipherKey, name: string, encrypted: Buffer): Buffer {
  const nonce = encrypted.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(name)).setAuthTag(encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}
