import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type Keys, keyById } from './keys.js'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
// The base64url form of the 12 bytes, which has no padding.
const IV_CHARACTERS = 16

/** Encrypts `text` by AES-256-GCM. It can only be opened with the same `identity`, so rows cannot be swapped. */
export function seal(keys: Keys, identity: readonly string[], text: string): string {
  return sealWith(keys, identity, text, randomBytes(IV_BYTES))
}

/** Encrypts sealed text with the current key. The nonce, which identifies the text, stays the same: under another key, that is safe. */
export function reseal(keys: Keys, identity: readonly string[], sealed: string): string {
  const nonce = Buffer.from(sealed.split('.')[2] ?? '', 'base64url').subarray(0, IV_BYTES)
  return sealWith(keys, identity, open(keys, identity, sealed), nonce)
}

/** The id of the key that a text was sealed with. */
export function sealingKeyOf(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}

/** SQL for "the same text was sealed, with any key": compares the nonces of a column and a parameter. */
export function sameSealedSql(column: string, parameter: string): string {
  const nonce = (text: string) => `left(split_part(${text}, '.', 3), ${IV_CHARACTERS})`
  return `${nonce(column)} = ${nonce(`${parameter}::text`)}`
}

function sealWith(keys: Keys, identity: readonly string[], text: string, iv: Buffer): string {
  const cipher = createCipheriv(ALGORITHM, keys.sealing, iv)
  cipher.setAAD(Buffer.from(JSON.stringify(identity)))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `1.${keys.id}.${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`
}

/** Decrypts sealed text with any of the keys; throws when the key, the identity or a single bit differs. */
export function open(keys: Keys, identity: readonly string[], sealed: string): string {
  const [version, keyId, body] = sealed.split('.')
  const key = version === '1' && keyId && keyById(keys, keyId)
  if (!key || !body) throw new Error('The text was sealed with another key.')
  const bytes = Buffer.from(body, 'base64url')
  const decipher = createDecipheriv(ALGORITHM, key.sealing, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(JSON.stringify(identity)))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  )
}

const identityOf =
  (kind: string) =>
  (application: string, name: string): string[] => [kind, application, name]

/** The identity that an account's authenticator secret is sealed for. */
export const appSecretIdentity = identityOf('app secret')
/** The identity that a queued message is sealed for. */
export const outboxIdentity = identityOf('outbox')
/** The identity that a message in the development inbox is sealed for, by its recipient. */
export const inboxIdentity = identityOf('inbox')
/** The identity that the secret of an endpoint for events is sealed for. */
export const eventEndpointIdentity = identityOf('event endpoint')
/** The identity that the request of a transcription job is sealed for. */
export const jobIdentity = identityOf('transcription job')
/** The identity that the secret of an application's own webhook is sealed for. */
export function webhookIdentity(application: string): string[] {
  return ['webhook', application]
}
