import { createHmac, hkdfSync } from 'node:crypto'

/** What is made of the one secret: a key for each use, so that none can stand in for another (R40). */
export interface Keys {
  /** Names the secret without telling anything about it. */
  readonly id: string
  /** Delivered codes are derived with it. */
  readonly codes: Buffer
  /** Backup codes are hashed with it. */
  readonly backup: Buffer
  /** Authenticator secrets and waiting messages are sealed with it. */
  readonly sealing: Buffer
  /** Accounts are named in the log with it. */
  readonly references: Buffer
  /** Webhook messages are signed with it when the operator has set no secret for them. */
  readonly webhook: Buffer
  /** Keys that are read with and never written with, while what they protect is moved to this one. */
  readonly previous: readonly Keys[]
}

/** Derives every key from `secret` by HKDF-SHA-256; `previous` secrets are read with as well. */
export function keysFrom(secret: string, previous: readonly string[] = []): Keys {
  const derive = (use: string, bytes = 32) =>
    Buffer.from(hkdfSync('sha256', secret, 'countersign service', use, bytes))
  return {
    id: derive('key id', 6).toString('hex'),
    codes: derive('delivered codes'),
    backup: derive('backup codes'),
    sealing: derive('sealing'),
    references: derive('log references'),
    webhook: derive('webhook signature'),
    previous: previous.filter((other) => other !== secret).map((other) => keysFrom(other)),
  }
}

/** Every key that is read with, the one that is written with first. */
export function allKeys(keys: Keys): readonly Keys[] {
  return [keys, ...keys.previous]
}

/** The key of that id, if it is ours. */
export function keyById(keys: Keys, id: string): Keys | undefined {
  return allKeys(keys).find((key) => key.id === id)
}

/** A keyed hash as it is stored: with the id of its key, so that a store tells which keys it depends on. */
export function withKeyId(keys: Keys, hash: string): string {
  return `${keys.id}.${hash}`
}

/** The id of the key that a stored hash was made with. */
export function keyIdOf(stored: string): string {
  return stored.slice(0, stored.indexOf('.'))
}

/** HMAC-SHA-256 over several parts, so written that no two lists of parts give the same text. */
export function mac(key: Buffer, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest()
}
