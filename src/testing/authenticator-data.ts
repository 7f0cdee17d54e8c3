import { createHash } from 'node:crypto'
import { type CborValue, encodeCbor } from './cbor.js'
import type { CredentialKey } from './credential-key.js'
import type { KeyFlags } from './key-ceremony.js'

/** What an authenticator signs, beside the hash of the client data. */
interface AuthenticatorData {
  readonly rpId: string
  readonly flags: KeyFlags
  readonly counter: number
  /** The new credential of a registration, as `attestedCredential` writes it. */
  readonly credential?: Buffer | undefined
}

/** Writes authenticator data (WebAuthn §6.1). */
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
  return Buffer.concat([sha256(rpId), rest, ...(credential ? [credential] : [])])
}

/** Writes attested credential data (WebAuthn §6.5.1). */
export function attestedCredential(aaguid: string, id: Buffer, key: CredentialKey): Buffer {
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
  return key.sign(Buffer.concat([authData, sha256(clientData)]))
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}
