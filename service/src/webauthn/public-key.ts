import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { base64urlOf } from './base64url.js'

/** The algorithms of keys, with their number in COSE, in the order in which they are preferred. */
export const COSE_ALGORITHM = { EdDSA: -8, ES256: -7, ES384: -35, ES512: -36, RS256: -257 } as const

type AlgorithmName = keyof typeof COSE_ALGORITHM

// RFC 9053 §7: the labels of COSE keys, and their key types and curves.
const [KTY, ALG, CURVE, X, Y, N, E] = [1, 3, -1, -2, -3, -1, -2]
const CURVES: Readonly<
  Record<Exclude<AlgorithmName, 'RS256'>, readonly [kty: number, curve: number, name: string]>
> = {
  EdDSA: [1, 6, 'Ed25519'],
  ES256: [2, 1, 'P-256'],
  ES384: [2, 2, 'P-384'],
  ES512: [2, 3, 'P-521'],
}
const MIN_RSA_BITS = 2_048

/**
 * The algorithm of a COSE key: `unknown` if it is none of ours, `undefined` if the key cannot be used with the algorithm that it
 * names, such as a point that is not on its curve.
 */
export function algorithmOf(publicKey: Uint8Array<ArrayBuffer>): AlgorithmName | 'unknown' | undefined {
  try {
    const cose = decodeCredentialPublicKey(publicKey) as unknown as ReadonlyMap<number, unknown>
    const names = Object.keys(COSE_ALGORITHM) as AlgorithmName[]
    const name = names.find((one) => COSE_ALGORITHM[one] === cose.get(ALG))
    if (!name) return typeof cose.get(ALG) === 'number' ? 'unknown' : undefined
    const jwk = name === 'RS256' ? rsaKey(cose) : curveKey(cose, name)
    if (!jwk) return undefined
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
    const bits = asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS
    return bits >= MIN_RSA_BITS ? name : undefined
  } catch {
    return undefined
  }
}

function curveKey(
  cose: ReadonlyMap<number, unknown>,
  name: Exclude<AlgorithmName, 'RS256'>,
): JsonWebKey | undefined {
  const [kty, curve, crv] = CURVES[name]
  if (cose.get(KTY) !== kty || cose.get(CURVE) !== curve) return undefined
  const [x, y] = [member(cose, X), member(cose, Y)]
  if (!x) return undefined
  if (name === 'EdDSA') return { kty: 'OKP', crv, x }
  return y ? { kty: 'EC', crv, x, y } : undefined
}

function rsaKey(cose: ReadonlyMap<number, unknown>): JsonWebKey | undefined {
  const [n, e] = [member(cose, N), member(cose, E)]
  return cose.get(KTY) === 3 && n && e ? { kty: 'RSA', n, e } : undefined
}

function member(cose: ReadonlyMap<number, unknown>, label: number): string | undefined {
  const value = cose.get(label)
  return value instanceof Uint8Array ? base64urlOf(value) : undefined
}
