import { afterAll, afterEach, beforeAll, beforeEach, describe, vi } from 'vitest'
import { type Bench, openBench, stopClock } from './kit.js'
import { appFactorSuite } from './suites/app-factor.js'
import { backupCodesSuite } from './suites/backup-codes.js'
import { sendingSuite } from './suites/sending.js'
import { verifyingSuite } from './suites/verifying.js'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

// One embedded database costs seconds to start, so the verbs share it; every test has an application of its own.
describe('sending', () => sendingSuite(() => bench))
describe('verifying', () => verifyingSuite(() => bench))
describe('the authenticator app', () => appFactorSuite(() => bench))
describe('backup codes', () => backupCodesSuite(() => bench))
