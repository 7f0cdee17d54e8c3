import { afterEach, beforeEach, describe, vi } from 'vitest'
import { describeOnBothDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { appFactorSuite } from './suites/app-factor.js'
import { backupCodesSuite } from './suites/backup-codes.js'
import { erasureSuite } from './suites/erasure.js'
import { failingStoreSuite } from './suites/failing-store.js'
import { keysSuite } from './suites/keys.js'
import { noticesSuite } from './suites/notices.js'
import { sameWorkSuite } from './suites/same-work.js'
import { sendingSuite } from './suites/sending.js'
import { severalAccountsSuite } from './suites/several-accounts.js'
import { transactionsSuite } from './suites/transactions.js'
import { verifyingSuite } from './suites/verifying.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  describe('sending', () => sendingSuite(bench))
  describe('several accounts at once', () => severalAccountsSuite(bench))
  describe('verifying', () => verifyingSuite(bench))
  describe('the authenticator app', () => appFactorSuite(bench))
  describe('backup codes', () => backupCodesSuite(bench))
  describe('security keys and passkeys', () => keysSuite(bench))
  describe('requests about known and unknown accounts', () => sameWorkSuite(bench))
  describe('notices', () => noticesSuite(bench))
  describe('transactions', () => transactionsSuite(bench))
  describe('the data of accounts', () => erasureSuite(bench))
  describe('a store that fails', () => failingStoreSuite(bench))
})
