import { createHash, generateKeyPairSync } from 'node:crypto'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCbor } from '../../../src/testing/authenticator-data.js'
import { type SoftwareRegistration, softwareAuthenticator } from '../../../src/testing/index.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { KEY_ALGORITHMS } from '../../src/accounts/application.js'
import { DEFAULT_KEY_POLICY } from '../../src/accounts/applications/key-settings.js'
import { apiOver } from '../api-kit.js'
import { API_KEY, type Bench, freshEmail, freshTenant, listen, openBench } from '../kit.js'
import { KEY_PAGE, RELYING_PARTY } from '../software-key.js'

/*
 * An attacker who can register a key once, for example at an unlocked computer, would like one with which everybody can sign, or whose
 * signatures can be computed later without the authenticator.
 */

const ES256 = -7
const ES384 = -35
const EDDSA = -8
const RS256 = -257
const [OKP, EC, RSA] = [1, 2, 3]
const [P256, P384, X25519, ED25519, ED448, SECP256K1] = [1, 2, 4, 6, 7, 8]
const F65537 = Buffer.from([1, 0, 1])
const FIELD = 2n ** 255n - 19n

type Label = readonly [label: number, value: number | Buffer]

const rsaKey = (n: Buffer, e: Buffer): Label[] => [
  [1, RSA],
  [3, RS256],
  [-1, n],
  [-2, e],
]
const curveKey = (kty: number, alg: number, curve: number, x: Buffer, y?: Buffer): Label[] => [
  [1, kty],
  [3, alg],
  [-1, curve],
  [-2, x],
  ...(y ? ([[-3, y]] as const) : []),
]
const edKey = (x: Buffer): Label[] => curveKey(OKP, EDDSA, ED25519, x)

const modulus = (bits: number) =>
  Buffer.from(
    generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' }).n ?? '',
    'base64url',
  )
const point = (namedCurve: string) => {
  const { x, y } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
  return [Buffer.from(x ?? '', 'base64url'), Buffer.from(y ?? '', 'base64url')] as const
}
/** The encoding of a point of Ed25519 (RFC 8032 §5.1.2), which may be none. */
const encoded = (y: bigint, isOdd = false) => {
  const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse()
  if (isOdd) bytes.writeUInt8(bytes.readUInt8(31) | 0x80, 31)
  return bytes
}
const withBit = (bytes: Buffer, bit: 0 | 1) => {
  const copy = Buffer.from(bytes)
  copy.writeUInt8((copy.readUInt8(copy.length - 1) & 0xfe) | bit, copy.length - 1)
  return copy
}
const zero = Buffer.alloc(1)

const N = modulus(2_048)
const [X, Y] = point('P-256')
const [X384, Y384] = point('P-384')
const [XK, YK] = point('secp256k1')
/** The y of a point of order 8. */
const Y8 = Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex')
const IDENTITY = encoded(1n)

const WEAK: readonly [what: string, key: readonly Label[]][] = [
  ['an RSA key whose signatures are the messages (e = 1)', rsaKey(N, Buffer.from([1]))],
  ['an RSA key with e = 0', rsaKey(N, zero)],
  ['an RSA key with e = 2', rsaKey(N, Buffer.from([2]))],
  ['an RSA key with e = 3', rsaKey(N, Buffer.from([3]))],
  ['an RSA key with an even exponent', rsaKey(N, Buffer.from([1, 0, 0]))],
  ['an RSA key with an exponent of more than 256 bits', rsaKey(N, Buffer.alloc(33, 0xff))],
  ['an RSA key with an even modulus', rsaKey(withBit(N, 0), F65537)],
  ['an RSA key of 1,024 bits', rsaKey(modulus(1_024), F65537)],
  ['an RSA key of 2,040 bits', rsaKey(modulus(2_040), F65537)],
  [
    'an RSA key of 1,024 bits that zeros make longer',
    rsaKey(Buffer.concat([Buffer.alloc(128), modulus(1_024)]), F65537),
  ],
  ['an RSA key of 16,384 bits, which takes long to verify', rsaKey(Buffer.alloc(2_048, 0xff), F65537)],
  ['the identity of Ed25519, for which everybody can sign', edKey(IDENTITY)],
  ['the identity of Ed25519 with the other sign', edKey(encoded(1n, true))],
  ['the identity of Ed25519 in an encoding that is not canonical', edKey(encoded(FIELD + 1n))],
  ['a point of Ed25519 of order 2', edKey(encoded(FIELD - 1n))],
  ['a point of Ed25519 of order 4', edKey(encoded(0n))],
  ['another point of Ed25519 of order 4', edKey(encoded(0n, true))],
  ['a point of order 4 in an encoding that is not canonical', edKey(encoded(FIELD))],
  ['a point of Ed25519 of order 8', edKey(Y8)],
  ['no point of Ed25519', edKey(encoded(2n))],
  ['31 bytes for Ed25519', edKey(IDENTITY.subarray(1))],
  ['33 bytes for Ed25519', edKey(Buffer.concat([IDENTITY, zero]))],
  ['a point of Ed448', curveKey(OKP, EDDSA, ED448, Buffer.alloc(57, 5))],
  ['a point of X25519', curveKey(OKP, EDDSA, X25519, Buffer.alloc(32, 9))],
  ['a point that is not on P-256', curveKey(EC, ES256, P256, X, withBit(Y, Y.readUInt8(31) & 1 ? 0 : 1))],
  ['the origin for P-256', curveKey(EC, ES256, P256, Buffer.alloc(32), Buffer.alloc(32))],
  ['an x that is larger than the field of P-256', curveKey(EC, ES256, P256, Buffer.alloc(32, 0xff), Y)],
  ['an x of 31 bytes', curveKey(EC, ES256, P256, X.subarray(1), Y)],
  ['an x of 33 bytes', curveKey(EC, ES256, P256, Buffer.concat([zero, X]), Y)],
  ['a y of 33 bytes', curveKey(EC, ES256, P256, X, Buffer.concat([zero, Y]))],
  ['no y', curveKey(EC, ES256, P256, X)],
  ['a point of secp256k1', curveKey(EC, ES256, SECP256K1, XK, YK)],
  ['a point of secp256k1 that claims P-256', curveKey(EC, ES256, P256, XK, YK)],
  ['a point of P-384 for ES256', curveKey(EC, ES256, P384, X384, Y384)],
  ['a point of P-256 for ES384', curveKey(EC, ES384, P256, X, Y)],
  ['the key type of RSA with a point', curveKey(RSA, ES256, P256, X, Y)],
  ['the algorithm of RSA with a point', curveKey(EC, RS256, P256, X, Y)],
  ['the algorithm of P-256 with a point of Ed25519', curveKey(OKP, ES256, ED25519, encoded(9n))],
]

describe('an attacker who registers a weak public key (R70, R107)', () => {
  let bench: Bench
  let address: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    bench = await openBench()
    const keyPolicy = { ...DEFAULT_KEY_POLICY, algorithms: KEY_ALGORITHMS }
    const { application } = freshTenant(bench, { relyingParty: RELYING_PARTY, keyPolicy })
    address = await listen(apiOver(bench.context, application))
  })
  afterAll(async () => {
    await address.close()
    await bench.close()
  })

  const post = async (path: string, parameters: object) => {
    const response = await fetch(`${address.url}/v1/mfa/keys/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ Type: 'PASSKEY', Transaction: 'one', ...parameters }),
    })
    return { status: response.status, body: await response.json() }
  }

  /** Registers a passkey, with a response that `change` may change. */
  async function register(
    User: string,
    change: (response: SoftwareRegistration) => object = (response) => response,
    device = softwareAuthenticator(),
  ) {
    const { body } = await post('registration/options', { User })
    const response = change(device.create(body.options, KEY_PAGE))
    return post('registration/verify', { User, Response: JSON.stringify(response) })
  }

  /** The same response with another public key, which nothing signs. */
  const withKey = (labels: readonly Label[]) => (registration: SoftwareRegistration) => {
    const { response } = registration
    const authData = decodeAttestationObject(
      new Uint8Array(Buffer.from(response.attestationObject, 'base64url')),
    ).get('authData')
    const idLength = Buffer.from(authData).readUInt16BE(53)
    const changed = encodeCbor(
      new Map<string, string | Uint8Array | ReadonlyMap<number, number>>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', Buffer.concat([authData.subarray(0, 55 + idLength), encodeCbor(new Map(labels))])],
      ]),
    )
    return { ...registration, response: { ...response, attestationObject: changed.toString('base64url') } }
  }

  test('is refused with any of them', () =>
    everyCase(WEAK, async ([_what, key]) => {
      const { email } = freshEmail()
      const answer = await register(email, withKey(key))
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_key', fault: 'malformed' } })
      expect(await post('list', { User: email })).toMatchObject({ body: { keys: [] } })
    }))

  test('has sound keys accepted in the same way', () =>
    everyCase(
      [
        ['RSA', rsaKey(N, F65537)],
        ['Ed25519', edKey(ed25519Point())],
        ['P-256', curveKey(EC, ES256, P256, X, Y)],
        ['P-384', curveKey(EC, ES384, P384, X384, Y384)],
      ],
      async ([_what, key]) => {
        expect(await register(freshEmail().email, withKey(key))).toMatchObject({ status: 200 })
      },
    ))

  test('cannot sign for a stored key of that kind', () =>
    everyCase(
      [
        ['RSA with e = 1', rsaKey(N, Buffer.from([1])), paddedDigest],
        ['the identity of Ed25519', edKey(IDENTITY), () => Buffer.concat([IDENTITY, Buffer.alloc(32)])],
      ],
      async ([_what, key, forge]) => {
        const { email: User } = freshEmail()
        const device = softwareAuthenticator()
        const { body } = await register(User, undefined, device)
        const stored = encodeCbor(new Map(key)).toString('base64url')
        await bench.store.query('UPDATE account_key SET public_key = $2 WHERE id = $1', [body.key.id, stored])
        const prepared = await post('authentication/options', { User, Purpose: 'sign-in' })
        const { response, ...rest } = device.get(prepared.body.options, KEY_PAGE)
        const signed = Buffer.concat([
          Buffer.from(response.authenticatorData, 'base64url'),
          createHash('sha256').update(Buffer.from(response.clientDataJSON, 'base64url')).digest(),
        ])
        const forged = { ...rest, response: { ...response, signature: forge(signed).toString('base64url') } }
        const answer = await post('authentication/verify', {
          User,
          Purpose: 'sign-in',
          Response: JSON.stringify(forged),
        })
        expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_key', fault: 'signature' } })
      },
    ))
})

function ed25519Point(): Buffer {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url')
}

/** The padded digest of PKCS #1 v1.5 (RFC 8017 §9.2), which is its own signature if e is 1. */
function paddedDigest(signed: Buffer): Buffer {
  const sha256 = Buffer.from('3031300d060960864801650304020105000420', 'hex')
  const digest = Buffer.concat([sha256, createHash('sha256').update(signed).digest()])
  const padding = Buffer.alloc(N.length - digest.length - 3, 0xff)
  return Buffer.concat([Buffer.from([0, 1]), padding, zero, digest])
}
