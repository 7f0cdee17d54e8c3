import { KeyObject } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOTP, Secret, TOTP } from 'otpauth'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { matchStep, newAppSecret } from '../src/accounts/authenticator-app/totp.js'
import { deriveDeliveredCode, newBackupCode } from '../src/store/secrets/codes.js'
import { deriveKeys, developmentSecret, type Keys } from '../src/store/secrets/keys.js'
import { open, seal } from '../src/store/secrets/seal.js'
import { SECRET } from './kit.js'

const keys = deriveKeys(SECRET)

describe('the test vectors of the RFCs (R49)', () => {
  const sha1 = Secret.fromLatin1('12345678901234567890')

  test('RFC 4226, appendix D', () => {
    const hotp = new HOTP({ secret: sha1, digits: 6 })
    const codes = Array.from({ length: 10 }, (_, counter) => hotp.generate({ counter }))
    expect(codes).toEqual([
      ...['755224', '287082', '359152', '969429', '338314'],
      ...['254676', '287922', '162583', '399871', '520489'],
    ])
  })

  test('has the codes of RFC 6238, appendix B', () =>
    everyCase(
      [
        [59, '94287082', '46119246', '90693936'],
        [1111111109, '07081804', '68084774', '25091201'],
        [1111111111, '14050471', '67062674', '99943326'],
        [1234567890, '89005924', '91819424', '93441116'],
        [2000000000, '69279037', '90698825', '38618901'],
        [20000000000, '65353130', '77737706', '47863826'],
      ],
      ([seconds, ...codes]) => {
        const seeds = {
          SHA1: '12345678901234567890',
          SHA256: '12345678901234567890123456789012',
          SHA512: '1234567890123456789012345678901234567890123456789012345678901234',
        }
        const made = Object.entries(seeds).map(([algorithm, seed]) =>
          new TOTP({ algorithm, digits: 8, secret: Secret.fromLatin1(seed) }).generate({
            timestamp: seconds * 1000,
          }),
        )
        expect(made).toEqual(codes)
        // The matched step confirms it: six digits are the last six of eight.
        const six = codes[0]?.slice(-6) ?? ''
        expect(matchStep(sha1.base32, six, seconds * 1000, 0).step).toBe(Math.floor(seconds / 30))
      },
    ))

  test.each(['', '12345', '1234567', '١٢٣٤٥٦', 'ABCDEF', '12345\u0131'])('%j matches no step', (code) => {
    expect(matchStep(newAppSecret(), code, Date.now(), 1)).toEqual({ step: undefined, passed: undefined })
  })
})

describe('the keys of a secret', () => {
  const bytesOf = (one: Keys) =>
    Object.values(one).flatMap((key) => (key instanceof KeyObject ? key.export().toString('hex') : []))

  test('are all different, and others than those of another secret (R40)', () => {
    const all = [...bytesOf(keys), ...bytesOf(deriveKeys(`${SECRET}.`))]
    expect(all).toHaveLength(12)
    expect(new Set(all).size).toBe(12)
  })
})

describe('a delivered code', () => {
  const identity = {
    application: 'a',
    id: 'i',
    account: 'c',
    contact: 'e',
    type: 'EMAIL',
    purpose: 'sign-in',
    digits: 6,
  }

  test('is uniformly distributed, leading zeros included (R35)', () => {
    const draws = 20_000
    const counts = Array.from({ length: 6 }, () => new Array<number>(10).fill(0))
    for (let i = 0; i < draws; i++) {
      const code = deriveDeliveredCode(keys.codes, { ...identity, id: String(i) })
      expect(code).toMatch(/^\d{6}$/)
      for (const [place, digit] of [...code].entries()) {
        const row = counts[place]
        if (row) row[Number(digit)] = (row[Number(digit)] ?? 0) + 1
      }
    }
    // Chi-squared with 9 degrees of freedom exceeds 40 for one set of keys in a hundred thousand.
    for (const row of counts) {
      const expected = draws / 10
      expect(row.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)).toBeLessThan(40)
    }
  })

  test('depends on everything it is bound to (R38)', () => {
    const base = deriveDeliveredCode(keys.codes, { ...identity, digits: 10 })
    expect(deriveDeliveredCode(keys.codes, { ...identity, digits: 10 })).toBe(base)
    for (const field of ['application', 'id', 'account', 'contact', 'type', 'purpose'] as const) {
      expect(deriveDeliveredCode(keys.codes, { ...identity, digits: 10, [field]: 'other' })).not.toBe(base)
    }
    const other = deriveKeys(`${SECRET} and another`)
    expect(deriveDeliveredCode(other.codes, { ...identity, digits: 10 })).not.toBe(base)
  })
})

test('a backup code uses all characters of its alphabet equally often', () => {
  const text = Array.from({ length: 500 }, () => newBackupCode(16)).join('')
  expect(new Set(text).size).toBe(32)
  expect(text).not.toMatch(/[ILOU]/)
})

describe('sealed text', () => {
  const sealed = seal(keys, ['app secret', 'a', 'c'], 'a secret')

  test('opens with the identity that it was sealed for, and never looks the same twice', () => {
    expect(open(keys, ['app secret', 'a', 'c'], sealed)).toBe('a secret')
    expect(seal(keys, ['app secret', 'a', 'c'], 'a secret')).not.toBe(sealed)
  })

  test.each([[['app secret', 'a', 'd']], [['app secret', 'b', 'c']], [['outbox', 'a', 'c']]])(
    'does not open as %j',
    (identity) => {
      expect(() => open(keys, identity, sealed)).toThrow()
    },
  )

  test('does not open if a bit differs or is missing, or with another key', () => {
    const [version, id, body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      expect(() =>
        open(keys, ['app secret', 'a', 'c'], `${version}.${id}.${changed.toString('base64url')}`),
      ).toThrow()
      const cut = `${version}.${id}.${bytes.subarray(0, i).toString('base64url')}`
      expect(() => open(keys, ['app secret', 'a', 'c'], cut)).toThrow()
    }
    expect(() => open(deriveKeys(`${SECRET}!`), ['app secret', 'a', 'c'], sealed)).toThrow('another key')
  })
})

describe('the key of the development inbox (R145)', () => {
  const folder = () => {
    const { path, remove } = temporaryFolder()
    onTestFinished(remove)
    return join(path, 'data')
  }

  test('is random, kept for its owner in a folder that git ignores, and no other secret', () => {
    const dataDir = folder()
    const key = developmentSecret(dataDir, 'inbox-key')
    expect(key).toMatch(/^[\w-]{43}$/)
    expect(developmentSecret(dataDir, 'inbox-key')).toBe(key)
    expect(developmentSecret(dataDir)).not.toBe(key)
    expect((statSync(join(dataDir, 'inbox-key')).mode & 0o777).toString(8)).toBe('600')
    expect(readFileSync(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n')
  })

  test('is another one in each process without a folder', () => {
    const keys = [1, 2].map(() => developmentSecret('memory://', 'inbox-key'))
    expect(new Set(keys).size).toBe(2)
  })

  test('is never an empty file, which an empty key would open', () => {
    const dataDir = folder()
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'inbox-key'), '\n')
    expect(() => developmentSecret(dataDir, 'inbox-key')).toThrow('inbox-key is empty')
  })
})
