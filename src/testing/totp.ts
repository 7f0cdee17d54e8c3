import { createHmac } from 'node:crypto'

const STEP_MS = 30_000
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The 30-second time step of a time in milliseconds since 1970. */
export function stepAt(ms: number): number {
  return Math.floor(ms / STEP_MS)
}

/**
 * The code that an authenticator app with this base32 secret shows at the time `at`: six digits, SHA-1, 30 seconds
 * (RFC 6238).
 */
export function totpCode(secret: string, at = Date.now()): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(stepAt(at)))
  const mac = createHmac('sha1', base32Decode(secret)).update(counter).digest()
  // RFC 4226 §5.3: the low four bits of the last byte are the offset of the number.
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000
  return String(number).padStart(6, '0')
}

/** Encodes bytes in base32. */
export function base32Encode(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}

function base32Decode(secret: string): Buffer {
  const letters = [...secret.toUpperCase().replaceAll(/[\s=-]/g, '')]
  const bits = letters.map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
