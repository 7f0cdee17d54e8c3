import { describe, expect, it } from 'vitest'
import { type Amr, addAmr, keyAmr, METHOD_AMR } from '../../src/protocol/factor.js'
import { isKeyMethod, METHODS } from '../../src/protocol/methods.js'
import { everyCase } from '../kit/every-case.js'

// RFC 8176 §2, all of it.
const registered = new Set(
  'face fpt geo hwk iris kba mca mfa otp pin pop pwd rba retina sc sms swk tel user vbm wia'.split(' '),
)

describe('amr speaks in words of RFC 8176 (R19)', () => {
  it('for every method', () => {
    expect(Object.keys(METHOD_AMR).sort()).toEqual(
      [...METHODS.filter((method) => !isKeyMethod(method)), 'backup'].sort(),
    )
    for (const words of Object.values(METHOD_AMR)) {
      expect(words.length).toBeGreaterThan(0)
      for (const word of words) expect(registered).toContain(word)
    }
  })

  it('is added to what was proven before', () =>
    everyCase<[readonly Amr[], keyof typeof METHOD_AMR, readonly Amr[]]>(
      [
        [['pwd'], 'app', ['pwd', 'otp', 'mfa']],
        [['pwd'], 'email', ['pwd', 'otp', 'mfa']],
        [['pwd'], 'sms', ['pwd', 'sms', 'mfa']],
        [['pwd'], 'whatsapp', ['pwd', 'sms', 'mfa']],
        [['pwd'], 'call', ['pwd', 'tel', 'mfa']],
        [['pwd'], 'dual', ['pwd', 'otp', 'sms', 'mfa']],
        [['pwd'], 'backup', ['pwd', 'otp', 'mfa']],
        [['hwk'], 'sms', ['sms', 'hwk', 'mfa']],
      ],
      ([before, method, expected]) => {
        expect(addAmr(before, METHOD_AMR[method])).toEqual(expected)
      },
    ))

  it('has each value once, however often the user steps up', () => {
    const once = addAmr(['pwd'], METHOD_AMR.sms)
    expect(addAmr(once, METHOD_AMR.sms)).toEqual(once)
    expect(addAmr(once, METHOD_AMR.app)).toEqual(['pwd', 'otp', 'sms', 'mfa'])
  })

  it('contains mfa only after two different factors', () => {
    expect(addAmr(['sms'], METHOD_AMR.sms)).toEqual(['sms'])
    expect(addAmr(['otp'], METHOD_AMR.email)).toEqual(['otp'])
    expect(addAmr([], METHOD_AMR.app)).toEqual(['otp'])
    expect(addAmr(addAmr(['sms'], METHOD_AMR.sms), METHOD_AMR.app)).toEqual(['otp', 'sms', 'mfa'])
    // One code goes to both: the telephone that was shown before is enough to read it.
    expect(addAmr(['sms'], METHOD_AMR.dual)).toEqual(['otp', 'sms'])
  })

  it('of a key is what its flags say, added to what was proven before (R19)', () =>
    everyCase<[readonly Amr[], boolean, boolean, readonly Amr[]]>(
      [
        [['pwd'], false, false, ['pwd', 'hwk', 'mfa']],
        [['pwd'], true, false, ['pwd', 'swk', 'mfa']],
        [['pwd'], false, true, ['pwd', 'hwk', 'user', 'mfa']],
        [['pwd'], true, true, ['pwd', 'swk', 'user', 'mfa']],
        // Possession and user verification are two factors, also alone.
        [[], true, true, ['swk', 'user', 'mfa']],
        [[], false, false, ['hwk']],
        [['hwk'], false, false, ['hwk']],
      ],
      ([before, backupEligible, userVerified, expected]) => {
        const added = keyAmr({ backupEligible }, userVerified)
        for (const word of added) expect(registered).toContain(word)
        expect(addAmr(before, added)).toEqual(expected)
      },
    ))
})
