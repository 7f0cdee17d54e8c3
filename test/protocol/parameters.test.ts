import { describe, expect, it } from 'vitest'
import { KEY_VERBS } from '../../src/protocol/key-verbs.js'
import { readMembers, writeParameters } from '../../src/protocol/names.js'
import { VERBS } from '../../src/protocol/verbs.js'

const User = 'ann@example.com'

describe('the parameters of a verb', () => {
  it('are the members of its request, with words in capitals and the method as Type', () => {
    const request = { method: 'sms', challenge: 'c1', transaction: 't1', purpose: 'step-up' } as const
    const parameters = { Type: 'SMS', Challenge: 'c1', Transaction: 't1', Purpose: 'step-up' } as const
    expect(writeParameters(VERBS.send.body, { ...request, account: 'user-1' })).toEqual(parameters)
    expect(readMembers(VERBS.send.body, { User, Account: 'user-1', ...parameters })).toEqual(request)
  })

  it('name the kinds of keys as the methods do', () => {
    const request = { method: 'security-key', purpose: 'sign-in', transaction: 't1' } as const
    const parameters = { Type: 'SECURITY_KEY', Purpose: 'sign-in', Transaction: 't1' } as const
    expect(writeParameters(KEY_VERBS.authenticationOptions.body, request)).toEqual(parameters)
    expect(readMembers(KEY_VERBS.authenticationOptions.body, { User, ...parameters })).toEqual(request)
  })

  it('keep the Type of a verification, which stands for several methods', () => {
    const fields = { User, Type: 'PHONE', Code: '123456', Kind: 'BACKUP' } as const
    expect(readMembers(VERBS.verify.body, fields)).toEqual({ type: 'PHONE', code: '123456', kind: 'backup' })
    expect(VERBS.verify.encode({ method: 'call' } as never)).toEqual({ Type: 'PHONE' })
  })

  it('hold the response of an authenticator as JSON', () => {
    const response = { id: 'a', type: 'public-key' }
    expect(
      writeParameters(KEY_VERBS.register.body, { method: 'passkey', transaction: 't1', response }),
    ).toEqual({
      Type: 'PASSKEY',
      Transaction: 't1',
      Response: JSON.stringify(response),
    })
  })

  it('leave a word that the service does not know for the service to refuse', () => {
    expect(writeParameters(VERBS.removeFactor.body, { factor: 'email' })).toEqual({ Factor: 'email' })
    expect(writeParameters(VERBS.send.body, { method: 'fax' })).toEqual({ Type: 'fax' })
  })
})
