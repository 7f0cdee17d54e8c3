import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/flows/canonical-json.js'
import { everyCase } from '../kit/every-case.js'

describe('the canonical form of JSON (RFC 8785)', () => {
  it('sorts members by UTF-16 code units, at every depth', () => {
    // RFC 8785 §3.2.3
    const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
    expect(Object.values(JSON.parse(canonicalJson(names)) as object)).toHaveLength(7)
    expect(canonicalJson(names)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    )
    expect(canonicalJson({ b: { d: 1, c: [2, { f: 3, e: 4 }] }, a: null })).toBe(
      '{"a":null,"b":{"c":[2,{"e":4,"f":3}],"d":1}}',
    )
  })

  it('writes numbers as ECMAScript does', () =>
    everyCase(
      [
        [-0, '0'],
        [1e21, '1e+21'],
        [0.1, '0.1'],
        [5e-324, '5e-324'],
        [333333333.3333333, '333333333.3333333'],
        [9007199254740992, '9007199254740992'],
        [1e-7, '1e-7'],
      ] as const,
      ([number, text]) => {
        expect(canonicalJson(number)).toBe(text)
      },
    ))

  it('escapes in texts only what it must, and normalizes nothing', () => {
    expect(canonicalJson('\u20ac$\u000f\nA\'"\\/')).toBe('"\u20ac$\\u000f\\nA\'\\"\\\\/"')
    expect(canonicalJson('e\u0301')).not.toBe(canonicalJson('\u00e9'))
  })

  it('leaves out members that are undefined, as JSON does', () => {
    expect(canonicalJson({ a: undefined, b: { c: undefined } })).toBe('{"b":{}}')
  })

  it('refuses what it cannot write exactly', () =>
    everyCase(
      [
        undefined,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1n,
        Symbol('x'),
        () => 1,
        '\ud800',
        { '\udc00': 1 },
        new Date(0),
        new Map(),
        [undefined],
      ],
      (value) => {
        expect(() => canonicalJson(value)).toThrow(TypeError)
      },
    ))
})
