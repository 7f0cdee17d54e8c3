// RFC 8032 §5.1: the field and the constant of the curve.
const FIELD = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const SIGN = 1n << 255n
/** The y of the points of order 8, apart from its sign. */
const Y_OF_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n
const SMALL_ORDER = [0n, 1n, FIELD - 1n, Y_OF_ORDER_8, FIELD - Y_OF_ORDER_8]

/**
 * Whether bytes are the one encoding of a point of Ed25519 that can be a public key. For a point of small order, such as the
 * identity, everybody can sign. OpenSSL accepts any 32 bytes.
 */
export function isEdwardsKey(bytes: Uint8Array): boolean {
  const encoded = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
  const y = encoded % SIGN
  if (bytes.length !== 32 || y >= FIELD || SMALL_ORDER.includes(y)) return false
  const squared = (y * y) % FIELD
  // x² = (y² − 1) / (dy² + 1); whether a quotient is a square, the product says as well.
  return isSquare(((squared - 1n) * (D * squared + 1n)) % FIELD)
}

/** Euler's criterion; zero belongs to points of small order. */
function isSquare(value: bigint): boolean {
  let result = 1n
  let base = value
  for (let exponent = (FIELD - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % FIELD
    base = (base * base) % FIELD
  }
  return result === 1n
}
