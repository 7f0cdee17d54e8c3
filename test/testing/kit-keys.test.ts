import { afterEach, describe, expect, it } from 'vitest'
import { mfaTestKit, softwareAuthenticator } from '../../src/testing/index.js'
import { describeKeys, RELYING_PARTY } from '../contract/keys.js'

const kit = mfaTestKit({ relyingParty: RELYING_PARTY })
afterEach(() => kit.reset())

describe('the test kit', () => {
  describeKeys({ opened: () => kit })

  it('offers keys only with a relying party', async () => {
    const contact = { kind: 'email', email: 'bob@example.com' } as const
    expect(mfaTestKit().service.keys).toBeUndefined()
    expect((await mfaTestKit().service.factorsOf?.({ contact }))?.offeredKeys).toBeUndefined()
    const { service } = mfaTestKit({ relyingParty: { id: 'example.org' } })
    expect(await service.keys?.relyingParty()).toMatchObject({ origins: ['https://example.org'] })
  })

  it('makes calls for keys fail', async () => {
    const request = { contact: { kind: 'email', email: 'bob@example.com' }, method: 'passkey' } as const
    const options = () => kit.service.keys?.registrationOptions({ ...request, transaction: 'enroll-1' })
    kit.fail('down', { verb: 'register' })
    const prepared = await options()
    if (prepared?.outcome !== 'prepared') throw new Error('No options were prepared.')
    const [origin = ''] = RELYING_PARTY.origins
    const response = softwareAuthenticator().create(prepared.options, { origin })
    const register = () => kit.service.keys?.register({ ...request, transaction: 'enroll-1', response })
    await expect(register()).rejects.toThrow('Simulated failure')
    expect(await register()).toMatchObject({ outcome: 'registered' })
    kit.fail('late')
    await expect(options()).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_TIMEOUT' })
  })
})
