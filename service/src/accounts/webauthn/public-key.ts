import { type AsymmetricKeyDetails, createPublicKey, type JsonWebKey } from 'node:crypto'
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { base64urlOf } from './authenticator-data.js'
import { COSE_ALGORITHM } from './options.js'

type AlgorithmName = keyof typeof COSE_ALGORITHM

// RFC 9053 §7: the labels of COSE keys, and their key types and curves.
const [KTY, ALG, CURVE, X, Y, N, E] = [1, 3, -1, -2, -3, -1, -2]
const CURVES: Readonly<
  Record<
    Exclude<AlgorithmName, 'RS256'>,
    readonly [kty: number, curve: number, name: string, coordinateBytes: number]
  >
> = {
  EdDSA: [1, 6, 'Ed25519', 32],
  ES256: [2, 1, 'P-256', 32],
  ES384: [2, 2, 'P-384', 48],
  ES512: [2, 3, 'P-521', 66],
}
// Verifying takes longer with each bit, and authenticators have no longer keys.
const RSA_BITS = { min: 2_048, max: 8_192 } as const
// FIPS 186-5 §5.4. With the exponent 1, a message is its own signature.
const RSA_EXPONENT = { above: 2n ** 16n, below: 2n ** 256n } as const

/** The algorithm of a COSE key: `unknown` if not one of ours, `undefined` for a key that is invalid or proves nothing, as RSA with exponent 1 (R107). */
export function algorithmOf(publicKey: Uint8Array<ArrayBuffer>): AlgorithmName | 'unknown' | undefined {
  try {
    const cose = decodeCredentialPublicKey(publicKey) as unknown as ReadonlyMap<number, unknown>
    const names = Object.keys(COSE_ALGORITHM) as AlgorithmName[]
    const name = names.find((one) => COSE_ALGORITHM[one] === cose.get(ALG))
    if (!name) return typeof cose.get(ALG) === 'number' ? 'unknown' : undefined
    const jwk = name === 'RS256' ? rsaKey(cose) : curveKey(cose, name)
    if (!jwk) return undefined
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
    return name !== 'RS256' || isSoundRsaKey(asymmetricKeyDetails, cose) ? name : undefined
  } catch {
    return undefined
  }
}

function curveKey(
  cose: ReadonlyMap<number, unknown>,
  name: Exclude<AlgorithmName, 'RS256'>,
): JsonWebKey | undefined {
  const [kty, curve, crv, coordinateBytes] = CURVES[name]
  if (cose.get(KTY) !== kty || cose.get(CURVE) !== curve) return undefined
  const [x, y] = [member(cose, X), member(cose, Y)]
  if (x?.length !== coordinateBytes) return undefined
  if (name === 'EdDSA') return isEdwardsKey(x) ? { kty: 'OKP', crv, x: base64urlOf(x) } : undefined
  return y?.length === coordinateBytes ? { kty: 'EC', crv, x: base64urlOf(x), y: base64urlOf(y) } : undefined
}

function rsaKey(cose: ReadonlyMap<number, unknown>): JsonWebKey | undefined {
  const [n, e] = [member(cose, N), member(cose, E)]
  return cose.get(KTY) === 3 && n && e ? { kty: 'RSA', n: base64urlOf(n), e: base64urlOf(e) } : undefined
}

function isSoundRsaKey(
  { modulusLength = 0, publicExponent = 0n }: AsymmetricKeyDetails = {},
  cose: ReadonlyMap<number, unknown>,
): boolean {
  const isLong = modulusLength >= RSA_BITS.min && modulusLength <= RSA_BITS.max
  const isOdd = publicExponent % 2n === 1n && (member(cose, N)?.at(-1) ?? 0) % 2 === 1
  return isLong && isOdd && publicExponent > RSA_EXPONENT.above && publicExponent < RSA_EXPONENT.below
}

function member(cose: ReadonlyMap<number, unknown>, label: number): Uint8Array | undefined {
  const value = cose.get(label)
  return value instanceof Uint8Array ? value : undefined
}

// RFC 8032 §5.1: the field and the constant of the curve.
const FIELD = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const SIGN = 1n << 255n
/** The y of the points of order 8, apart from its sign. */
const Y_OF_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n
const SMALL_ORDER = [0n, 1n, FIELD - 1n, Y_OF_ORDER_8, FIELD - Y_OF_ORDER_8]

/** Whether bytes encode a point that can be a public key. OpenSSL accepts any, but for one of small order, everybody can sign. */
function isEdwardsKey(bytes: Uint8Array): boolean {
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
