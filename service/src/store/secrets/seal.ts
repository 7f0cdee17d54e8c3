import { tryTo } from '../../try-to.js'
import { decrypt, encrypt, NONCE_BYTES } from './encrypt.js'
import { type Keys, keyById } from './keys.js'

// The base64url form of the 12 bytes, which has no padding.
const NONCE_CHARACTERS = 16

/** Encrypts `text` by AES-256-GCM. It can only be opened with the same `identity`, so rows cannot be swapped. `nonce` defaults to a new one. */
export function seal(keys: Keys, identity: readonly string[], text: string, nonce?: Buffer): string {
  const encrypted = encrypt(keys.sealing, JSON.stringify(identity), Buffer.from(text), nonce)
  return `1.${keys.id}.${encrypted.toString('base64url')}`
}

/** Encrypts sealed text with the current key. The nonce, which identifies the text, stays the same: under another key, that is safe. */
export function reseal(keys: Keys, identity: readonly string[], sealed: string): string {
  const nonce = Buffer.from(sealed.split('.')[2] ?? '', 'base64url').subarray(0, NONCE_BYTES)
  return seal(keys, identity, open(keys, identity, sealed), nonce)
}

/** The id of the key that a text was sealed with. */
export function readSealingKey(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}

/** SQL for "the same text was sealed, with any key": compares the nonces of a column and a parameter. */
export function compareSealedSql(column: string, parameter: string): string {
  const nonce = (text: string) => `left(split_part(${text}, '.', 3), ${NONCE_CHARACTERS})`
  return `${nonce(column)} = ${nonce(`${parameter}::text`)}`
}

/** Decrypts sealed text with any of the keys; throws when the key, the identity or a single bit differs. */
export function open(keys: Keys, identity: readonly string[], sealed: string): string {
  const [version, keyId, body] = sealed.split('.')
  const key = version === '1' && keyId && keyById(keys, keyId)
  if (!key || !body) throw new Error('The text was sealed with another key.')
  return decrypt(key.sealing, JSON.stringify(identity), Buffer.from(body, 'base64url')).toString('utf8')
}

/** Decrypts what may not be sealed text of ours, such as a part of an address; `undefined` where `open` would throw. */
export function openIfSealed(keys: Keys, identity: readonly string[], given: string): string | undefined {
  return tryTo(() => open(keys, identity, given))
}

const createIdentity =
  (kind: string) =>
  (application: string, name: string): string[] => [kind, application, name]

/** The identity that an account's authenticator secret is sealed for. */
export const appSecretIdentity = createIdentity('app secret')
/** The identity that a queued message is sealed for. */
export const outboxIdentity = createIdentity('outbox')
/** The identity that a message in the development inbox is sealed for, by its recipient. */
export const inboxIdentity = createIdentity('inbox')
/** The identity that the secret of an endpoint for events is sealed for. */
export const eventEndpointIdentity = createIdentity('event endpoint')
/** The identity that the request of a transcription job is sealed for. */
export const jobIdentity = createIdentity('transcription job')
/** The identity that the secret of an application's own webhook is sealed for. */
export function webhookIdentity(application: string): string[] {
  return ['webhook', application]
}
