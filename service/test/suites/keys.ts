import type { KeyFault, KeyMethod } from 'countersign/protocol'
import { expect, test } from 'vitest'
import { softwareAuthenticator } from '../../../src/testing/software-authenticator.js'
import { DEFAULT_KEY_POLICY } from '../../src/accounts/applications/key-settings.js'
import { operator } from '../../src/operator/operator.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import { advance, type Bench, eventually, freshEmail, freshTenant, SECRET } from '../kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from '../software-key.js'

/** Security keys and passkeys (R19, R69, R70, R71, R72). */
export function keysSuite(bench: () => Bench): void {
  type Settings = Parameters<typeof freshTenant>[1]

  /** A tenant with keys, and one account of it. */
  function vault(settings: Settings = {}) {
    const tenant = freshTenant(bench(), { relyingParty: RELYING_PARTY, ...settings })
    return { ...tenant, keys: keysOf(tenant.mfa), user: { account: 'ann', contact: freshEmail() } }
  }
  type Vault = ReturnType<typeof vault>

  const register = (
    { mfa, user }: Vault,
    method: KeyMethod,
    device = softwareAuthenticator(),
    name?: string,
  ) => registerSoftwareKey(mfa, user, method, { device, ...(name !== undefined && { name }) })

  async function assertion(
    { keys, user }: Vault,
    method: KeyMethod,
    device: ReturnType<typeof softwareAuthenticator>,
    page: Parameters<typeof device.get>[1] = KEY_PAGE,
  ) {
    const ceremony = { ...user, method, purpose: 'sign-in', transaction: 'login 1' } as const
    const options = await optionsIn(keys.authenticationOptions(ceremony))
    return { ...ceremony, response: device.get(options, page) }
  }

  const invalid = (fault: KeyFault) => ({ outcome: 'invalid', fault })

  test.each(['security-key', 'passkey'] as const)(
    'registers a %s and accepts it (R69, R70)',
    async (method) => {
      const tenant = vault()
      const { keys, user, mfa } = tenant
      expect(await mfa.factorsOf?.(user)).toMatchObject({ existing: [] })
      const { device, answer } = await register(tenant, method)
      const key = { method, backupEligible: false, backedUp: false, createdAt: Date.now() }
      expect(answer).toMatchObject({ outcome: 'registered', key })
      expect(await mfa.factorsOf?.(user)).toMatchObject({ existing: [{ method, usable: true }] })
      advance(60)
      const request = await assertion(tenant, method, device)
      expect(await keys.authenticate(request)).toMatchObject({
        outcome: 'valid',
        key: { ...key, lastUsedAt: Date.now() },
        userVerified: method === 'passkey',
      })
      expect(await mfa.factorsOf?.(user)).toMatchObject({
        lastUsed: [{ type: method === 'passkey' ? 'PASSKEY' : 'SECURITY_KEY', at: Date.now() }],
      })
      expect(await keys.authenticate(request)).toEqual(invalid('challenge'))
    },
  )

  test('asks security keys without, and passkeys with user verification, for the keys of that kind', async () => {
    const tenant = vault()
    const { keys, user } = tenant
    const key = await register(tenant, 'security-key')
    const passkey = await register(tenant, 'passkey')
    const ids = [key, passkey].map(({ device }) => device.credentials()[0]?.id)
    const ask = (method: KeyMethod) =>
      optionsIn(keys.authenticationOptions({ ...user, method, purpose: 'step-up', transaction: 't' }))
    expect(await ask('security-key')).toMatchObject({
      rpId: 'example.com',
      userVerification: 'discouraged',
      hints: ['security-key'],
      allowCredentials: [{ id: ids[0], type: 'public-key', transports: ['usb'] }],
    })
    expect(await ask('passkey')).toMatchObject({
      userVerification: 'required',
      allowCredentials: [{ id: ids[1] }],
    })
    const create = (method: KeyMethod) =>
      optionsIn(keys.registrationOptions({ ...user, method, transaction: 't', userName: 'ann@example.com' }))
    const { userHandle } = await listed(tenant)
    expect(await create('security-key')).toMatchObject({
      rp: { id: 'example.com', name: 'Vault' },
      user: { id: userHandle, name: 'ann@example.com', displayName: 'ann@example.com' },
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'discouraged' },
      excludeCredentials: [{ id: ids[0] }],
      attestation: 'none',
    })
    expect(await create('passkey')).toMatchObject({
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      excludeCredentials: [{ id: ids[1] }],
    })
  })

  async function listed({ keys, user }: Vault) {
    const list = await keys.list(user)
    if ('outcome' in list) throw new Error(list.refusal.reason)
    return list
  }

  test('lists, renames and removes keys', async () => {
    const tenant = vault()
    const { keys, user, mfa } = tenant
    expect(await keys.list(user)).toEqual({ keys: [], relyingPartyId: 'example.com' })
    await register(tenant, 'security-key', softwareAuthenticator(), 'Blue')
    advance(1)
    const yubikey = softwareAuthenticator({ aaguid: 'ee882879-721c-4913-9775-3dfcce97072a' })
    await register(tenant, 'passkey', yubikey)
    advance(1)
    await register(tenant, 'passkey')
    const { keys: stored, userHandle } = await listed(tenant)
    expect(stored.map(({ name }) => name)).toEqual(['Blue', 'YubiKey', 'Passkey'])
    expect(userHandle).toMatch(/^[\w-]{43}$/)
    const id = stored[1]?.id ?? ''
    expect(await keys.rename({ ...user, key: id, name: 'Green' })).toEqual({ outcome: 'renamed' })
    expect(await keys.rename({ ...user, account: 'bob', key: id, name: 'Mine' })).toEqual({ outcome: 'none' })
    expect(await keys.remove({ ...user, account: 'bob', key: id })).toEqual({ outcome: 'none' })
    expect((await listed(tenant)).keys.map(({ name }) => name)).toEqual(['Blue', 'Green', 'Passkey'])
    for (const { id: key } of stored.slice(1)) {
      expect(await keys.remove({ ...user, key })).toEqual({ outcome: 'removed' })
    }
    expect(await keys.remove({ ...user, key: id })).toEqual({ outcome: 'none' })
    expect(await mfa.factorsOf?.(user)).toMatchObject({
      existing: [{ method: 'security-key', usable: true }],
    })
    expect(await keys.relyingParty()).toEqual({
      id: 'example.com',
      name: 'Vault',
      origins: ['https://app.example.com'],
      relatedOrigins: ['https://vault.example'],
    })
  })

  test('can be listed and removed by an operator, which the audit log records without naming the account', async () => {
    const tenant = vault()
    const { application, user, mfa } = tenant
    const ops = operator(bench().store, 'ops', { keys: () => deriveKeys(SECRET) })
    await ops.createApplication(application.id)
    await register(tenant, 'passkey', softwareAuthenticator(), 'Blue')
    const reference = { application: application.id, mode: 'live', user: 'ann', isAccount: true } as const
    const [key] = await ops.listUserKeys(reference)
    expect(key).toMatchObject({ method: 'passkey', name: 'Blue' })
    expect(await ops.showUser(reference)).toMatchObject({ keys: 1 })
    expect(await ops.listUsers({ ...reference, limit: 10 })).toMatchObject({ users: [{ keys: 1 }] })
    expect(await ops.disableFactor(reference, 'passkey')).toEqual({ factor: 'PASSKEY', wasKnown: true })
    await ops.removeUserKey(reference, key?.id ?? '')
    await expect(ops.removeUserKey(reference, key?.id ?? '')).rejects.toThrow('ann has no such key')
    expect(await mfa.factorsOf?.(user)).toMatchObject({ existing: [] })
    const [entry] = await ops.listAudit({ application: application.id, limit: 1 })
    expect(entry).toMatchObject({
      action: 'factor.removed',
      detail: expect.stringMatching(/^PASSKEY of account [0-9a-f]{12}$/),
    })
  })

  test('consumes a challenge for its account, method, purpose and transaction only, within five minutes (R70)', async () => {
    const tenant = vault()
    const { keys } = tenant
    const { device } = await register(tenant, 'security-key')
    const request = await assertion(tenant, 'security-key', device)
    for (const other of [
      { account: 'bob' },
      { method: 'passkey' as const },
      { purpose: 'step-up' as const },
      { transaction: 'login 2' },
    ]) {
      expect(await keys.authenticate({ ...request, ...other })).toEqual(invalid('challenge'))
    }
    const otherTenant = vault()
    expect(await otherTenant.keys.authenticate(request)).toEqual(invalid('challenge'))
    advance(299)
    expect(await keys.authenticate(request)).toMatchObject({ outcome: 'valid' })
    const late = await assertion(tenant, 'security-key', device)
    advance(300)
    expect(await keys.authenticate(late)).toEqual(invalid('challenge'))
  })

  test('keeps the challenges of the last 50 ceremonies of an account, whatever others begin (R70)', async () => {
    const tenant = vault()
    const { keys, user } = tenant
    const { device } = await register(tenant, 'security-key')
    const begin = async (account: string, times: number) => {
      advance(1)
      const ceremony = { ...user, account, method: 'security-key', purpose: 'sign-in' } as const
      for (let i = 0; i < times; i++)
        await optionsIn(keys.authenticationOptions({ ...ceremony, transaction: 't' }))
    }
    const oldest = await assertion(tenant, 'security-key', device)
    advance(1)
    const kept = await assertion(tenant, 'security-key', device)
    await begin('bob', 50)
    await begin('ann', 49)
    expect(await keys.authenticate(oldest)).toEqual(invalid('challenge'))
    expect(await keys.authenticate(kept)).toMatchObject({ outcome: 'valid' })
  })

  test('removes the challenges of an account that have expired when it begins another ceremony (R70)', async () => {
    const { keys, user, application } = vault()
    const ceremony = { ...user, method: 'passkey', purpose: 'sign-in', transaction: 't' } as const
    await optionsIn(keys.authenticationOptions(ceremony))
    advance(300)
    await optionsIn(keys.authenticationOptions(ceremony))
    const stored = 'SELECT 1 FROM key_challenge WHERE application = $1'
    expect(await bench().store.query(stored, [application.id])).toHaveLength(1)
  })

  test('refuses a key of another account, and one that nobody has (R70)', async () => {
    const tenant = vault()
    const { keys, user } = tenant
    const { device } = await register(tenant, 'passkey')
    const bob = { ...tenant, user: { account: 'bob', contact: freshEmail() } }
    const request = await assertion(bob, 'passkey', device)
    expect(await keys.authenticate(request)).toEqual(invalid('user_handle'))
    const again = await assertion(bob, 'passkey', device)
    const { userHandle: _userHandle, ...response } = again.response.response
    expect(await keys.authenticate({ ...again, response: { ...again.response, response } })).toEqual(
      invalid('user_handle'),
    )
    const [key] = (await listed(tenant)).keys
    const own = await assertion(tenant, 'passkey', device)
    await keys.remove({ ...user, key: key?.id ?? '' })
    expect(await keys.authenticate(own)).toEqual(invalid('unknown_key'))
  })

  test('refuses a credential that an account of the application has (R72)', async () => {
    const tenant = vault()
    const { device, response } = await register(tenant, 'passkey')
    const stored = await listed(tenant)
    for (const account of ['ann', 'bob']) {
      const other = { ...tenant, user: { ...tenant.user, account } }
      const ceremony = { ...other.user, method: 'passkey', transaction: 'again' } as const
      const { excludeCredentials: _excluded, ...options } = Object(
        await optionsIn(tenant.keys.registrationOptions(ceremony)),
      )
      // Without an attestation, nothing signs the client data, so that another challenge fits the same credential.
      const { clientDataJSON } = device.create(options, KEY_PAGE).response
      const again = { ...response, response: { ...response.response, clientDataJSON } }
      expect(await tenant.keys.register({ ...ceremony, response: again })).toEqual(invalid('registered'))
    }
    expect(await listed(tenant)).toEqual(stored)
  })

  test.each(['refuse', 'flag'] as const)(
    'compares the signature counter after the signature, and notifies the user (policy %s, R71)',
    async (counter) => {
      const tenant = vault({ keyPolicy: { ...DEFAULT_KEY_POLICY, counter } })
      const { keys, sent } = tenant
      const { device } = await register(tenant, 'security-key')
      const sign = (count: number) =>
        assertion(tenant, 'security-key', device, { ...KEY_PAGE, changes: { counter: count } })
      const forged = await sign(3)
      const { response } = forged.response
      const signature = `${response.signature.slice(0, -8)}AAAAAAAA`
      const isNotTaken = counter === 'refuse' ? invalid('counter') : { outcome: 'valid' }
      expect(await keys.authenticate(await sign(7))).toMatchObject({ outcome: 'valid' })
      expect(
        await keys.authenticate({
          ...forged,
          response: { ...forged.response, response: { ...response, signature } },
        }),
      ).toEqual(invalid('signature'))
      const notices = () => sent().filter(({ subject }) => subject.includes('copied')).length
      expect(notices()).toBe(0)
      expect(await keys.authenticate(await sign(7))).toMatchObject(isNotTaken)
      expect(await keys.authenticate(await sign(0))).toMatchObject(isNotTaken)
      await eventually(() => expect(notices()).toBe(2))
      expect(await keys.authenticate(await sign(8))).toMatchObject({ outcome: 'valid' })
    },
  )

  test('flags a synced key whose devices count each on its own, as its registration says (R71, R107)', async () => {
    const tenant = vault()
    const { keys, sent } = tenant
    const synced = softwareAuthenticator({ backupEligible: true, backedUp: true })
    const { device } = await register(tenant, 'passkey', synced)
    const sign = (count: number) =>
      assertion(tenant, 'passkey', device, { ...KEY_PAGE, changes: { counter: count } })
    const notices = () => sent().filter(({ subject }) => subject.includes('copied')).length
    for (const count of [5, 9])
      expect(await keys.authenticate(await sign(count))).toMatchObject({ outcome: 'valid' })
    expect(notices()).toBe(0)
    for (const count of [7, 7, 2]) {
      expect(await keys.authenticate(await sign(count))).toMatchObject({ outcome: 'valid' })
    }
    await eventually(() => expect(notices()).toBe(3))
  })
}
