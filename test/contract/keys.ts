import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Key, KeyMethod, KeyVerbs, RequestOf } from '../../src/protocol/index.js'
import {
  type KeyPage,
  type SoftwareAuthenticator,
  type SoftwareAuthenticatorOptions,
  softwareAuthenticator,
} from '../../src/testing/index.js'
import type { Opened } from './mfa-service.js'
import { newUser } from './new-user.js'

/** The relying party of a service that keeps the contract of `KeyVerbs`. */
export const RELYING_PARTY = { id: 'example.com', origins: ['https://app.example.com'] }

const page: KeyPage = { origin: 'https://app.example.com' }

const CEREMONY = { method: 'passkey', purpose: 'sign-in', transaction: 'login-1' } as const

interface Ceremony {
  readonly method: KeyMethod
  readonly purpose: RequestOf<'authenticate'>['purpose']
  readonly transaction: string
}

/** Runs the tests that the `keys` of every `MfaService` must pass. */
export function describeKeys({ opened }: { readonly opened: () => Pick<Opened, 'service'> }): void {
  const keysOf = (): KeyVerbs => {
    const { keys } = opened().service
    if (!keys) throw new Error('The service offers no keys.')
    return keys
  }
  const account = () => {
    const { account, email: contact } = newUser()
    return { account, contact }
  }
  type Account = ReturnType<typeof account>

  const optionsFor = async (owner: Account, method: KeyMethod, transaction = 'enroll-1') => {
    const prepared = await keysOf().registrationOptions({ ...owner, method, transaction })
    if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
    return prepared.options
  }
  /** Registers a new key. */
  const register = async (
    owner: Account,
    method: KeyMethod,
    authenticator: SoftwareAuthenticator = softwareAuthenticator(),
    name?: string,
  ) => {
    const transaction = 'enroll-1'
    const response = authenticator.create(await optionsFor(owner, method, transaction), page)
    const request = { ...owner, method, transaction, response, ...(name && { name }) }
    return { response, answer: await keysOf().register(request) }
  }
  /** A new account with a key. */
  const enrolled = async (method: KeyMethod, like?: SoftwareAuthenticatorOptions) => {
    const owner = account()
    const authenticator = softwareAuthenticator(like)
    const { answer } = await register(owner, method, authenticator)
    if (answer.outcome !== 'registered')
      throw new Error(`The key was not registered: ${JSON.stringify(answer)}`)
    return { owner, authenticator, key: answer.key, method }
  }
  /** An assertion for a ceremony, and a function that submits it, for another ceremony if one is given. */
  const asserted = async (
    owner: Account,
    authenticator: SoftwareAuthenticator,
    { ceremony = CEREMONY, at = page }: { readonly ceremony?: Ceremony; readonly at?: KeyPage } = {},
  ) => {
    const prepared = await keysOf().authenticationOptions({ ...owner, ...ceremony })
    if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
    const response = authenticator.get(prepared.options, at)
    const submit = (other: Partial<Ceremony & Account> = {}) =>
      keysOf().authenticate({ ...owner, ...ceremony, ...other, response })
    return { response, options: prepared.options, submit }
  }
  const invalid = (fault: string) => ({ outcome: 'invalid', fault })
  const valid = expect.objectContaining({ outcome: 'valid' })
  const listed = async (owner: Account): Promise<readonly Key[]> => {
    const list = await keysOf().list(owner)
    return 'keys' in list ? list.keys : []
  }

  describe('security keys and passkeys', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    it('belong to a relying party', async () => {
      expect(await keysOf().relyingParty()).toMatchObject({ ...RELYING_PARTY, relatedOrigins: [] })
    })

    it('are registered with a name, listed in their order, and counted among the factors of the account (R72)', async () => {
      const owner = account()
      const before = await keysOf().list(owner)
      expect(before).toMatchObject({ keys: [], relyingPartyId: RELYING_PARTY.id })
      const synced = softwareAuthenticator({ attachment: 'platform', backupEligible: true })
      const { answer: first } = await register(owner, 'security-key', softwareAuthenticator(), 'Blue key')
      expect(first).toEqual({
        outcome: 'registered',
        key: {
          id: expect.stringMatching(/^[\w-]{43}$/),
          method: 'security-key',
          name: 'Blue key',
          backupEligible: false,
          backedUp: false,
          createdAt: Date.now(),
        },
      })
      vi.advanceTimersByTime(1_000)
      const { answer: second } = await register(owner, 'passkey', synced)
      expect(second).toMatchObject({
        key: { method: 'passkey', backupEligible: true, backedUp: true, name: expect.stringMatching(/./) },
      })
      const keys = [first, second].map((answer) => 'key' in answer && answer.key)
      const list = await keysOf().list(owner)
      expect(list).toMatchObject({ keys, userHandle: synced.credentials()[0]?.userHandle })
      const factors = await opened().service.factorsOf?.(owner)
      const both = ['security-key', 'passkey'] as const
      expect(new Set(factors?.existing)).toEqual(new Set(both.map((method) => ({ method, usable: true }))))
      expect(new Set(factors?.offeredKeys)).toEqual(new Set(both))
      expect((await opened().service.factorsOf?.(account()))?.existing).toEqual([])
    })

    it('are not registered twice, in their account or in another one (R72)', async () => {
      const first = account()
      const authenticator = softwareAuthenticator()
      const { response } = await register(first, 'security-key', authenticator)
      const options = await optionsFor(first, 'security-key')
      expect(() => authenticator.create(options, page)).toThrow('has a credential of the account')
      for (const owner of [first, account()]) {
        const copyOf = softwareAuthenticator().create(await optionsFor(owner, 'security-key'), page)
        const request = { ...owner, method: 'security-key', transaction: 'enroll-1' } as const
        // Without an attestation, nothing signs the challenge: this is the first key with the client data of a new ceremony.
        const { clientDataJSON } = copyOf.response
        const copy = { ...response, response: { ...response.response, clientDataJSON } }
        expect(await keysOf().register({ ...request, response: copy })).toEqual(invalid('registered'))
        const renamed = softwareAuthenticator().create(await optionsFor(owner, 'security-key'), page)
        const answer = keysOf().register({ ...request, response: { ...renamed, id: response.id } })
        expect(await answer).toEqual(invalid('malformed'))
      }
      expect(await listed(first)).toHaveLength(1)
    })

    it.each([
      ['security-key', false],
      ['passkey', true],
    ] as const)('sign in as a %s, with user verification: %s (R69, R70)', async (method, userVerified) => {
      const { owner, authenticator, key } = await enrolled(method)
      const ceremony = { ...CEREMONY, method }
      const { options, submit } = await asserted(owner, authenticator, { ceremony })
      expect(options).toMatchObject({
        rpId: RELYING_PARTY.id,
        userVerification: userVerified ? 'required' : 'discouraged',
        allowCredentials: [{ id: key.id }],
      })
      expect(options.challenge).toMatch(/^[\w-]{43}$/)
      vi.advanceTimersByTime(60_000)
      const answer = await submit()
      const used = { ...key, lastUsedAt: expect.any(Number) }
      expect(answer).toEqual({ outcome: 'valid', key: used, userVerified })
      expect(await listed(owner)).toEqual([used])
    })

    it('say whether the user was verified, whichever ceremony asked', async () => {
      const { owner, authenticator } = await enrolled('security-key')
      const ceremony = { ...CEREMONY, method: 'security-key' } as const
      const at = { ...page, changes: { flags: { userVerified: true } } }
      const { submit } = await asserted(owner, authenticator, { ceremony, at })
      expect(await submit()).toMatchObject({ outcome: 'valid', userVerified: true })
    })

    it('are offered in the ceremony only in which they were registered', async () => {
      const { owner, key } = await enrolled('passkey')
      const { answer } = await register(owner, 'security-key')
      const ids = async (method: KeyMethod) => {
        const prepared = await keysOf().authenticationOptions({ ...owner, ...CEREMONY, method })
        return prepared.outcome === 'prepared' ? prepared.options.allowCredentials : []
      }
      expect(await ids('passkey')).toMatchObject([{ id: key.id }])
      expect(await ids('security-key')).toMatchObject([{ id: 'key' in answer && answer.key.id }])
    })

    it('are refused in the other ceremony, in which a stolen passkey would need no PIN (R70)', async () => {
      const { owner, authenticator } = await enrolled('passkey')
      await register(owner, 'security-key')
      const ceremony = { ...CEREMONY, method: 'security-key' } as const
      const prepared = await keysOf().authenticationOptions({ ...owner, ...ceremony })
      if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
      const response = authenticator.get({ ...prepared.options, allowCredentials: [] }, page)
      expect(await keysOf().authenticate({ ...owner, ...ceremony, response })).toEqual(invalid('malformed'))
    })

    it('use a challenge once, also if the response is wrong (R69)', async () => {
      const { owner, authenticator } = await enrolled('passkey')
      const { submit } = await asserted(owner, authenticator)
      expect(await submit()).toEqual(valid)
      expect(await submit()).toEqual(invalid('challenge'))
      const at = { ...page, changes: { flags: { userVerified: false } } }
      const wrong = await asserted(owner, authenticator, { at })
      expect(await wrong.submit()).toEqual(invalid('user_verification'))
      expect(await wrong.submit()).toEqual(invalid('challenge'))
    })

    it('accept a challenge for its own account, method, purpose and transaction (R69)', async () => {
      const { owner, authenticator } = await enrolled('passkey')
      const others: readonly Partial<Ceremony & Account>[] = [
        { purpose: 'step-up' },
        { transaction: 'login-2' },
        { method: 'security-key' },
        account(),
      ]
      for (const other of others) {
        const { submit } = await asserted(owner, authenticator)
        expect(await submit(other), JSON.stringify(other)).toEqual(invalid('challenge'))
      }
    })

    it('accept a challenge for five minutes (R69)', async () => {
      const { owner, authenticator } = await enrolled('passkey')
      const inTime = await asserted(owner, authenticator)
      vi.setSystemTime(Date.now() + 5 * 60_000 - 1)
      expect(await inTime.submit()).toEqual(valid)
      const late = await asserted(owner, authenticator)
      vi.setSystemTime(Date.now() + 5 * 60_000)
      expect(await late.submit()).toEqual(invalid('challenge'))
    })

    it.each<[string, KeyPage]>([
      ['origin', { origin: 'https://badexample.com', relatedOrigins: ['https://badexample.com'] }],
      ['top_origin', { ...page, topOrigin: 'https://partner.example' }],
      ['relying_party', { ...page, changes: { rpId: 'app.example.com' } }],
      ['user_presence', { ...page, changes: { flags: { userPresent: false } } }],
      ['user_verification', { ...page, changes: { flags: { userVerified: false } } }],
      ['backup_eligibility', { ...page, changes: { flags: { backupEligible: true } } }],
      ['malformed', { ...page, changes: { clientData: { type: 'webauthn.create' } } }],
      ['counter', { ...page, changes: { counter: 1 } }],
    ])('refuse an assertion with the fault %s (R70, R71)', async (fault, at) => {
      const { owner, authenticator } = await enrolled('passkey')
      const { submit } = await asserted(owner, authenticator, { at })
      expect(await submit()).toEqual(invalid(fault))
      const control = await asserted(owner, authenticator)
      expect(await control.submit()).toEqual(valid)
    })

    it('are created without a prompt only for a challenge of that kind, which works once (R69, R70, R107)', async () => {
      const owner = account()
      const authenticator = softwareAuthenticator({ attachment: 'platform', backupEligible: true })
      const ceremony = { ...owner, method: 'passkey', transaction: 'enroll-1' } as const
      const unprompted = { userPresent: false, userVerified: false }
      const created = async (flags: object, mediation?: 'conditional') => {
        const prepared = await keysOf().registrationOptions({ ...ceremony, ...(mediation && { mediation }) })
        if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
        const { options } = prepared
        return { options, response: authenticator.create(options, { ...page, changes: { flags } }) }
      }
      const submit = async ({ response }: Awaited<ReturnType<typeof created>>, other: object = {}) =>
        keysOf().register({ ...ceremony, ...other, response })

      expect(await submit(await created(unprompted))).toEqual(invalid('user_presence'))
      const unverified = await created({ userVerified: false })
      expect(await submit(unverified)).toEqual(invalid('user_verification'))
      for (const other of [{ transaction: 'enroll-2' }, { method: 'security-key' as const }, account()]) {
        const foreign = await created(unprompted, 'conditional')
        expect(await submit(foreign, other), JSON.stringify(other)).toEqual(invalid('challenge'))
      }
      expect(await listed(owner)).toEqual([])

      const conditional = await created(unprompted, 'conditional')
      expect(conditional.options).toMatchObject({
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      })
      const answer = await submit(conditional)
      expect(answer).toMatchObject({ outcome: 'registered', key: { method: 'passkey', backedUp: true } })
      expect(await submit(conditional)).toEqual(invalid('challenge'))
      expect((await created({}).catch(String)).toString()).toContain('has a credential of the account')

      // From then on, it is a passkey like all others.
      const assert = async (flags: object) =>
        (await asserted(owner, authenticator, { at: { ...page, changes: { flags } } })).submit()
      expect(await assert({ userPresent: false })).toEqual(invalid('user_presence'))
      expect(await assert({ userVerified: false })).toEqual(invalid('user_verification'))
      expect(await assert({})).toMatchObject({ outcome: 'valid', userVerified: true })
    })

    it('are unknown only if nobody has them, since password managers delete unknown keys', async () => {
      const { owner, authenticator } = await enrolled('passkey')
      const { id } = softwareAuthenticator().create(await optionsFor(owner, 'passkey'), page)
      const { response } = await asserted(owner, authenticator)
      const request = { ...owner, ...CEREMONY, response: { ...response, id, rawId: id } }
      expect(await keysOf().authenticate(request)).toEqual(invalid('unknown_key'))
    })

    it('refuse keys, user handles and signatures of others (R70)', async () => {
      const { owner, authenticator, key } = await enrolled('passkey')
      const other = await enrolled('passkey')
      const { options, response } = await asserted(owner, authenticator)
      const request = { ...owner, ...CEREMONY }
      const foreign = other.authenticator.get({ ...options, allowCredentials: [] }, page)
      expect(await keysOf().authenticate({ ...request, response: foreign })).toEqual(invalid('user_handle'))

      const next = await asserted(owner, authenticator)
      const userHandle = foreign.response.userHandle ?? ''
      const handled = { ...next.response, response: { ...next.response.response, userHandle } }
      expect(await keysOf().authenticate({ ...request, response: handled })).toEqual(invalid('user_handle'))

      const last = await asserted(owner, authenticator)
      const { signature } = response.response
      const signed = { ...last.response, response: { ...last.response.response, signature } }
      expect(await keysOf().authenticate({ ...request, response: signed })).toEqual(invalid('signature'))
      expect(await listed(owner)).toEqual([key])
    })

    it('count signatures, unless they can be synced (R71)', async () => {
      const counting = await enrolled('passkey')
      for (const [counter, outcome] of [
        [2, 'valid'],
        [2, 'invalid'],
        [1, 'invalid'],
        [3, 'valid'],
      ] as const) {
        const { submit } = await asserted(counting.owner, counting.authenticator, {
          at: { ...page, changes: { counter } },
        })
        expect(await submit(), `counter ${counter}`).toMatchObject({ outcome })
      }
      const { owner, authenticator } = await enrolled('passkey', { backupEligible: true })
      for (const isBackedUp of [false, true]) {
        authenticator.setBackedUp(isBackedUp)
        const { submit } = await asserted(owner, authenticator)
        expect(await submit()).toMatchObject({ outcome: 'valid', key: { backedUp: isBackedUp } })
      }
    })

    it('are renamed and removed by their own account only', async () => {
      const { owner, authenticator, key } = await enrolled('passkey')
      const { submit } = await asserted(owner, authenticator)
      const rename = { key: key.id, name: 'Laptop' }
      expect(await keysOf().rename({ ...account(), ...rename })).toEqual({ outcome: 'none' })
      expect(await keysOf().remove({ ...account(), key: key.id })).toEqual({ outcome: 'none' })
      expect(await listed(owner)).toEqual([key])
      expect(await keysOf().rename({ ...owner, ...rename })).toEqual({ outcome: 'renamed' })
      expect(await listed(owner)).toEqual([{ ...key, name: 'Laptop' }])
      expect(await keysOf().remove({ ...owner, key: key.id })).toEqual({ outcome: 'removed' })
      expect(await keysOf().remove({ ...owner, key: key.id })).toEqual({ outcome: 'none' })
      expect(await listed(owner)).toEqual([])
      expect(await submit()).toEqual(invalid('unknown_key'))
    })
  })
}
