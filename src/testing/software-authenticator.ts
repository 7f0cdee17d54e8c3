import { randomBytes } from 'node:crypto'
import {
  attestationObject,
  authenticatorData,
  type CredentialKey,
  createCredentialKey,
  encodeAttestedCredential,
  KEY_ALGORITHMS,
  type KeyAlgorithm,
  signCeremony,
} from './authenticator-data.js'
import {
  type CreationOptions,
  encodeClientData,
  findRelyingParty,
  type KeyFlags,
  type KeyPage,
  readCreationOptions,
  readRequestOptions,
} from './key-ceremony.js'
import type { SoftwareAssertion, SoftwareCredential, SoftwareRegistration } from './key-response.js'

/** The properties of a software authenticator. By default it is a security key with a PIN, on USB. */
export interface SoftwareAuthenticatorOptions {
  /** The algorithm of its credentials. Defaults to `ES256`. */
  readonly algorithm?: KeyAlgorithm | undefined
  /** `platform`: it is part of the device. Defaults to `cross-platform`, a key that is plugged in. */
  readonly attachment?: 'platform' | 'cross-platform' | undefined
  /** Whether it can verify the user, with a PIN or biometrics. Defaults to `true`. */
  readonly verifiesUser?: boolean | undefined
  /** Whether it can store discoverable credentials, as passkeys are. Defaults to `true`. */
  readonly residentKeys?: boolean | undefined
  /** Whether its credentials can be synced (BE). Defaults to `false`. */
  readonly backupEligible?: boolean | undefined
  /** Whether its credentials are synced at present (BS). Defaults to `backupEligible`. */
  readonly backedUp?: boolean | undefined
  /** Whether it counts its signatures. Defaults to `true`, and to `false` for credentials that can be synced. */
  readonly countsSignatures?: boolean | undefined
  /** `packed`: a self attestation, if the options ask for an attestation. Defaults to `none`. */
  readonly attestation?: 'none' | 'packed' | undefined
  /** The id of its model. Defaults to `00000000-0000-0000-0000-000000000000`. */
  readonly aaguid?: string | undefined
}

/** A browser with an authenticator, in software. It asks no user, so each ceremony is confirmed at once. */
export interface SoftwareAuthenticator {
  /** Registers a credential from `PublicKeyCredentialCreationOptionsJSON`. @throws what `navigator.credentials.create` does. */
  create(options: object, page: KeyPage): SoftwareRegistration
  /**
   * Signs for `PublicKeyCredentialRequestOptionsJSON`, with the first of `allowCredentials` that it stores, or else its newest
   * discoverable one, of the account `userHandle`. @throws what `navigator.credentials.get` does.
   */
  get(options: object, page: KeyPage, userHandle?: string): SoftwareAssertion
  /** Its credentials, in the order in which they were registered. */
  credentials(): readonly SoftwareCredential[]
  /** Changes whether its credentials are synced, as when the user switches syncing on. */
  setBackedUp(isBackedUp: boolean): void
}

interface Stored extends SoftwareCredential {
  readonly key: CredentialKey
  counter: number
}

/** Creates a browser with an authenticator, in software, for tests of security keys and passkeys. */
export function softwareAuthenticator(options: SoftwareAuthenticatorOptions = {}): SoftwareAuthenticator {
  const {
    algorithm = 'ES256',
    attachment = 'cross-platform',
    verifiesUser = true,
    residentKeys = true,
    backupEligible = false,
    countsSignatures = !backupEligible,
    attestation = 'none',
    aaguid = '00000000-0000-0000-0000-000000000000',
  } = options
  const alg = KEY_ALGORITHMS[algorithm]
  let backedUp = options.backedUp ?? backupEligible
  const stored = new Map<string, Stored>()

  const createFlags = (userVerification: string, { changes }: KeyPage): KeyFlags => ({
    userPresent: true,
    userVerified: verifiesUser && userVerification !== 'discouraged',
    backupEligible,
    backedUp,
    ...changes?.flags,
  })

  /** Throws what a browser throws if the authenticator cannot do what the options want. */
  const assertSuitable = (wanted: CreationOptions, rpId: string) => {
    const selection = wanted.authenticatorSelection
    if (!wanted.pubKeyCredParams.some((offered) => offered.type === 'public-key' && offered.alg === alg)) {
      throw refusal('NotSupportedError', `The options do not accept ${algorithm} (${alg}).`)
    }
    if ((selection.authenticatorAttachment ?? attachment) !== attachment) {
      throw refusal(
        'NotAllowedError',
        `The options ask for a ${selection.authenticatorAttachment} authenticator.`,
      )
    }
    if (wanted.excludeCredentials.some(({ id }) => stored.get(id)?.rpId === rpId)) {
      throw refusal('InvalidStateError', 'The authenticator has a credential of the account.')
    }
    if (readResidentKey(wanted) === 'required' && !residentKeys) {
      throw refusal('ConstraintError', 'The authenticator stores no discoverable credentials.')
    }
    if (selection.userVerification === 'required' && !verifiesUser) {
      throw refusal('ConstraintError', 'The authenticator cannot verify the user.')
    }
  }

  /** Stores a credential. There is one discoverable credential for each account of a relying party. */
  const store = (credential: Stored) => {
    for (const { id, rpId, userHandle, isDiscoverable } of stored.values()) {
      const isOfAccount = rpId === credential.rpId && userHandle === credential.userHandle
      if (isOfAccount && isDiscoverable && credential.isDiscoverable) stored.delete(id)
    }
    stored.set(credential.id, credential)
  }

  return {
    create(given, page) {
      const wanted = readCreationOptions(given)
      const rpId = findRelyingParty(page, wanted.rp.id)
      assertSuitable(wanted, rpId)
      const key = createCredentialKey(algorithm)
      const rawId = randomBytes(32)
      const id = rawId.toString('base64url')
      const counter = countsSignatures ? 1 : 0
      const isDiscoverable = residentKeys && readResidentKey(wanted) !== 'discouraged'
      const clientData = encodeClientData('webauthn.create', wanted.challenge, page)
      const authData = authenticatorData({
        rpId: page.changes?.rpId ?? rpId,
        flags: createFlags(wanted.authenticatorSelection.userVerification, page),
        counter: page.changes?.counter ?? counter,
        credential: encodeAttestedCredential(aaguid, rawId, key),
      })
      const isAttested = attestation === 'packed' && wanted.attestation !== 'none'
      const attested = attestationObject(authData, isAttested ? alg : undefined, () =>
        signCeremony(key, authData, clientData),
      )
      store({ id, rpId, userHandle: wanted.user.id, isDiscoverable, counter, key })
      return {
        id,
        rawId: id,
        type: 'public-key',
        authenticatorAttachment: attachment,
        clientExtensionResults: wanted.extensions.credProps ? { credProps: { rk: isDiscoverable } } : {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          attestationObject: attested.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          transports:
            attachment === 'cross-platform'
              ? ['usb']
              : backupEligible
                ? ['internal', 'hybrid']
                : ['internal'],
          publicKeyAlgorithm: alg,
          publicKey: key.spki.toString('base64url'),
        },
      }
    },

    get(given, page, userHandle) {
      const wanted = readRequestOptions(given)
      const { challenge, allowCredentials, userVerification } = wanted
      const rpId = findRelyingParty(page, wanted.rpId)
      const ofRelyingParty = [...stored.values()].filter((credential) => credential.rpId === rpId)
      const credential = allowCredentials.length
        ? allowCredentials.map(({ id }) => ofRelyingParty.find((own) => own.id === id)).find(Boolean)
        : ofRelyingParty.findLast(
            (own) => own.isDiscoverable && own.userHandle === (userHandle ?? own.userHandle),
          )
      if (!credential) {
        throw refusal('NotAllowedError', 'The authenticator has no such credential.')
      }
      if (userVerification === 'required' && !verifiesUser) {
        throw refusal('NotAllowedError', 'The authenticator cannot verify the user.')
      }
      if (countsSignatures) credential.counter += 1
      const { id, key, counter, isDiscoverable } = credential
      const clientData = encodeClientData('webauthn.get', challenge, page)
      const authData = authenticatorData({
        rpId: page.changes?.rpId ?? rpId,
        flags: createFlags(userVerification, page),
        counter: page.changes?.counter ?? counter,
      })
      return {
        id,
        rawId: id,
        type: 'public-key',
        authenticatorAttachment: attachment,
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signCeremony(key, authData, clientData).toString('base64url'),
          // An authenticator stores the account with discoverable credentials only.
          ...(isDiscoverable && { userHandle: credential.userHandle }),
        },
      }
    },

    credentials: () => [...stored.values()].map(({ key: _, ...credential }) => credential),
    setBackedUp(isBackedUp) {
      backedUp = isBackedUp
    },
  }
}

function readResidentKey({ authenticatorSelection }: CreationOptions): string {
  const { residentKey, requireResidentKey } = authenticatorSelection
  return residentKey ?? (requireResidentKey ? 'required' : 'discouraged')
}

function refusal(name: string, message: string): DOMException {
  return new DOMException(message, name)
}
