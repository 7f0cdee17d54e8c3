import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { encodeCbor } from './cbor.js'

/** The COSE numbers of the algorithms with which a software authenticator can sign. */
export const KEY_ALGORITHMS = { ES256: -7, EdDSA: -8, ES384: -35, RS256: -257 } as const

/** An algorithm with which a software authenticator can sign. */
export type KeyAlgorithm = keyof typeof KEY_ALGORITHMS

const DIGESTS = { ES256: 'sha256', EdDSA: null, ES384: 'sha384', RS256: 'sha256' } as const

/** The key pair of a credential. */
export interface CredentialKey {
  /** The public key as COSE_Key (RFC 9052 §7). */
  readonly cose: Buffer
  /** The public key as SubjectPublicKeyInfo. */
  readonly spki: Buffer
  /** Signs data in the format that WebAuthn §6.5.5 asks for. */
  sign(data: Uint8Array): Buffer
}

/** Creates a key pair. */
export function createCredentialKey(algorithm: KeyAlgorithm): CredentialKey {
  const { publicKey, privateKey } = generate(algorithm)
  return {
    cose: coseKey(algorithm, publicKey),
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    sign: (data) => sign(DIGESTS[algorithm], data, privateKey),
  }
}

function generate(algorithm: KeyAlgorithm): {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
} {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (algorithm === 'ES384') return generateKeyPairSync('ec', { namedCurve: 'P-384' })
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

const KEY_TYPES = { OKP: 1, EC: 2, RSA: 3 } as const
const CURVES = { ES256: 1, ES384: 2, EdDSA: 6 } as const

function coseKey(algorithm: KeyAlgorithm, publicKey: KeyObject): Buffer {
  const jwk = publicKey.export({ format: 'jwk' })
  const bytes = (name: 'x' | 'y' | 'n' | 'e') => Buffer.from(jwk[name] ?? '', 'base64url')
  const alg = KEY_ALGORITHMS[algorithm]
  if (algorithm === 'RS256') {
    return encodeCbor(labels([1, KEY_TYPES.RSA], [3, alg], [-1, bytes('n')], [-2, bytes('e')]))
  }
  const curve = CURVES[algorithm]
  if (algorithm === 'EdDSA') {
    return encodeCbor(labels([1, KEY_TYPES.OKP], [3, alg], [-1, curve], [-2, bytes('x')]))
  }
  return encodeCbor(labels([1, KEY_TYPES.EC], [3, alg], [-1, curve], [-2, bytes('x')], [-3, bytes('y')]))
}

function labels(...entries: readonly (readonly [number, number | Buffer])[]) {
  return new Map(entries)
}
