import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type VerifiedRegistrationResponse,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { describe, expect, it } from 'vitest'
import {
  type KeyAlgorithm,
  type KeyPage,
  type SoftwareAuthenticatorOptions,
  softwareAuthenticator,
} from '../../src/testing/index.js'
import { everyCase } from '../kit/every-case.js'

const page = { origin: 'https://app.example.com' } satisfies KeyPage
const rpID = 'example.com'

type Registration = Partial<Parameters<typeof generateRegistrationOptions>[0]>

const creationOptions = (more: Registration = {}) =>
  generateRegistrationOptions({
    rpName: 'Example',
    rpID,
    userName: 'ann@example.com',
    userID: Buffer.from('account-1'),
    supportedAlgorithmIDs: [-7, -8, -35, -257],
    ...more,
  })

type Credential = NonNullable<VerifiedRegistrationResponse['registrationInfo']>['credential']

const accepted = { expectedOrigin: page.origin, requireUserVerification: false }

/** An authenticator with a credential that a server has verified. */
async function registered(like: SoftwareAuthenticatorOptions = {}, more: Registration = {}) {
  const authenticator = softwareAuthenticator(like)
  const options = await creationOptions(more)
  const response = authenticator.create(options, page)
  const { registrationInfo } = await verifyRegistrationResponse({
    ...accepted,
    response,
    expectedChallenge: options.challenge,
    expectedRPID: rpID,
    supportedAlgorithmIDs: [-7, -8, -35, -257],
  })
  if (!registrationInfo) throw new Error('The registration was not verified.')
  return { authenticator, options, response, info: registrationInfo }
}

/** Verifies an assertion for a credential. */
async function verify(
  credential: Credential,
  answer: (options: Awaited<ReturnType<typeof generateAuthenticationOptions>>) => unknown,
) {
  const options = await generateAuthenticationOptions({ rpID, allowCredentials: [{ id: credential.id }] })
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    ...accepted,
    response: answer(options) as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
    expectedChallenge: options.challenge,
    expectedRPID: rpID,
    credential,
  })
  return { verified, ...authenticationInfo }
}

/** The name of the error that a function throws. */
function nameOfError(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error.name
  }
  return 'none'
}

describe('the software authenticator', () => {
  it('registers a credential with every algorithm and signs with it, so that a server accepts both', () =>
    everyCase<KeyAlgorithm>(['ES256', 'EdDSA', 'ES384', 'RS256'], async (algorithm) => {
      const { authenticator, info } = await registered({ algorithm })
      const { verified, newCounter } = await verify(info.credential, (options) =>
        authenticator.get(options, page),
      )
      expect({ verified, newCounter }).toEqual({ verified: true, newCounter: 2 })
    }))

  it('attests a credential with every algorithm by itself if the options ask for it', () =>
    everyCase<KeyAlgorithm>(['ES256', 'EdDSA', 'ES384', 'RS256'], async (algorithm) => {
      const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a'
      const like = { algorithm, attestation: 'packed', aaguid } as const
      const { info } = await registered(like, { attestationType: 'direct' })
      expect([info.fmt, info.aaguid]).toEqual(['packed', aaguid])
      expect((await registered(like)).info.fmt).toBe('none')
    }))

  it('is a security key by default, whose credentials stay on the device and count their signatures', async () => {
    const { info, response } = await registered()
    expect(response.response.transports).toEqual(['usb'])
    expect(info).toMatchObject({
      userVerified: true,
      credentialDeviceType: 'singleDevice',
      credentialBackedUp: false,
      credential: { counter: 1 },
    })
  })

  it('can be a synced passkey, which does not count, and whose state of backup can change', async () => {
    const like = { attachment: 'platform', backupEligible: true } as const
    const { authenticator, info, response } = await registered(like, {
      authenticatorSelection: { residentKey: 'required' },
    })
    expect(response.response.transports).toEqual(['internal', 'hybrid'])
    expect(info).toMatchObject({ credentialDeviceType: 'multiDevice', credentialBackedUp: true })
    authenticator.setBackedUp(false)
    const { credentialBackedUp, newCounter } = await verify(info.credential, (options) =>
      authenticator.get(options, page),
    )
    expect({ credentialBackedUp, newCounter }).toEqual({ credentialBackedUp: false, newCounter: 0 })
  })

  it('verifies the user unless the options discourage it, or it cannot', async () => {
    const { authenticator, info } = await registered()
    const verified = async (userVerification: 'required' | 'preferred' | 'discouraged') =>
      (await verify(info.credential, (options) => authenticator.get({ ...options, userVerification }, page)))
        .userVerified
    expect(await verified('required')).toBe(true)
    expect(await verified('preferred')).toBe(true)
    expect(await verified('discouraged')).toBe(false)

    const without = softwareAuthenticator({ verifiesUser: false })
    const options = await creationOptions()
    const selection = { ...options.authenticatorSelection, userVerification: 'required' as const }
    without.create(options, page)
    expect(nameOfError(() => without.create({ ...options, authenticatorSelection: selection }, page))).toBe(
      'ConstraintError',
    )
    const request = { challenge: options.challenge, rpId: rpID, userVerification: 'required' }
    expect(nameOfError(() => without.get(request, page))).toBe('NotAllowedError')
  })

  it('finds a discoverable credential without its id, and sends the user handle with it only', async () => {
    const authenticator = softwareAuthenticator()
    const account = async (name: string, residentKey: 'required' | 'discouraged') => {
      const userID = Buffer.from(name)
      const options = await creationOptions({ userID, authenticatorSelection: { residentKey } })
      return authenticator.create({ ...options, extensions: { credProps: true } }, page)
    }
    const first = await account('account-1', 'required')
    const second = await account('account-2', 'required')
    const third = await account('account-3', 'discouraged')
    expect([first, third].map(({ clientExtensionResults }) => clientExtensionResults)).toEqual([
      { credProps: { rk: true } },
      { credProps: { rk: false } },
    ])
    const options = { challenge: 'AAAA', rpId: rpID }
    expect(authenticator.get(options, page).id).toBe(second.id)
    const handle = Buffer.from('account-1').toString('base64url')
    const chosen = authenticator.get(options, page, handle)
    expect([chosen.id, chosen.response.userHandle]).toEqual([first.id, handle])
    const named = authenticator.get(
      { ...options, allowCredentials: [{ id: third.id, type: 'public-key' }] },
      page,
    )
    expect([named.id, named.response.userHandle]).toEqual([third.id, undefined])
    expect(authenticator.credentials().map(({ id }) => id)).toEqual([first.id, second.id, third.id])
  })

  it('replaces the discoverable credential of the same account', async () => {
    const authenticator = softwareAuthenticator()
    const options = await creationOptions({ authenticatorSelection: { residentKey: 'required' } })
    authenticator.create(options, page)
    const { id } = authenticator.create(options, page)
    expect(authenticator.credentials()).toMatchObject([{ id, rpId: rpID, isDiscoverable: true, counter: 1 }])
  })

  it('throws the errors of a browser', async () => {
    const { authenticator, response, options } = await registered({ residentKeys: false })
    const create = (changes: object, at: KeyPage = page) =>
      nameOfError(() => authenticator.create({ ...options, ...changes }, at))
    const request = {
      challenge: 'AAAA',
      rpId: rpID,
      allowCredentials: [{ id: response.id, type: 'public-key' }],
    }
    const get = (changes: object, at: KeyPage = page) =>
      nameOfError(() => authenticator.get({ ...request, ...changes }, at))
    expect(create({ excludeCredentials: [{ id: response.id, type: 'public-key' }] })).toBe(
      'InvalidStateError',
    )
    expect(create({ pubKeyCredParams: [{ alg: -36, type: 'public-key' }] })).toBe('NotSupportedError')
    expect(create({ authenticatorSelection: { residentKey: 'required' } })).toBe('ConstraintError')
    expect(create({ authenticatorSelection: { authenticatorAttachment: 'platform' } })).toBe(
      'NotAllowedError',
    )
    expect(create({ challenge: 'not base64url=' })).toBe('TypeError')
    expect(create({ rp: { id: 'example.org', name: 'Example' } })).toBe('SecurityError')
    expect(get({ allowCredentials: [{ id: 'AAAA', type: 'public-key' }] })).toBe('NotAllowedError')
    expect(get({ allowCredentials: [] })).toBe('NotAllowedError')
    expect(get({ rpId: undefined }, { origin: 'https://10.0.0.7' })).toBe('SecurityError')
    expect(get({}, { origin: 'http://app.example.com' })).toBe('SecurityError')
    expect(get({}, { origin: 'https://badexample.com' })).toBe('SecurityError')
    expect(get({}, { origin: 'https://example.net' })).toBe('SecurityError')
    const relatedOrigins = ['https://example.net']
    expect(get({}, { origin: 'https://example.net', relatedOrigins })).toBe('none')
    expect(get({})).toBe('none')
  })

  it('signs what the test changes, so that only that field is wrong', async () => {
    const { authenticator, info } = await registered()
    const { credential } = info
    const withChanges = (changes: KeyPage['changes']) =>
      verify(credential, (options) => authenticator.get(options, { ...page, changes }))
    await expect(withChanges({ clientData: { type: 'webauthn.create' } })).rejects.toThrow('type')
    await expect(withChanges({ clientData: { challenge: 'AAAA' } })).rejects.toThrow('challenge')
    await expect(withChanges({ clientData: { origin: 'https://example.net' } })).rejects.toThrow('origin')
    await expect(withChanges({ rpId: 'example.net' })).rejects.toThrow('RP ID')
    await expect(withChanges({ flags: { userPresent: false } })).rejects.toThrow('present')
    await expect(withChanges({ counter: 1 })).rejects.toThrow('counter')
    const { verified, userVerified, newCounter } = await withChanges({
      flags: { userVerified: false },
      counter: 70_000,
    })
    expect({ verified, userVerified, newCounter }).toEqual({
      verified: true,
      userVerified: false,
      newCounter: 70_000,
    })
  })

  it('says in the client data that the page is in a frame of another site', async () => {
    const { authenticator, response } = await registered()
    const clientData = ({ clientDataJSON }: { readonly clientDataJSON: string }) =>
      JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    const { challenge, ...rest } = clientData(response.response)
    expect(challenge).toMatch(/^[\w-]{43}$/)
    expect(rest).toEqual({ type: 'webauthn.create', origin: page.origin, crossOrigin: false })
    const allowCredentials = [{ id: response.id, type: 'public-key' }]
    const framed = authenticator.get(
      { challenge: 'AAAA', rpId: rpID, allowCredentials },
      { ...page, topOrigin: 'https://partner.example' },
    )
    expect(clientData(framed.response)).toEqual({
      type: 'webauthn.get',
      challenge: 'AAAA',
      origin: page.origin,
      crossOrigin: true,
      topOrigin: 'https://partner.example',
    })
  })
})
