import { describe, expect, it } from 'vitest'
import { accountAddress } from '../../src/protocol/contact.js'
import { readFactors } from '../../src/protocol/factor.js'
import { everyCase } from '../kit/every-case.js'

const sms = { method: 'sms', phone: '+447700900101' }
const ids = (list: unknown) => {
  const read = readFactors(list)
  return 'factors' in read ? read.factors.map(({ id }) => id) : read.faults
}
const faults = (list: unknown) => {
  const read = readFactors(list)
  return 'faults' in read ? read.faults.join('\n') : ''
}

describe('factors are named', () => {
  it('by their method, with a number from the second on', () => {
    const other = { method: 'sms', phone: '+447700900102' }
    const app = { method: 'app', user: 'alice@example.com' }
    expect(ids([sms, app, other, { ...sms, method: 'call' }, { ...sms, phone: '+447700900103' }])).toEqual([
      'sms',
      'app',
      'sms-2',
      'call',
      'sms-3',
    ])
  })

  it('by their own id if they have one', () => {
    expect(
      ids([
        { ...sms, id: 'work' },
        { ...sms, phone: '+447700900103' },
      ]),
    ).toEqual(['work', 'sms-2'])
  })

  it('once, if two rows have the same method and contact', () => {
    const email = (address: string) => ({ method: 'email', email: address })
    const list = [sms, email('bob@example.com'), sms, { ...sms, id: 'work' }, email('Bob@Example.com')]
    expect(ids(list)).toEqual(['sms', 'email'])
  })

  it('uniquely: two with the same id are a fault', () => {
    expect(
      faults([
        { ...sms, id: 'a' },
        { ...sms, id: 'a' },
      ]),
    ).toContain('two factors have the id "a"')
    expect(faults([{ ...sms, id: 'sms-2' }, sms])).toContain('two factors have the id "sms-2"')
  })

  it('never as "backup", which stands for backup codes', () => {
    expect(faults([{ ...sms, id: 'backup' }])).toContain('must not be "backup"')
  })
})

it('factors become contacts (R42)', () => {
  const list = [
    { method: 'app', user: '+447700900101', label: 'Phone app' },
    { method: 'email', email: 'a@example.com' },
    { method: 'dual', email: 'a@example.com', phone: '+447700900101' },
  ]
  expect(readFactors(list)).toEqual({
    factors: [
      { id: 'app', method: 'app', contact: { kind: 'phone', phone: '+447700900101' }, label: 'Phone app' },
      { id: 'email', method: 'email', contact: { kind: 'email', email: 'a@example.com' } },
      {
        id: 'dual',
        method: 'dual',
        contact: { kind: 'dual', email: 'a@example.com', phone: '+447700900101' },
      },
    ],
  })
  expect(readFactors([])).toEqual({ factors: [] })
})

describe('the faults of a list of factors are reported', () => {
  it.each<[string, unknown, string]>([
    ['not a list', 'sms', 'must be a list'],
    ['undefined', undefined, 'it is undefined, and must be a list'],
    ['an unknown method', [{ method: 'pigeon', phone: '+447700900101' }], 'one of app, email, sms'],
    ['not an object', [null], 'one of app, email, sms'],
    ['a number that is a number', [{ method: 'sms', phone: 447700900101 }], 'in E.164 format'],
    ['a missing number', [{ method: 'sms' }], 'in E.164 format'],
    ['several mailboxes', [{ method: 'email', email: ['a@example.com'] }], 'must be an email address'],
    ['the other contact', [{ method: 'sms', email: 'a@example.com' }], 'in E.164 format'],
    ['an app of two contacts', [{ method: 'app', user: ['a@example.com'] }], 'an email address or a phone'],
    ['an app without a user', [{ method: 'app' }], 'an email address or a phone'],
    ['an invalid id', [{ ...sms, id: 'Über' }], 'lower-case letters'],
    ['a long label', [{ ...sms, label: 'x'.repeat(61) }], 'at most 60 characters'],
    ['a label that is not text', [{ ...sms, label: 7 }], 'at most 60 characters'],
    ['too many', Array.from({ length: 21 }, () => sms), 'at most 20'],
  ])('%s', (_title, list, expected) => {
    expect(faults(list)).toContain(expected)
  })

  it('a missing property by its name', () =>
    everyCase<[unknown, string]>(
      [
        [[{ method: 'email', email: undefined }], '[0.email] is missing: must be an email address'],
        [[sms, { method: 'app' }], '[1.user] is missing: must be an email address or a phone'],
        [[{ method: 'dual', email: 'a@example.com' }], '[0.phone] is missing: must be a phone number'],
        [[{}], '[0.method] is missing: method must be'],
      ],
      ([list, expected]) => {
        expect(faults(list)).toContain(expected)
      },
    ))

  it('all together, each with its position', () => {
    const reported = faults([{ method: 'sms', phone: 7 }, sms, { method: 'email' }])
    expect(reported).toMatch(/^\[0\.phone\] .*\n\[2\.email\] /)
  })
})

describe('a contact that cannot be used (R153)', () => {
  const unusable = (list: unknown) => {
    const read = readFactors(list)
    return 'factors' in read ? read.factors.map((factor) => factor.unusable?.faults) : read.faults
  }

  it('leaves the other factors as they are', () => {
    const list = [{ method: 'sms', phone: '07700 900101' }, sms, { method: 'email', email: null }]
    expect(unusable(list)).toEqual([
      ['[0.phone] must be a phone number in E.164 format, like +447700900123'],
      undefined,
      [expect.stringContaining('[2.email] must be an email address')],
    ])
    expect(ids(list)).toEqual(['sms', 'sms-2', 'email'])
  })

  it('is named by everything that is wrong with it, without the contact', () => {
    const list = [
      { method: 'sms', phone: '07700900101' },
      { method: 'email', email: 'ann at example.com' },
      { method: 'app', user: 'ann@example.com:+447700900101' },
      { method: 'dual', email: 'ann', phone: '07700900101' },
    ]
    const reported = unusable(list)
    expect(reported).toHaveLength(4)
    expect(reported[3]).toHaveLength(2)
    expect(JSON.stringify(reported)).not.toMatch(/07700|ann/)
  })

  it('stands for an address that reaches nobody and that no user has', () => {
    const read = readFactors([{ method: 'email', email: 'u-7' }])
    const [factor] = 'factors' in read ? read.factors : []
    expect(factor?.contact).toMatchObject({
      email: expect.stringMatching(/^u\.[0-9a-f]{32}@account\.invalid$/),
    })
    expect(factor?.contact).not.toEqual(accountAddress('u-7'))
  })
})
