import { createPrivateKey, randomBytes, sign } from 'node:crypto'
import type { KeyFault, KeyMethod } from 'countersign/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  attestationObject,
  authenticatorData,
  createCredentialKey,
  encodeAttestedCredential,
} from '../../src/testing/authenticator-data.js'
import { softwareAuthenticator } from '../../src/testing/software-authenticator.js'
import { everyCase } from '../../test/kit/every-case.js'
import type { KeyPolicy } from '../src/accounts/application.js'
import {
  DEFAULT_KEY_POLICY,
  keyPolicyOption,
  relyingPartyOption,
} from '../src/accounts/applications/key-settings.js'
import { TEST_KEY } from '../src/flows/test-mode/test-key.js'
import { parseSettings } from '../src/operator/list-applications.js'
import { manufacturer } from './attested-authenticator.js'
import { type Bench, eventually, freshEmail, freshTenant, openBench } from './kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from './software-key.js'

type Device = ReturnType<typeof softwareAuthenticator>
type Page = Parameters<Device['get']>[1]

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

const invalid = (fault: KeyFault) => ({ outcome: 'invalid', fault })

/** A tenant with this policy, and one account of it. */
function vault(policy: Partial<KeyPolicy> = {}, settings: Parameters<typeof freshTenant>[1] = {}) {
  const keyPolicy = { ...DEFAULT_KEY_POLICY, ...policy }
  const tenant = freshTenant(bench, { relyingParty: RELYING_PARTY, keyPolicy, ...settings })
  const user = { account: 'ann', contact: freshEmail() }
  const keys = keysOf(tenant.mfa)
  return {
    ...tenant,
    user,
    keys,
    register: async (device: Device, method: KeyMethod = 'security-key') =>
      (await registerSoftwareKey(tenant.mfa, user, method, { device })).answer,
    async authenticate(device: Device, page: Page = KEY_PAGE, method: KeyMethod = 'security-key') {
      const ceremony = { ...user, method, purpose: 'sign-in', transaction: 'login' } as const
      const options = await optionsIn(keys.authenticationOptions(ceremony))
      return keys.authenticate({ ...ceremony, response: device.get(options, page) })
    },
  }
}

describe('the policy for keys', () => {
  test('refuses keys that can be synced where only device-bound ones are accepted', async () => {
    const { register, authenticate } = vault({ deviceBoundOnly: true })
    const synced = softwareAuthenticator({ backupEligible: true })
    expect(await register(synced)).toEqual(invalid('device_bound'))
    const bound = softwareAuthenticator()
    expect(await register(bound)).toMatchObject({ outcome: 'registered' })
    expect(await authenticate(bound)).toMatchObject({ outcome: 'valid' })
  })

  test('creates no passkey without a prompt where it would refuse one that can be synced or has no attestation', async () => {
    const prepared = async (policy: Partial<KeyPolicy>) => {
      const { keys, user } = vault(policy)
      const ceremony = { ...user, method: 'passkey', transaction: 't', mediation: 'conditional' } as const
      return keys.registrationOptions(ceremony)
    }
    expect(await prepared({})).toMatchObject({ outcome: 'prepared' })
    const strict: readonly Partial<KeyPolicy>[] = [{ deviceBoundOnly: true }, { attestation: 'direct' }]
    for (const policy of strict) {
      expect(await prepared(policy)).toMatchObject({ outcome: 'refused', refusal: { reason: 'method_off' } })
    }
  })

  test.each(['EdDSA', 'ES384', 'RS256'] as const)(
    'accepts keys with %s if it lists it',
    async (algorithm) => {
      const { register, authenticate, keys, user } = vault({ algorithms: [algorithm] })
      const device = softwareAuthenticator({ algorithm })
      expect(await register(device)).toMatchObject({ outcome: 'registered' })
      expect(await authenticate(device)).toMatchObject({ outcome: 'valid' })
      const ceremony = { ...user, method: 'security-key', transaction: 'other' } as const
      const options = await optionsIn(keys.registrationOptions(ceremony))
      const other = { ...options, pubKeyCredParams: [{ type: 'public-key', alg: -7 }] }
      const response = softwareAuthenticator().create(other, KEY_PAGE)
      expect(await keys.register({ ...ceremony, response })).toEqual(invalid('algorithm'))
    },
  )

  test('can require that security keys verify the user', async () => {
    const lax = vault()
    const without = softwareAuthenticator({ verifiesUser: false })
    expect(await lax.register(without)).toMatchObject({ outcome: 'registered' })
    expect(await lax.authenticate(without)).toMatchObject({ outcome: 'valid', userVerified: false })
    const strict = vault({ userVerification: 'required' })
    const device = softwareAuthenticator()
    expect(await strict.register(device)).toMatchObject({ outcome: 'registered' })
    expect(await strict.authenticate(device)).toMatchObject({ outcome: 'valid', userVerified: true })
    const page = { ...KEY_PAGE, changes: { flags: { userVerified: false } } }
    expect(await strict.authenticate(device, page)).toEqual(invalid('user_verification'))
    expect(
      await strict.authenticate(device, { ...KEY_PAGE, changes: { flags: { userPresent: false } } }),
    ).toEqual(invalid('user_presence'))
  })

  test('takes origins and the relying party from the settings alone (R107)', async () => {
    const { register, authenticate } = vault()
    const device = softwareAuthenticator()
    await register(device)
    const from = (clientData: object) => ({ ...KEY_PAGE, changes: { clientData: { ...clientData } } })
    const related = { origin: 'https://vault.example', relatedOrigins: ['https://vault.example'] }
    expect(await authenticate(device, related)).toMatchObject({ outcome: 'valid' })
    expect(await authenticate(device, from({ origin: 'https://example.com' }))).toEqual(invalid('origin'))
    expect(await authenticate(device, { ...KEY_PAGE, changes: { rpId: 'vault.example' } })).toEqual(
      invalid('relying_party'),
    )
    expect(await authenticate(device, { ...KEY_PAGE, topOrigin: 'https://portal.example' })).toMatchObject({
      outcome: 'valid',
    })
    expect(await authenticate(device, { ...KEY_PAGE, topOrigin: 'https://evil.example' })).toEqual(
      invalid('top_origin'),
    )
    expect(await authenticate(device, from({ crossOrigin: true }))).toEqual(invalid('top_origin'))
  })

  test('takes the origins of apps for Android, and tells one app from another (R107)', async () => {
    const hash = 'bP7V9_HO4FPHc9aBqmokgPsT_CayrPx7Y2MO_lvS3ck'
    const apps = [`android:apk-key-hash:${hash}`, `android:apk-key-hash-sha256:${hash}`]
    const { origins } = relyingPartyOption.parse({ id: 'example.com', origins: apps })
    expect(origins).toEqual(apps)
    await everyCase(apps, async (origin) => {
      const relyingParty = { ...RELYING_PARTY, origins: [KEY_PAGE.origin, origin] }
      const { register, authenticate } = vault({}, { relyingParty })
      const device = softwareAuthenticator()
      await register(device)
      const from = (claimed: string) => ({ ...KEY_PAGE, changes: { clientData: { origin: claimed } } })
      expect(await authenticate(device, from(origin))).toMatchObject({ outcome: 'valid' })
      const other = origin.replace(hash, hash.replace('b', 'c'))
      expect(await authenticate(device, from(other))).toEqual(invalid('origin'))
      const sibling = apps.find((known) => known !== origin) ?? ''
      expect(await authenticate(device, from(sibling))).toEqual(invalid('origin'))
    })
    for (const origin of [
      `android:apk-key-hash:${hash}=`,
      'android:apk-key-hash-sha256:',
      `android:apk-key-hash-md5:${hash}`,
      `Android:apk-key-hash:${hash}`,
      'ios:bundle-id:com.example.shop',
    ]) {
      expect(relyingPartyOption.safeParse({ id: 'example.com', origins: [origin] }).success).toBe(false)
    }
  })

  test('refuses a key whose backup eligibility changed, and notifies the user when it becomes synced (R107)', async () => {
    const { register, authenticate, sent, keys, user } = vault()
    const device = softwareAuthenticator({ backupEligible: true, backedUp: false })
    await register(device, 'passkey')
    const page = (flags: object) => ({ ...KEY_PAGE, changes: { flags } })
    const use = (flags: object) => authenticate(device, page(flags), 'passkey')
    expect(await use({ backupEligible: false })).toEqual(invalid('backup_eligibility'))
    expect(await use({ backupEligible: false, backedUp: true })).toEqual(invalid('malformed'))
    expect(await keys.list(user)).toMatchObject({ keys: [{ backupEligible: true, backedUp: false }] })
    const notices = () => sent().filter(({ subject }) => subject.includes('now synced')).length
    expect(await use({ backedUp: true })).toMatchObject({ outcome: 'valid', key: { backedUp: true } })
    await eventually(() => expect(notices()).toBe(1))
    expect(await use({ backedUp: true })).toMatchObject({ outcome: 'valid' })
    expect(await use({ backedUp: false })).toMatchObject({ outcome: 'valid', key: { backedUp: false } })
    expect(notices()).toBe(1)
  })

  test('limits the keys of an account, and offers only methods that are on', async () => {
    const { register, keys, user } = vault({}, { limits: { keysPerAccount: 1 }, methods: ['security-key'] })
    expect(await register(softwareAuthenticator())).toMatchObject({ outcome: 'registered' })
    const ask = (method: KeyMethod) => keys.registrationOptions({ ...user, method, transaction: 't' })
    const off = (detail: string) => ({ outcome: 'refused', refusal: { reason: 'method_off', detail } })
    expect(await ask('security-key')).toEqual(
      off('This account has the maximum number of keys: remove one first.'),
    )
    expect(await ask('passkey')).toEqual(off('PASSKEY is switched off for this application.'))
    const none = vault({}, { relyingParty: undefined })
    expect(await none.keys.list(none.user)).toEqual({ keys: [] })
    expect(await none.keys.relyingParty()).toBeUndefined()
    expect(await none.mfa.factorsOf?.(none.user)).toMatchObject({ existing: [], offeredKeys: [] })
  })

  test('locks the account after wrong responses, but not after repeated ones (R23)', async () => {
    const { register, authenticate, keys, user } = vault({}, { limits: { failuresBeforeLock: 5 } })
    const device = softwareAuthenticator()
    await register(device)
    const ceremony = { ...user, method: 'security-key', purpose: 'sign-in', transaction: 'login' } as const
    const response = device.get(await optionsIn(keys.authenticationOptions(ceremony)), KEY_PAGE)
    expect(await keys.authenticate({ ...ceremony, response })).toMatchObject({ outcome: 'valid' })
    for (let count = 0; count < 10; count++) {
      expect(await keys.authenticate({ ...ceremony, response })).toEqual(invalid('challenge'))
    }
    const page = { ...KEY_PAGE, changes: { rpId: 'evil.example' } }
    for (let count = 0; count < 5; count++) {
      expect(await authenticate(device, page)).toEqual(invalid('relying_party'))
    }
    expect(await keys.authenticationOptions(ceremony)).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'locked' },
    })
  })
})

describe('the attestation of authenticators (R72)', () => {
  const AAGUID = '5ca1ab1e-0000-4000-8000-00000000c0de'
  const maker = manufacturer(AAGUID)
  const direct = keyPolicyOption.parse({ attestation: 'direct', metadata: [maker.statement] })

  async function register(
    policy: KeyPolicy,
    by: ReturnType<typeof manufacturer> | undefined,
    aaguid = AAGUID,
  ) {
    const { keys, user } = vault(policy)
    const ceremony = { ...user, method: 'security-key', transaction: 'enroll' } as const
    const options = await optionsIn(keys.registrationOptions(ceremony))
    expect(options).toMatchObject({ attestation: policy.attestation })
    const created = softwareAuthenticator({ aaguid }).create(options, KEY_PAGE)
    return keys.register({ ...ceremony, response: by ? by.attest(created) : created })
  }

  test('must lead to a root in the metadata for the policy `direct`', async () => {
    expect(await register(direct, maker)).toMatchObject({ outcome: 'registered' })
    expect(await register(direct, undefined)).toEqual(invalid('attestation'))
    expect(await register(direct, manufacturer(AAGUID))).toEqual(invalid('attestation'))
    expect(await register(direct, maker, '5ca1ab1e-0000-4000-8000-000000000bad')).toEqual(
      invalid('attestation'),
    )
    const only = (aaguid: string) => ({ ...direct, authenticators: [aaguid] })
    expect(await register(only(AAGUID), maker)).toMatchObject({ outcome: 'registered' })
    expect(await register(only('5ca1ab1e-0000-4000-8000-000000000bad'), maker)).toEqual(
      invalid('attestation'),
    )
  })

  test('needs certificates that have not expired', () =>
    everyCase(
      [
        { root: -1, leaf: 3650 },
        { root: 3650, leaf: -1 },
      ],
      async (days) => {
        const expired = manufacturer(AAGUID, days)
        const policy = keyPolicyOption.parse({ attestation: 'direct', metadata: [expired.statement] })
        expect(await register(policy, expired)).toEqual(invalid('attestation'))
      },
    ))

  test('is not asked for and not used by default', async () => {
    expect(await register(DEFAULT_KEY_POLICY, manufacturer(AAGUID))).toMatchObject({ outcome: 'registered' })
  })

  test('has metadata from statements or the payload of a BLOB, without compromised models', () => {
    const models = (metadata: unknown) =>
      keyPolicyOption.safeParse({ metadata }).data?.metadata.map(({ aaguid }) => aaguid)
    const entry = (status: string, statement: object = maker.statement) => ({
      metadataStatement: statement,
      statusReports: [{ status }],
    })
    const u2f = { description: 'Older key', attestationRootCertificates: ['AA=='] }
    expect(models({ entries: [entry('FIDO_CERTIFIED'), entry('FIDO_CERTIFIED', u2f)] })).toEqual([AAGUID])
    expect(models({ entries: [entry('ATTESTATION_KEY_COMPROMISE')] })).toEqual([])
    for (const wrong of [5, null, 'text', {}, [u2f], [null]])
      expect(models(wrong), `${wrong}`).toBeUndefined()
    const set = parseSettings([
      `keyMetadata=${JSON.stringify([maker.statement])}`,
      `keyAuthenticators=${AAGUID}`,
    ])
    expect(set).toEqual({ keyMetadata: direct.metadata, keyAuthenticators: [AAGUID] })
  })
})

describe('the test key', () => {
  const privateKey = createPrivateKey({
    key: {
      ...{ kty: 'EC', crv: 'P-256', d: 'TSWirKld_o8CPsgFPS8XRNWiwjeigf_Arf4NH1dejFs' },
      ...{
        x: 'iSmtrS0R1ZlzDM9yopLMPeVMFkiZY_fbi8YW7xzchl8',
        y: '8jONTw6vYwBU2icRStX7Ezh3jG8N8toEEnxZObxKonI',
      },
    },
    format: 'jwk',
  })

  test.each(['test', 'live'] as const)('of %s API keys', async (mode) => {
    const { keys, user } = vault({}, { mode })
    const ceremony = { ...user, method: 'passkey', purpose: 'sign-in', transaction: 'login' } as const
    const options = Object(await optionsIn(keys.authenticationOptions(ceremony)))
    // Another authenticator makes the response, which the test key signs.
    const device = softwareAuthenticator()
    await registerSoftwareKey(vault().mfa, user, 'passkey', { device })
    const { allowCredentials: _none, ...anyKey } = options
    const made = device.get(anyKey, KEY_PAGE)
    const { userHandle: _userHandle, ...response } = made.response
    const authenticatorData = Buffer.from(response.authenticatorData, 'base64url')
    const hash = await crypto.subtle.digest('SHA-256', Buffer.from(response.clientDataJSON, 'base64url'))
    const signed = Buffer.concat([authenticatorData, Buffer.from(hash)])
    const signature = sign('sha256', signed, privateKey).toString('base64url')
    const assertion = { ...made, id: TEST_KEY.id, rawId: TEST_KEY.id, response: { ...response, signature } }
    const ids = options.allowCredentials.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(mode === 'test' ? [TEST_KEY.id] : [])
    const answer = await keys.authenticate({ ...ceremony, response: assertion })
    if (mode === 'live') return expect(answer).toEqual(invalid('unknown_key'))
    expect(answer).toMatchObject({ outcome: 'valid', userVerified: true, key: { name: 'Test key' } })
  })

  test('cannot be registered with live API keys, whatever id it has, and not under its own with test ones', async () => {
    const newKey = createCredentialKey('ES256')
    const testKey = { ...newKey, cose: Buffer.from(TEST_KEY.publicKey, 'base64url') }
    const [testId, newId] = [Buffer.from(TEST_KEY.id, 'base64url'), randomBytes(32)]
    await everyCase(
      [
        ['live', testId, testKey, invalid('attestation')],
        ['live', newId, testKey, invalid('attestation')],
        ['live', testId, newKey, invalid('attestation')],
        ['live', newId, newKey, { outcome: 'registered' }],
        ['test', testId, testKey, invalid('registered')],
        ['test', randomBytes(32), testKey, { outcome: 'registered' }],
      ] as const,
      async ([mode, id, key, expected]) => {
        const { keys, user } = vault({}, { mode })
        const ceremony = { ...user, method: 'passkey', transaction: 'enroll' } as const
        const options = await optionsIn(keys.registrationOptions(ceremony))
        const made = softwareAuthenticator().create(options, KEY_PAGE)
        const flags = { userPresent: true, userVerified: true, backupEligible: false, backedUp: false }
        const credential = encodeAttestedCredential('00000000-0000-0000-0000-000000000000', id, key)
        const authData = authenticatorData({ rpId: RELYING_PARTY.id, flags, counter: 0, credential })
        const attestation = attestationObject(authData, undefined, () => Buffer.alloc(0))
        const response = { ...made.response, attestationObject: attestation.toString('base64url') }
        const encoded = id.toString('base64url')
        const answer = await keys.register({
          ...ceremony,
          response: { ...made, id: encoded, rawId: encoded, response },
        })
        expect(answer).toMatchObject(expected)
      },
    )
  })
})
