import { randomBytes } from 'node:crypto'
import { isChallengeFor, keyChallenge } from '../protocol/approval-challenge.js'
import { formatUser, type UserRequest } from '../protocol/contact.js'
import type { KeyFault, KeyPurpose } from '../protocol/keys.js'
import { authenticationResponse, registrationResponse } from '../protocol/keys-wire.js'
import type { KeyMethod } from '../protocol/methods.js'
import type { Granted, Key, KeyVerbs } from '../protocol/service.js'
import {
  findFault,
  isSignedBy,
  type ReadResponse,
  readResponse,
  VERIFIED_ALGORITHMS,
} from './key-response.js'

const CHALLENGE_MS = 5 * 60_000

/** The transaction that a challenge is bound to. */
interface Ceremony {
  readonly user: string
  readonly method: KeyMethod
  readonly purpose: KeyPurpose | 'registration' | 'conditional registration'
  readonly transaction: string
  /** Of what is approved. */
  readonly digest?: string | undefined
}

/** The relying party of a test kit: its domain, and the origins of its pages. */
export interface TestRelyingParty {
  /** A domain such as `example.com`. */
  readonly id: string
  /** Defaults to `https://` and the id. */
  readonly origins?: readonly string[] | undefined
}

interface StoredKey {
  readonly key: Key
  readonly user: string
  readonly publicKey: string
  readonly algorithm: number
  readonly transports: readonly string[]
  readonly counter: number
}

const SETTINGS = {
  'security-key': { userVerification: 'discouraged', residentKey: 'discouraged' },
  passkey: { userVerification: 'required', residentKey: 'required' },
} as const

const NAMES: Readonly<Record<KeyMethod, string>> = { 'security-key': 'Security key', passkey: 'Passkey' }

/** Keys in this process, checked as the self-hosted service does, except for attestations. */
export function testKeys({ id, origins = [`https://${id}`] }: TestRelyingParty) {
  const relyingParty: Granted<'relyingParty'> = { id, name: 'Test', origins, relatedOrigins: [] }
  const challenges = new Map<string, Ceremony & { readonly expiresAt: number }>()
  const keys = new Map<string, StoredKey>()
  const handles = new Map<string, string>()

  const listKeys = (user: string, method?: KeyMethod) =>
    [...keys.values()].filter(
      (stored) => stored.user === user && (method ?? stored.key.method) === stored.key.method,
    )
  const ownKey = (request: UserRequest, id: string) => {
    const key = keys.get(id)
    return key?.user === formatUser(request.contact) ? key : undefined
  }
  const newChallenge = (ceremony: Ceremony): string => {
    const challenge = keyChallenge(randomBytes(32), ceremony.digest)
    challenges.set(challenge, { ...ceremony, expiresAt: Date.now() + CHALLENGE_MS })
    return challenge
  }
  const handleOf = (user: string): string => {
    const handle = handles.get(user) ?? randomBytes(32).toString('base64url')
    handles.set(user, handle)
    return handle
  }

  /** Uses the challenge of a response up, and checks the response apart from its signature. */
  const check = (
    response: Parameters<typeof readResponse>[0],
    type: Parameters<typeof findFault>[1],
    ceremony: Ceremony,
  ): { readonly fault: KeyFault } | { readonly fault: undefined; readonly read: ReadResponse } => {
    const read = readResponse(response)
    if (!read) return { fault: 'malformed' }
    const challenge = String(read.clientData.challenge)
    const expected = challenges.get(challenge)
    challenges.delete(challenge)
    const isRight = expected && isSame(expected, ceremony) && isChallengeFor(challenge, ceremony.digest)
    if (!isRight || expected.expiresAt <= Date.now()) return { fault: 'challenge' }
    const isConditional = expected.purpose === 'conditional registration'
    const fault = findFault(read, type, { method: ceremony.method, relyingParty, isConditional })
    return fault ? { fault } : { fault, read }
  }

  const verbs: KeyVerbs = {
    async registrationOptions({ contact, method, transaction, userName, mediation }) {
      const user = formatUser(contact)
      const name = userName ?? user
      return prepareOptions({
        rp: { id: relyingParty.id, name: relyingParty.name },
        user: { id: handleOf(user), name, displayName: name },
        challenge: newChallenge({
          user,
          method,
          purpose: mediation ? 'conditional registration' : 'registration',
          transaction,
        }),
        pubKeyCredParams: VERIFIED_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        timeout: CHALLENGE_MS,
        excludeCredentials: listKeys(user).map(descriptor),
        authenticatorSelection: {
          ...SETTINGS[method],
          ...(mediation && { userVerification: 'preferred' }),
          requireResidentKey: SETTINGS[method].residentKey === 'required',
        },
        attestation: 'none',
      })
    },

    async register({ contact, method, transaction, name = NAMES[method], response: given }) {
      const user = formatUser(contact)
      const { data } = registrationResponse.safeParse(given)
      const { publicKey, publicKeyAlgorithm, authenticatorData, transports = [] } = data?.response ?? {}
      if (!data || !publicKey || publicKeyAlgorithm === undefined || !authenticatorData)
        return invalid('malformed')
      const ceremony = { user, method, purpose: 'registration', transaction } as const
      const { clientDataJSON } = data.response
      const checked = check({ clientDataJSON, authenticatorData }, 'webauthn.create', ceremony)
      if (checked.fault) return invalid(checked.fault)
      if (!VERIFIED_ALGORITHMS.includes(publicKeyAlgorithm)) return invalid('algorithm')
      const isConsistent = data.id === data.rawId && data.id === checked.read.credentialId
      if (!isConsistent) return invalid('malformed')
      if (keys.has(data.id)) return invalid('registered')
      const { backupEligible, backedUp, counter } = checked.read
      const stored = { publicKey, algorithm: publicKeyAlgorithm, transports, counter }
      const key = { id: data.id, method, name, backupEligible, backedUp, createdAt: Date.now() }
      keys.set(key.id, { key, ...stored, user })
      return { outcome: 'registered', key }
    },

    async authenticationOptions({ contact, method, purpose, transaction, approval }) {
      const user = formatUser(contact)
      return prepareOptions({
        rpId: relyingParty.id,
        challenge: newChallenge({ user, method, purpose, transaction, digest: approval?.digest }),
        timeout: CHALLENGE_MS,
        allowCredentials: listKeys(user, method).map(descriptor),
        userVerification: SETTINGS[method].userVerification,
      })
    },

    async authenticate({ contact, method, purpose, transaction, approval, response: given }) {
      const user = formatUser(contact)
      const { data } = authenticationResponse.safeParse(given)
      if (!data) return invalid('malformed')
      const ceremony = { user, method, purpose, transaction, digest: approval?.digest }
      const checked = check(data.response, 'webauthn.get', ceremony)
      if (checked.fault) return invalid(checked.fault)
      const { counter, userVerified, backedUp, backupEligible } = checked.read
      const stored = keys.get(data.id)
      const { userHandle } = data.response
      const isOfAnother = stored !== undefined && stored.user !== user
      if (isOfAnother || (userHandle && userHandle !== handleOf(user))) return invalid('user_handle')
      if (!stored) return invalid('unknown_key')
      if (stored.key.method !== method) return invalid('malformed')
      if (!isSignedBy(stored, data.response)) return invalid('signature')
      if (backupEligible !== stored.key.backupEligible) return invalid('backup_eligibility')
      if (stored.counter > 0 && counter <= stored.counter) return invalid('counter')
      const key = { ...stored.key, backedUp, lastUsedAt: Date.now() }
      keys.set(key.id, { ...stored, key, counter })
      return { outcome: 'valid', key, userVerified }
    },

    async list({ contact }) {
      const user = formatUser(contact)
      const userHandle = handles.get(user)
      return {
        keys: listKeys(user).map(({ key }) => key),
        relyingPartyId: relyingParty.id,
        ...(userHandle !== undefined && { userHandle }),
      }
    },

    async rename({ key: id, name, ...request }) {
      const stored = ownKey(request, id)
      if (stored) keys.set(id, { ...stored, key: { ...stored.key, name } })
      return { outcome: stored ? 'renamed' : 'none' }
    },

    async remove({ key: id, ...request }) {
      const key = ownKey(request, id)
      if (key) keys.delete(id)
      return { outcome: key ? 'removed' : 'none' }
    },

    relyingParty: async () => relyingParty,
  }

  return {
    verbs,
    methodsOf: (user: string) => [...new Set(listKeys(user).map(({ key }) => key.method))],
    reset() {
      for (const records of [challenges, keys, handles]) records.clear()
    },
  }
}

/** Whether a challenge was created for a ceremony. It alone knows whether a registration is a conditional one. */
function isSame(challenge: Ceremony, ceremony: Ceremony): boolean {
  const purpose = challenge.purpose === 'conditional registration' ? 'registration' : challenge.purpose
  return (
    purpose === ceremony.purpose &&
    (['user', 'method', 'transaction'] as const).every((part) => challenge[part] === ceremony[part])
  )
}

function descriptor({ key, transports }: StoredKey) {
  return { type: 'public-key', id: key.id, transports }
}

function prepareOptions(options: Granted<'registrationOptions'>['options']) {
  return { outcome: 'prepared', options, expiresInSeconds: CHALLENGE_MS / 1_000 } as const
}

function invalid(fault: KeyFault) {
  return { outcome: 'invalid', fault } as const
}
