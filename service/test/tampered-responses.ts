import { randomBytes } from 'node:crypto'
import type { KeyFault } from 'countersign/protocol'
import { type CborValue, encodeCbor } from '../../src/testing/authenticator-data.js'
import type { KeyPage } from '../../src/testing/index.js'
import { KEY_PAGE } from './software-key.js'

/** A fault of a response, or an invalid request, which is not evaluated. */
export type Refusal = KeyFault | 'invalid_request'

/** A response with one fault. */
export interface Case {
  readonly wrong: string
  readonly refusal: Refusal
  /** The faults of the browser or the authenticator. */
  readonly page?: Partial<KeyPage>
  /** Changes the response afterwards. */
  readonly change?: (response: Response) => object
}

/** A response, whose members are changed at will. */
export interface Response {
  readonly id: string
  readonly rawId: string
  readonly response: Readonly<Record<string, unknown>> & { readonly clientDataJSON: string }
}

const OTHER_SITE = 'https://badexample.com'
const FRAMED = 'https://partner.example'
const UNKNOWN_ID = randomBytes(32).toString('base64url')

const text = (value: unknown) => Buffer.from(String(value), 'base64url').toString()
const bytes = (value: unknown) => Buffer.from(String(value), 'base64url')
const base64url = (value: Uint8Array | string) => Buffer.from(value).toString('base64url')

/** Changes a member of the authenticator's or the browser's part. */
const inside =
  (name: string, to: (value: unknown) => unknown) =>
  ({ response, ...rest }: Response) => ({ ...rest, response: { ...response, [name]: to(response[name]) } })

const clientData = (to: (json: string) => string) =>
  inside('clientDataJSON', (value) => base64url(to(text(value))))
const flipBit = (value: unknown, index = -1) => {
  const copy = bytes(value)
  const at = index < 0 ? copy.length + index : index
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
  return base64url(copy)
}
const padded = (value: unknown) => `${String(value)}=`
const inBase64 = (value: unknown) => bytes(value).toString('base64')

/** The faults in every ceremony; `part` has the bytes of the authenticator. */
const inEvery = (part: 'attestationObject' | 'authenticatorData'): Case[] => [
  { wrong: 'another origin', refusal: 'origin', page: { origin: OTHER_SITE, relatedOrigins: [OTHER_SITE] } },
  { wrong: 'a subdomain that is not named', refusal: 'origin', page: { origin: 'https://evil.example.com' } },
  {
    wrong: 'http',
    refusal: 'origin',
    page: { changes: { clientData: { origin: 'http://app.example.com' } } },
  },
  { wrong: 'a port', refusal: 'origin', page: { origin: 'https://app.example.com:8443' } },
  {
    wrong: 'an origin with a slash',
    refusal: 'origin',
    page: { changes: { clientData: { origin: `${KEY_PAGE.origin}/` } } },
  },
  {
    wrong: 'an origin in capitals',
    refusal: 'origin',
    page: { changes: { clientData: { origin: 'https://APP.example.com' } } },
  },
  { wrong: 'a frame of another site', refusal: 'top_origin', page: { topOrigin: FRAMED } },
  {
    wrong: 'a frame of an unnamed site',
    refusal: 'top_origin',
    page: { changes: { clientData: { crossOrigin: true } } },
  },
  {
    wrong: 'a top origin without crossOrigin',
    refusal: 'top_origin',
    page: { changes: { clientData: { topOrigin: FRAMED } } },
  },
  {
    wrong: 'crossOrigin as text',
    refusal: 'malformed',
    page: { changes: { clientData: { crossOrigin: 'false' } } },
  },
  {
    wrong: 'another relying party',
    refusal: 'relying_party',
    page: { changes: { rpId: 'app.example.com' } },
  },
  {
    wrong: 'the type of the other ceremony',
    refusal: 'malformed',
    page: {
      changes: { clientData: { type: part === 'attestationObject' ? 'webauthn.get' : 'webauthn.create' } },
    },
  },
  {
    wrong: 'the type of a payment',
    refusal: 'malformed',
    page: { changes: { clientData: { type: 'payment.get' } } },
  },
  {
    wrong: 'a challenge that was never issued',
    refusal: 'challenge',
    page: { changes: { clientData: { challenge: UNKNOWN_ID } } },
  },
  {
    wrong: 'no challenge',
    refusal: 'malformed',
    page: { changes: { clientData: { challenge: undefined } } },
  },
  {
    wrong: 'no user presence',
    refusal: 'user_presence',
    page: { changes: { flags: { userPresent: false } } },
  },
  {
    wrong: 'no user verification',
    refusal: 'user_verification',
    page: { changes: { flags: { userVerified: false } } },
  },
  {
    wrong: 'a backup that is not possible',
    refusal: 'malformed',
    page: { changes: { flags: { backedUp: true } } },
  },
  {
    wrong: 'client data that are no JSON',
    refusal: 'malformed',
    change: clientData((json) => json.slice(0, -1)),
  },
  { wrong: 'client data that are a list', refusal: 'malformed', change: clientData((json) => `[${json}]`) },
  {
    wrong: 'client data in base64',
    refusal: 'invalid_request',
    change: inside('clientDataJSON', (value) => `${inBase64(value)}+/=`),
  },
  { wrong: 'padding', refusal: 'invalid_request', change: inside('clientDataJSON', padded) },
  {
    wrong: 'truncated bytes',
    refusal: 'malformed',
    change: inside(part, (value) => base64url(bytes(value).subarray(0, -1))),
  },
  {
    wrong: 'bytes behind the end',
    refusal: 'malformed',
    change: inside(part, (value) => base64url(Buffer.concat([bytes(value), Buffer.alloc(1)]))),
  },
  {
    wrong: 'authenticator bytes in base64',
    refusal: 'invalid_request',
    change: inside(part, (value) => `${inBase64(value)}+/=`),
  },
  { wrong: 'no authenticator bytes', refusal: 'invalid_request', change: inside(part, () => '') },
  { wrong: 'too many bytes', refusal: 'invalid_request', change: inside(part, () => 'A'.repeat(24_001)) },
  { wrong: 'a number for bytes', refusal: 'invalid_request', change: inside(part, () => 7) },
  {
    wrong: 'an id that is not the raw id',
    refusal: 'malformed',
    change: (response) => ({ ...response, rawId: UNKNOWN_ID }),
  },
  {
    wrong: 'an id in base64',
    refusal: 'invalid_request',
    change: (response) => ({ ...response, id: `${response.id}+/` }),
  },
  {
    wrong: 'another type of credential',
    refusal: 'invalid_request',
    change: (response) => ({ ...response, type: 'password' }),
  },
  { wrong: 'an extra field', refusal: 'invalid_request', change: (response) => ({ ...response, extra: 1 }) },
  { wrong: 'an extra field inside', refusal: 'invalid_request', change: inside('extra', () => 1) },
  { wrong: 'no response', refusal: 'invalid_request', change: ({ response: _, ...rest }) => rest },
]

/** The attestation object around other authenticator data. */
const attested = (to: (authenticatorData: Buffer) => Uint8Array, fmt = 'none') =>
  inside('attestationObject', (value) => {
    const whole = bytes(value)
    const data = to(whole.subarray(whole.length - AUTHENTICATOR_DATA))
    return base64url(
      encodeCbor(
        new Map<string, CborValue>([
          ['fmt', fmt],
          ['attStmt', new Map()],
          ['authData', data],
        ]),
      ),
    )
  })
// Hash, flags, counter, AAGUID, length, id and the 77 bytes of a COSE key for ES256.
const AUTHENTICATOR_DATA = 32 + 1 + 4 + 16 + 2 + 32 + 77

/** New credentials with a fault. */
export const REGISTRATIONS: readonly Case[] = [
  ...inEvery('attestationObject'),
  {
    wrong: 'the id of another credential',
    refusal: 'malformed',
    change: (response) => ({ ...response, id: UNKNOWN_ID, rawId: UNKNOWN_ID }),
  },
  {
    wrong: 'a transport that no database stores',
    refusal: 'invalid_request',
    change: inside('transports', () => ['usb\0']),
  },
  { wrong: 'no credential', refusal: 'malformed', change: attested((data) => data.subarray(0, 37)) },
  {
    wrong: 'a key that is not on its curve',
    refusal: 'malformed',
    change: attested((data) =>
      Buffer.concat([data.subarray(0, -1), Buffer.from([data.readUInt8(data.length - 1) ^ 1])]),
    ),
  },
  { wrong: 'a truncated key', refusal: 'malformed', change: attested((data) => data.subarray(0, -40)) },
  {
    wrong: 'CBOR that promises more than there is',
    refusal: 'malformed',
    change: inside('attestationObject', () => base64url(Buffer.from('bbffffffffffffffff', 'hex'))),
  },
  {
    wrong: 'CBOR that is nested deeply',
    refusal: 'malformed',
    change: inside('attestationObject', () => base64url(Buffer.alloc(18_000, 0x81))),
  },
  {
    wrong: 'CBOR that is no map',
    refusal: 'malformed',
    change: inside('attestationObject', () => base64url(encodeCbor('none'))),
  },
  {
    wrong: 'an attestation without its statement',
    refusal: 'attestation',
    change: attested((data) => data, 'packed'),
  },
]

/** Assertions with a fault. */
export const ASSERTIONS: readonly Case[] = [
  ...inEvery('authenticatorData'),
  {
    wrong: 'a signature with one bit changed',
    refusal: 'signature',
    change: inside('signature', (value) => flipBit(value)),
  },
  {
    wrong: 'another signature',
    refusal: 'signature',
    change: inside('signature', () => base64url(randomBytes(70))),
  },
  {
    wrong: 'a signature in base64',
    refusal: 'invalid_request',
    change: inside('signature', (value) => `${inBase64(value)}+/=`),
  },
  { wrong: 'no signature', refusal: 'invalid_request', change: inside('signature', () => undefined) },
  {
    wrong: 'a flag changed after the signature',
    refusal: 'signature',
    change: inside('authenticatorData', (value) => {
      const copy = bytes(value)
      copy.writeUInt8(copy.readUInt8(32) | 0x02, 32)
      return base64url(copy)
    }),
  },
  {
    wrong: 'a counter changed after the signature',
    refusal: 'signature',
    change: inside('authenticatorData', (value) => flipBit(value, 33)),
  },
  {
    wrong: 'client data changed after the signature',
    refusal: 'signature',
    change: clientData((json) => json.replace('{', '{ ')),
  },
  { wrong: 'a counter that stands still', refusal: 'counter', page: { changes: { counter: 1 } } },
  { wrong: 'a counter of zero', refusal: 'counter', page: { changes: { counter: 0 } } },
  {
    wrong: 'a key that can be synced now',
    refusal: 'backup_eligibility',
    page: { changes: { flags: { backupEligible: true } } },
  },
  {
    wrong: 'a credential that nobody has',
    refusal: 'unknown_key',
    change: (response) => ({ ...response, id: UNKNOWN_ID, rawId: UNKNOWN_ID }),
  },
  {
    wrong: 'the user handle of nobody',
    refusal: 'user_handle',
    change: inside('userHandle', () => UNKNOWN_ID),
  },
  {
    wrong: 'a user handle in base64',
    refusal: 'invalid_request',
    change: inside('userHandle', () => 'ab+/'),
  },
]
