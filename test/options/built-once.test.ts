import { expect, it } from 'vitest'
import { type MfaOptions, MfaStrategy, mfaRouter, mfaSession } from '../../src/index.js'

it('one options object is read once, so that all parts share one client and one set of counters', () => {
  let reads = 0
  const options: MfaOptions<{ id: string }> = {
    get service() {
      reads += 1
      return { baseUrl: 'https://mfa.example.com', apiKey: '0123456789abcdef' }
    },
    factors: () => [],
  }
  mfaSession(options)
  const readOnce = reads
  mfaRouter(options)
  mfaSession(options)
  new MfaStrategy(options)
  expect(reads).toBe(readOnce)

  // Another object is another app with separate limits.
  mfaSession({ ...options })
  expect(reads).toBeGreaterThan(readOnce)
})
