import { describe, expect, it } from 'vitest'
import { type Amr, addAmr, METHOD_AMR } from '../../src/protocol/amr.js'
import { METHODS } from '../../src/protocol/methods.js'

// RFC 8176 §2, all of it.
const registered = new Set(
  'face fpt geo hwk iris kba mca mfa otp pin pop pwd rba retina sc sms swk tel user vbm wia'.split(' '),
)

describe('amr speaks in words of RFC 8176 (R19)', () => {
  it('for every method', () => {
    expect(Object.keys(METHOD_AMR).sort()).toEqual([...METHODS, 'backup'].sort())
    for (const words of Object.values(METHOD_AMR)) {
      expect(words.length).toBeGreaterThan(0)
      for (const word of words) expect(registered).toContain(word)
    }
  })

  it.each<[readonly Amr[], Parameters<typeof addAmr>[1], readonly Amr[]]>([
    [['pwd'], 'app', ['pwd', 'otp', 'mfa']],
    [['pwd'], 'email', ['pwd', 'otp', 'mfa']],
    [['pwd'], 'sms', ['pwd', 'sms', 'mfa']],
    [['pwd'], 'whatsapp', ['pwd', 'sms', 'mfa']],
    [['pwd'], 'call', ['pwd', 'tel', 'mfa']],
    [['pwd'], 'dual', ['pwd', 'otp', 'sms', 'mfa']],
    [['pwd'], 'backup', ['pwd', 'otp', 'mfa']],
    [['hwk'], 'sms', ['sms', 'hwk', 'mfa']],
  ])('%j and then %s makes %j', (before, method, expected) => {
    expect(addAmr(before, method)).toEqual(expected)
  })

  it('has each value once, however often the user steps up', () => {
    const once = addAmr(['pwd'], 'sms')
    expect(addAmr(once, 'sms')).toEqual(once)
    expect(addAmr(once, 'app')).toEqual(['pwd', 'otp', 'sms', 'mfa'])
  })

  it('contains mfa only after two different factors', () => {
    expect(addAmr(['sms'], 'sms')).toEqual(['sms'])
    expect(addAmr(['otp'], 'email')).toEqual(['otp'])
    expect(addAmr([], 'app')).toEqual(['otp'])
    expect(addAmr(addAmr(['sms'], 'sms'), 'app')).toEqual(['otp', 'sms', 'mfa'])
    // One code goes to both: the telephone that was shown before is enough to read it.
    expect(addAmr(['sms'], 'dual')).toEqual(['otp', 'sms'])
  })
})
