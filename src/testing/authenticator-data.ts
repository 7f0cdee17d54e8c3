import { generateKeyPairSync, hash, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto'
import type { KeyFlags } from './key-ceremony.js'

/** The data that an authenticator signs, beside the hash of the client data. */
interface AuthenticatorData {
  readonly rpId: string
  readonly flags: KeyFlags
  readonly counter: number
  /** The new credential of a registration, as `encodeAttestedCredential` writes it. */
  readonly credential?: Buffer | undefined
}

/** Encodes authenticator data (WebAuthn §6.1). */
export function authenticatorData({ rpId, flags, counter, credential }: AuthenticatorData): Buffer {
  const bits = [
    flags.userPresent,
    false,
    flags.userVerified,
    flags.backupEligible,
    flags.backedUp,
    false,
    credential,
  ]
  const rest = Buffer.alloc(5)
  rest.writeUInt8(bits.reduce((byte, bit, index) => byte | (bit ? 1 << index : 0), 0))
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([hash('sha256', rpId, 'buffer'), rest, ...(credential ? [credential] : [])])
}

/** Encodes attested credential data (WebAuthn §6.5.2). */
export function encodeAttestedCredential(aaguid: string, id: Buffer, key: CredentialKey): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  return Buffer.concat([Buffer.from(aaguid.replaceAll('-', ''), 'hex'), length, id, key.cose])
}

/** Writes an attestation object (WebAuthn §6.5.4). With an algorithm, it is a `packed` self attestation, otherwise `none`. */
export function attestationObject(authData: Buffer, alg: number | undefined, sign: () => Buffer): Buffer {
  const statement: [string, CborValue][] =
    alg === undefined
      ? []
      : [
          ['alg', alg],
          ['sig', sign()],
        ]
  return encodeCbor(
    new Map<string, CborValue>([
      ['fmt', alg === undefined ? 'none' : 'packed'],
      ['attStmt', new Map(statement)],
      ['authData', authData],
    ]),
  )
}

/** Signs authenticator data with the client data of a ceremony. */
export function signCeremony(key: CredentialKey, authData: Buffer, clientData: Buffer): Buffer {
  return key.sign(Buffer.concat([authData, hash('sha256', clientData, 'buffer')]))
}

/** A value that `encodeCbor` writes. Map entries are written in the order of the map. */
export type CborValue =
  | number
  | string
  | Uint8Array
  | readonly CborValue[]
  | ReadonlyMap<number | string, CborValue>

/** Encodes a value in CBOR (RFC 8949), each length in its shortest form, as authenticators do. */
export function encodeCbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([head(3, text.length), text])
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if ('length' in value) return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)])
  const entries = [...value].flatMap((entry) => entry.map(encodeCbor))
  return Buffer.concat([head(5, value.size), ...entries])
}

function head(majorType: number, argument: number): Buffer {
  const first = majorType << 5
  if (argument < 24) return Buffer.from([first | argument])
  if (argument < 0x100) return Buffer.from([first | 24, argument])
  if (argument < 0x1_0000) return Buffer.from([first | 25, argument >> 8, argument & 0xff])
  const bytes = Buffer.alloc(5)
  bytes.writeUInt8(first | 26)
  bytes.writeUInt32BE(argument, 1)
  return bytes
}

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

/** Creates the key pair of a credential. */
export function createCredentialKey(algorithm: KeyAlgorithm): CredentialKey {
  const { publicKey, privateKey } = generate(algorithm)
  return {
    cose: coseKey(algorithm, publicKey),
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    sign: (data) => sign(DIGESTS[algorithm], data, privateKey),
  }
}

function generate(algorithm: KeyAlgorithm): KeyPairKeyObjectResult {
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
