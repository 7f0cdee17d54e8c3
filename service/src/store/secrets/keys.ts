import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Contact, canonicalUser } from 'countersign/protocol'
import { ConfigurationError } from '../../process/configuration-error.js'

/** The keys derived from the one secret, one for each use, so that none can replace another (R40). */
export interface Keys {
  /** Identifies the secret without revealing anything about it. */
  readonly id: string
  /** Derives delivered codes. */
  readonly codes: KeyObject
  /** Hashes backup codes. */
  readonly backup: KeyObject
  /** Encrypts authenticator secrets and queued messages. */
  readonly sealing: KeyObject
  /** Derives the references to accounts in the log. */
  readonly references: KeyObject
  /** Signs webhook requests when the operator has set no secret for them. */
  readonly webhook: KeyObject
  /** Signs the session cookies of the console. */
  readonly console: KeyObject
  /** Former keys, which still decrypt and compare until a rotation has moved what they protect. */
  readonly previous: readonly Keys[]
}

/** Derives every key from `secret` by HKDF-SHA-256; the keys of `previous` secrets only decrypt and compare. */
export function deriveKeys(secret: string, previous: readonly string[] = []): Keys {
  const deriveBytes = (use: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, 'countersign service', use, bytes))
  // As objects: Node prepares a key given as bytes anew at each use, which takes longer than the use itself.
  const derive = (use: string) => createSecretKey(deriveBytes(use, 32))
  return {
    id: deriveBytes('key id', 6).toString('hex'),
    codes: derive('delivered codes'),
    backup: derive('backup codes'),
    sealing: derive('sealing'),
    references: derive('log references'),
    webhook: derive('webhook signature'),
    console: derive('console sessions'),
    previous: previous.filter((other) => other !== secret).map((other) => deriveKeys(other)),
  }
}

/** The current keys, then the former ones. */
export function listKeys(keys: Keys): readonly Keys[] {
  return [keys, ...keys.previous]
}

/** The current or former keys with this id. */
export function keyById(keys: Keys, id: string): Keys | undefined {
  return listKeys(keys).find((key) => key.id === id)
}

/** A keyed hash as it is stored: with the id of its key, so that the store shows which keys it depends on. */
export function addKeyId(keys: Keys, hash: string): string {
  return `${keys.id}.${hash}`
}

/** The id of the key that a stored hash was made with. */
export function keyIdOf(stored: string): string {
  return stored.slice(0, stored.indexOf('.'))
}

/** HMAC-SHA-256 over several parts, encoded so that no two lists of parts give the same input. */
export function mac(key: KeyObject, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest()
}

/** A secret for development (R40), created once in this file of the data folder for its owner only, or a new one in memory. Throws a `ConfigurationError` if that is impossible. */
export function developmentSecret(dataDir: string, file: 'secret' | 'inbox-key' = 'secret'): string {
  try {
    return createOrRead(dataDir, join(dataDir, file))
  } catch (error) {
    const why = error instanceof Error ? error.message : 'for an unknown reason'
    throw new ConfigurationError([`The data folder (DATA_DIR) cannot be used: ${why}.`], { cause: error })
  }
}

function createOrRead(dataDir: string, file: string): string {
  const random = randomBytes(32).toString('base64url')
  if (dataDir.startsWith('memory://')) return random
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  createOnce(join(dataDir, '.gitignore'), '*\n')
  createOnce(file, `${random}\n`)
  const secret = readFileSync(file, 'utf8').trim()
  if (secret === '') throw new Error(`${file} is empty`)
  return secret
}

/** Creates a file for its owner only, unless it exists. */
function createOnce(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Stands for an account of the application with this id in the log: always the same for one account, and nothing leads back from it. */
export function accountReference(keys: Keys, application: string, account: string): string {
  return mac(keys.references, [application, account]).toString('hex').slice(0, 12)
}

/** Stands for a mailbox or phone number, in all applications: equal for equal contacts, and nothing leads back from it. */
export function contactReference(keys: Keys, contact: Contact): string {
  return mac(keys.references, ['contact', canonicalUser(contact)])
    .toString('base64url')
    .slice(0, 22)
}

/** An account's reference as it is stored: with the id of its key. */
export function createStoredReference(keys: Keys, application: string, account: string): string {
  return addKeyId(keys, accountReference(keys, application, account))
}

/** Keyed hashes of the mailbox and the phone number of a contact, as they are stored; `null` for the one that it has not. */
export interface ContactHashes {
  readonly email: string | null
  readonly phone: string | null
}

/** The hashes by which an account is found once it has proven the contact. */
export function contactHashes(keys: Keys, contact: Contact): ContactHashes {
  const hash = (contact: Contact) => addKeyId(keys, contactReference(keys, contact))
  return {
    email: contact.kind === 'phone' ? null : hash({ kind: 'email', email: contact.email }),
    phone: contact.kind === 'email' ? null : hash({ kind: 'phone', phone: contact.phone }),
  }
}
