import { type AsymmetricKeyDetails, createPublicKey, type JsonWebKey } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { tryTo } from '../../try-to.js'
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
export function findAlgorithm(publicKey: Uint8Array<ArrayBuffer>): AlgorithmName | 'unknown' | undefined {
  return tryTo(() => {
    const cose = decodeCredentialPublicKey(publicKey) as unknown as ReadonlyMap<number, unknown>
    const names = Object.keys(COSE_ALGORITHM) as AlgorithmName[]
    const name = names.find((candidate) => COSE_ALGORITHM[candidate] === cose.get(ALG))
    if (!name) return typeof cose.get(ALG) === 'number' ? 'unknown' : undefined
    const jwk = name === 'RS256' ? rsaKey(cose) : curveKey(cose, name)
    if (!jwk) return undefined
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
    return name !== 'RS256' || isSoundRsaKey(asymmetricKeyDetails, cose) ? name : undefined
  })
}

function curveKey(cose: ReadonlyMap<number, unknown>, name: Exclude<AlgorithmName, 'RS256'>) {
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

/** Whether bytes encode a point that can be a public key. Throws if they encode none. OpenSSL accepts any; for one of small order, anyone can forge signatures. */
function isEdwardsKey(bytes: Uint8Array): boolean {
  return !ed25519.Point.fromBytes(bytes).isSmallOrder()
}
