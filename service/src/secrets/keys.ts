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
}

/** Derives every key from `secret` by HKDF-SHA-256. */
export function keysFrom(secret: string): Keys {
  const derive = (use: string, bytes = 32) =>
    Buffer.from(hkdfSync('sha256', secret, 'countersign service', use, bytes))
  return {
    id: derive('key id', 6).toString('hex'),
    codes: derive('delivered codes'),
    backup: derive('backup codes'),
    sealing: derive('sealing'),
    references: derive('log references'),
    webhook: derive('webhook signature'),
  }
}

/** HMAC-SHA-256 over several parts, so written that no two lists of parts give the same text. */
export function mac(key: Buffer, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest()
}
