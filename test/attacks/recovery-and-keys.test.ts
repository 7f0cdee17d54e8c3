import { describe, expect, it } from 'vitest'
import type { ItemStore } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { addKey, assertion, keyHost, signedIn } from '../keys/kit.js'
import { type HostSetup, jsonAgent } from '../kit/host.js'
import { ownPasskey } from '../kit/own-passkey.js'
import { login } from '../kit/sign-in.js'
import { recoveringHost, requestRecovery } from '../recovery/kit.js'

/** The host declares every login with this header a passkey sign-in of its own. */
const declares: HostSetup['options'] = {
  login: ownPasskey(({ req }) => req.get('x-passkey') !== undefined),
}

describe('an attacker who waits for a recovery (R94)', () => {
  it('loses it when the owner signs in with a passkey of the host', async () => {
    const made = recoveringHost({ options: declares })
    const { agent: attacker } = await requestRecovery(made)
    const owner = jsonAgent(made.app)
    const { body } = await login(owner, 'alice').set('x-passkey', '1').expect(200)
    expect(body.mfa.status).toBe('verified')
    expect((await attacker.get('/mfa/recover').expect(200)).body).toEqual({ status: 'none' })
    expect(made.told('recovery_canceled')).toMatchObject([{ userId: 'u-ali', by: 'strong_factor' }])
  })

  it('keeps nothing of it for later: no sign-in without that declaration cancels it', async () => {
    const made = recoveringHost({ options: declares })
    const { agent: attacker } = await requestRecovery(made)
    await login(jsonAgent(made.app), 'alice').expect(200)
    expect((await attacker.get('/mfa/recover').expect(200)).body.status).toBe('waiting')
  })

  it('loses it also where the store failed at the first sign-in, which signed nobody in', async () => {
    const store = memoryStore()
    let fails = false
    const failing: ItemStore = {
      ...store,
      remove: (owner, id) => (fails ? Promise.reject(new Error('down')) : store.remove(owner, id)),
      swap: (owner, id, before, value) =>
        fails ? Promise.reject(new Error('down')) : store.swap(owner, id, before, value),
    }
    const made = recoveringHost({ options: { ...declares, trustedDevices: { store: failing } } })
    const { agent: attacker } = await requestRecovery(made)
    const owner = jsonAgent(made.app)
    fails = true
    await login(owner, 'alice').set('x-passkey', '1').expect(503)
    await owner.get('/secret').expect(401)
    fails = false
    await login(owner, 'alice').set('x-passkey', '1').expect(200)
    expect((await attacker.get('/mfa/recover').expect(200)).body).toEqual({ status: 'none' })
  })
})

describe('an attacker in a trusted browser (R66, R94)', () => {
  it('is asked for the second factor once the owner has added a key, also a second one of its kind', async () => {
    const made = keyHost({ options: { trustedDevices: { store: 'memory' } } })
    const owner = await signedIn(made, 'bob', 'sms')
    const { device } = await addKey(owner, 'passkey')
    const browser = jsonAgent(made.app)
    await login(browser, 'bob').expect(200)
    const response = await assertion(browser, 'passkey', device)
    const { body } = await browser.post('/mfa/verify').send({ factor: 'passkey', response, trust: true })
    expect(body.trusted).toBe(true)
    expect((await login(browser, 'bob').expect(200)).body.mfa.trusted).toBe(true)
    await addKey(owner, 'passkey')
    await browser.get('/secret').expect(401)
    const { body: later } = await login(browser, 'bob').expect(200)
    expect(later.mfa).toMatchObject({ status: 'pending', trusted: false })
    expect(made.events).toContainEqual(
      expect.objectContaining({ type: 'devices_revoked', why: 'factor_change', count: 1 }),
    )
  })
})
