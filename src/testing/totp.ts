import { createHmac } from 'node:crypto'

const STEP_MS = 30_000
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The number of the 30 seconds that a moment lies in. */
export function stepAt(ms: number): number {
  return Math.floor(ms / STEP_MS)
}

/** What an authenticator app with this base32 secret shows: six digits, SHA-1, 30 seconds (RFC 6238). */
export function totpCode(secret: string, at = Date.now()): string {
  const moment = Buffer.alloc(8)
  moment.writeBigUInt64BE(BigInt(stepAt(at)))
  const mac = createHmac('sha1', decode(secret)).update(moment).digest()
  // RFC 4226 §5.3: the low four bits of the last byte say where the number begins.
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000
  return String(number).padStart(6, '0')
}

/** A base32 secret of as many bytes. */
export function encode(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}

function decode(secret: string): Buffer {
  const letters = [...secret.toUpperCase().replaceAll(/[\s=-]/g, '')]
  const bits = letters.map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
