import { describe, expect, it } from 'vitest'
import { isFresh } from '../../src/flows/freshness.js'
import { getStrength } from '../../src/protocol/factor.js'
import type { MfaRecord } from '../../src/session/record.js'
import { readRecord, writeRecord } from '../../src/session/record-text.js'
import { everyCase } from '../kit/every-case.js'

const owner = {
  product: '/mfa',
  userId: '3f2c1b7e-8a5d-4f6e-9c0b-1a2b3c4d5e6f',
  sessionId: 'uo_xjSvALw8IC1O3SqWoGzbjK4RwRA3B',
}
const base = { ...owner, transaction: 'IkK-Wc6VxZovorPo', startedAt: 1_795_300_000_000 }
const settled = { at: 1_795_300_000_500, changes: 3 }
const verified: MfaRecord = {
  ...base,
  stage: 'verified',
  verifiedAt: 1_795_300_060_000,
  amr: ['pwd', 'otp', 'mfa'],
  shown: { app: 1_795_300_060_000 },
}
const challenge = {
  id: 'Q3c5mZ0VwqgI8h1n',
  factorId: 'sms-2',
  method: 'sms',
  delivery: 'queued',
  startedAt: 1_795_300_001_000,
  expiresAt: 1_795_300_301_000,
  resendAt: 1_795_300_031_000,
  service: '5f0c8b7e-8a5d-4f6e-9c0b-1a2b3c4d5e6f',
} as const

const records: readonly [string, MfaRecord][] = [
  ['pending', { ...base, stage: 'pending' }],
  [
    'pending, with a challenge and a return address',
    { ...base, stage: 'pending', returnTo: '/vault', challenge },
  ],
  [
    'pending, with a message whose delivery is reported',
    { ...base, stage: 'pending', challenge: { ...challenge, reports: true } },
  ],
  [
    'pending, in a grace period',
    { ...base, stage: 'pending', grace: { until: 1_795_400_000_000, minStrength: 'strong' } },
  ],
  ['verified', verified],
  [
    'verified by several methods',
    { ...verified, shown: { ...verified.shown, sms: 1, backup: 2, phone_backup: 3 } },
  ],
  ['verified by the setup of a factor', { ...verified, shown: {}, setUp: { app: verified.verifiedAt } }],
  [
    'verified, and a factor set up',
    { ...verified, shown: { sms: 1, passkey: 2 }, setUp: { passkey: verified.verifiedAt, app: 3 } },
  ],
  ['verified, with nothing shown', { ...verified, amr: [], shown: {} }],
  ['verified, in a step-up', { ...verified, stepUp: { factors: ['app'], backup: false }, returnTo: '/pay' }],
  [
    'verified, with every optional field',
    {
      ...verified,
      enrollment: { id: 'x', startedAt: 1 },
      interrupted: { path: '/pay', at: 1, fields: { to: 'x' }, labels: { to: { en: 'To' }, _csrf: false } },
      backupCodes: { left: 2, next: '/home' },
      codesSent: { count: 10 },
      keyOffer: { next: '/home', tried: true },
      weakApp: true,
    },
  ],
  [
    'trusted',
    {
      ...base,
      stage: 'trusted',
      device: '0raDciWoy_VMeB9lq0_kyg',
      factors: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
      settled,
    },
  ],
  ['exempt by the policy', { ...base, stage: 'exempt', exemption: 'policy', settled }],
  [
    'exempt by the policy, after a login that proved the user',
    { ...base, stage: 'exempt', exemption: 'proven', settled },
  ],
  ['exempt without a factor', { ...base, stage: 'exempt', exemption: 'not_required', settled }],
  [
    'exempt in a grace period',
    { ...base, stage: 'exempt', exemption: 'not_required', settled, grace: { until: 1_795_300_900_000 } },
  ],
  [
    'exempt in a grace period for a strength, with a return address',
    {
      ...base,
      stage: 'exempt',
      exemption: 'not_required',
      settled,
      grace: { until: 1_795_300_900_000, minStrength: 'strong' },
      returnTo: '/vault',
    },
  ],
  ['of a user whose id holds spaces', { ...base, stage: 'pending', userId: 'anna b  c ' }],
  ['of a user whose id is not ASCII', { ...base, stage: 'pending', userId: 'änna "b"' }],
]

describe('a record in the session', () => {
  it('is read as it was written', () =>
    everyCase(records, ([_title, record]) => {
      const stored: unknown = JSON.parse(JSON.stringify(writeRecord(record)))
      expect(readRecord(stored, record)).toEqual(record)
    }))

  it('is ignored for another user or session, also after it was read for its own (R04)', () =>
    everyCase(records, ([_title, record]) => {
      const stored = writeRecord(record)
      expect(readRecord(stored, record)).toEqual(record)
      expect(readRecord(stored, { ...record, userId: `${record.userId}x` })).toBeUndefined()
      expect(readRecord(stored, { ...record, sessionId: `${record.sessionId}x` })).toBeUndefined()
    }))

  it('is shared by the requests of its session, and changed by none of them', () => {
    const text = writeRecord(verified)
    const read = () => readRecord(text, owner)
    expect(Object.isFrozen(read())).toBe(true)
    expect(readRecord({ record: text, returnTo: '/vault' }, owner)).toEqual({
      ...verified,
      returnTo: '/vault',
    })
    expect(read()).toEqual(verified)
  })

  it('is ignored unless each of its fields fits', () => {
    const time = 'mwtn6qkg'
    return everyCase(
      [
        `2p abc ${time} x`,
        `2x abc ${time}`,
        '2p abc TIME',
        `2v abc TIME ${time} psm s`,
        `2v abc ${time} ${time} psm s-1`,
        `2x abc ${time} p ${time} 0`,
        `2e abc ${time} x ${time} 0`,
        `2e abc ${time} p TIME 0`,
        `2e abc ${time} p ${time} -1`,
        `2e abc ${time} p x ${time} 0`,
        `2x abc ${time} device factors ${time} 0`,
        `2t abc ${time}  factors ${time} 0`,
        `2t abc ${time} device factors x ${time} 0`,
      ],
      (text) => {
        const whole = `${text} ${owner.sessionId} ${owner.userId}`
        expect(readRecord(whole, owner)).toBeUndefined()
        expect(readRecord({ record: whole, returnTo: '/vault' }, owner)).toBeUndefined()
      },
    )
  })

  it('is ignored unless it is a text, or an object that holds one', () =>
    everyCase([[undefined], [null], [7], [{}], [{ record: 7 }], [{ record: null }]], ([stored]) =>
      expect(readRecord(stored, owner)).toBeUndefined(),
    ))

  it('is ignored with an activity that does not fit', () =>
    everyCase(records, ([_title, record]) => {
      const stored = writeRecord(record)
      const text = typeof stored === 'string' ? stored : stored.record
      expect(readRecord({ record: text, returnTo: '/vault' }, record)).toMatchObject({ returnTo: '/vault' })
      expect(readRecord({ record: text, returnTo: 7 }, record)).toBeUndefined()
    }))

  it('is one text unless something is under way in the session', () => {
    expect(writeRecord(verified)).toBeTypeOf('string')
    expect(writeRecord({ ...verified, returnTo: '/pay' })).toEqual({
      record: writeRecord(verified),
      returnTo: '/pay',
    })
  })

  it('never becomes verified when a character is missing', () =>
    everyCase(records, ([_title, record]) => {
      const stored = writeRecord(record)
      const text = typeof stored === 'string' ? stored : stored.record
      for (const [at] of [...text].entries()) {
        // A shorter time or transaction can still parse, and a shorter list of methods proves less.
        const read = readRecord(text.slice(0, at) + text.slice(at + 1), record)
        if (read) expect(['pending', 'verified', 'trusted', 'exempt']).toContain(read.stage)
        if (read?.stage === 'verified') expect(record.stage).toBe('verified')
      }
    }))

  it('takes less than 120 bytes in a verified session without a challenge or an enrollment', () => {
    expect(Buffer.byteLength(JSON.stringify(writeRecord(verified)))).toBeLessThan(120)
  })

  it('is a text without an object in a grace period, since every page of it reads the record', () => {
    const grace = { until: 1_795_300_900_000, minStrength: 'strong' } as const
    const exempt = { ...base, stage: 'exempt', exemption: 'not_required', settled, grace } as const
    const text = writeRecord(exempt)
    expect(text).toMatch(/^2e \S+ \S+ n,\w+,strong /)
    for (const wrong of ['n,', 'n,x,unknown', 'n,x,strong,x', 'n,,strong', 'q,x']) {
      const changed = String(text).replace(/ n,\w+,strong /, ` ${wrong} `)
      expect(readRecord(changed, exempt), wrong).toBeUndefined()
    }
  })

  it('takes less than 300 bytes while a challenge is pending', () => {
    const pending: MfaRecord = { ...base, stage: 'pending', returnTo: '/vault', challenge }
    expect(Buffer.byteLength(JSON.stringify(writeRecord(pending)))).toBeLessThan(300)
  })
})

describe('a backup code in a record that does not name its contact (R93)', () => {
  it('counts as a code that was sent to a mailbox', () => {
    const text = `2v IkK-Wc6VxZovorPo mwtn6qkg mwtn81v4 pom b ${owner.sessionId} ${owner.userId}`
    const record = readRecord(text, owner)
    expect(record).toMatchObject({ stage: 'verified', shown: { backup: expect.any(Number) } })
    expect(
      isFresh(record, {
        maxAgeMs: Number.MAX_SAFE_INTEGER,
        accepts: (shown) => getStrength(shown) !== 'weak',
      }),
    ).toBe(false)
  })
})
