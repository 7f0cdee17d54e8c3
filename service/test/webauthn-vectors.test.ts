import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY_ALGORITHMS } from '../src/accounts/application.js'
import { DEFAULT_KEY_POLICY } from '../src/accounts/applications/key-settings.js'
import { type Bench, freshEmail, freshTenant, openBench } from './kit.js'
import { keysOf } from './software-key.js'
import vectors from './webauthn-vectors.json' with { type: 'json' }

/*
 * The test vectors of WebAuthn Level 3, §16 (https://www.w3.org/TR/webauthn-3/#sctn-test-vectors), without that of Ed448, which we do
 * not offer. They follow from the rules of `test-vectors/webauthn-test-vectors.py` in the repository w3c/webauthn: all values from
 * HKDF-SHA-256 with the key "WebAuthn test vectors", the signatures deterministic (RFC 6979). `webauthn-vectors.json` has the client
 * data as text, and the bytes in hexadecimal as the specification does.
 */

const ORIGIN = 'https://example.org'
const TOP_ORIGIN = 'https://example.com'
const CEREMONY = { method: 'security-key', transaction: 'vector' } as const

type Vector = (typeof vectors.vectors)[number]

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

/** An application with a relying party as in the vectors, and one account of it. */
function tenant(topOrigins: readonly string[] = [TOP_ORIGIN]) {
  const relyingParty = {
    id: 'example.org',
    name: 'Vectors',
    origins: [ORIGIN],
    relatedOrigins: [],
    topOrigins,
  }
  const keyPolicy = { ...DEFAULT_KEY_POLICY, algorithms: KEY_ALGORITHMS }
  const { mfa, application } = freshTenant(bench, { relyingParty, keyPolicy })
  return { keys: keysOf(mfa), application: application.id, user: { account: 'ann', contact: freshEmail() } }
}
type Tenant = ReturnType<typeof tenant>

/** Replaces the random challenge of the account's only ceremony by the one in client data. */
async function plant(application: string, clientData: string): Promise<void> {
  const { challenge } = JSON.parse(clientData)
  const hash = createHash('sha256').update(challenge).digest('base64url')
  await bench.store.query('UPDATE key_challenge SET hash = $2 WHERE application = $1', [application, hash])
}

async function register(at: Tenant, { registration }: Vector) {
  const { clientDataJSON, attestationObject } = registration
  await at.keys.registrationOptions({ ...at.user, ...CEREMONY })
  await plant(at.application, clientDataJSON)
  const id = credentialIdIn(attestationObject)
  const response = {
    ...credential(id),
    response: {
      clientDataJSON: encoded(clientDataJSON),
      attestationObject: encoded(attestationObject, 'hex'),
    },
  }
  return { id, answer: await at.keys.register({ ...at.user, ...CEREMONY, response }) }
}

async function authenticate(at: Tenant, id: string, { authentication }: Vector) {
  const { clientDataJSON, authenticatorData, signature } = authentication
  const ceremony = { ...at.user, ...CEREMONY, purpose: 'sign-in' } as const
  await at.keys.authenticationOptions(ceremony)
  await plant(at.application, clientDataJSON)
  const response = {
    ...credential(id),
    response: {
      clientDataJSON: encoded(clientDataJSON),
      authenticatorData: encoded(authenticatorData, 'hex'),
      signature: encoded(signature, 'hex'),
    },
  }
  return at.keys.authenticate({ ...ceremony, response })
}

function encoded(text: string, encoding: 'utf8' | 'hex' = 'utf8'): string {
  return Buffer.from(text, encoding).toString('base64url')
}

function credential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
}

/** The id follows the hash of the relying party's id, the flags, the counter, the AAGUID and its own length. */
function credentialIdIn(attestationObject: string): string {
  const bytes = Buffer.from(attestationObject, 'hex')
  const start = bytes.indexOf(createHash('sha256').update('example.org').digest())
  const length = bytes.readUInt16BE(start + 53)
  return bytes.subarray(start + 55, start + 55 + length).toString('base64url')
}

/** The flags in authenticator data, as the service reports them. */
function flagsOf(authenticatorData: string) {
  const flags = Buffer.from(authenticatorData, 'hex').readUInt8(32)
  return {
    userVerified: (flags & 0x04) !== 0,
    backupEligible: (flags & 0x08) !== 0,
    backedUp: (flags & 0x10) !== 0,
  }
}

describe('the test vectors of WebAuthn Level 3', () => {
  const accepted = vectors.vectors.filter(({ name }) => name !== 'none.ES256.crossOrigin')

  it.each(accepted)(
    '$name: registers the credential, accepts its assertion, and refuses it with one bit of the signature changed (R70)',
    async (vector) => {
      const at = tenant()
      const { id, answer: registered } = await register(at, vector)
      const { userVerified, ...state } = flagsOf(vector.authentication.authenticatorData)
      const { backupEligible } = state
      expect(registered).toMatchObject({ outcome: 'registered', key: { id, backupEligible } })
      const { signature } = vector.authentication
      const last = Number.parseInt(signature.slice(-1), 16) ^ 1
      const authentication = {
        ...vector.authentication,
        signature: signature.slice(0, -1) + last.toString(16),
      }
      const forged = await authenticate(at, id, { ...vector, authentication })
      expect(forged).toEqual({ outcome: 'invalid', fault: 'signature' })
      const answer = await authenticate(at, id, vector)
      expect(answer).toMatchObject({ outcome: 'valid', key: { id, ...state }, userVerified })
    },
  )

  it('none.ES256.topOrigin: refuses a page in a frame of a site that the operator did not name', async () => {
    const vector = vectors.vectors.find(({ name }) => name === 'none.ES256.topOrigin') as Vector
    const { answer } = await register(tenant([]), vector)
    expect(answer).toEqual({ outcome: 'invalid', fault: 'top_origin' })
  })

  it('none.ES256.crossOrigin: refuses a page in a frame of a site that the browser does not name', async () => {
    const vector = vectors.vectors.find(({ name }) => name === 'none.ES256.crossOrigin') as Vector
    const { answer } = await register(tenant(), vector)
    expect(answer).toEqual({ outcome: 'invalid', fault: 'top_origin' })
  })
})
