import { expect, it } from 'vitest'
import { readOptions } from '../../src/options/settings.js'
import { WORKING } from './read.js'

it('an option has one name from the app to the code that reads it, and a time has its unit in addition', () => {
  const given = {
    location: () => 'Lyon',
    login: { pendingPaths: ['/help'], pendingLifetime: '3m' },
    limits: { codeLifetime: '2m', lockDuration: '20m', resendWaits: ['40s', '50s'] },
    notices: { store: 'memory', onNotice: () => {} },
    languages: { offer: ['en', 'de'] },
    trustedDevices: { store: 'memory', maxAge: '2d' },
    service: { ...WORKING.service, timeout: '4s', breaker: { failures: 3 } },
  }
  const settings = readOptions({ ...WORKING, ...given })
  expect(settings).toMatchObject({
    location: expect.any(Function),
    login: { pendingPaths: ['/help'], pendingLifetimeMs: 180_000 },
    limits: { codeLifetimeMs: 120_000, lockDurationMs: 1_200_000, resendWaitsMs: [40_000, 50_000] },
    notices: { store: 'memory', onNotice: expect.any(Function) },
    languages: given.languages,
    trustedDevices: { maxAgeMs: 172_800_000 },
    service: { timeoutMs: 4_000, breaker: { failures: 3 } },
  })
  const times = ['login.pendingLifetime', 'limits.codeLifetime', 'trustedDevices.maxAge']
  for (const time of times) expect(settings).not.toHaveProperty(time)
})
