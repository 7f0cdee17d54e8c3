/** Decodes base64url without padding. `undefined` if it has another alphabet, or bits that belong to no byte. */
export function bytesFrom(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : undefined
}

/** Encodes bytes as base64url without padding. */
export function base64urlOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
