import { afterEach, beforeEach, describe, vi } from 'vitest'
import { describeOnOtherDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { appFactorSuite } from './suites/app-factor.js'
import { backupCodesSuite } from './suites/backup-codes.js'
import { erasureSuite } from './suites/erasure.js'
import { failingStoreSuite } from './suites/failing-store.js'
import { noticesSuite } from './suites/notices.js'
import { sameWorkSuite } from './suites/same-work.js'
import { sendingSuite } from './suites/sending.js'
import { severalAccountsSuite } from './suites/several-accounts.js'
import { transactionsSuite } from './suites/transactions.js'
import { verifyingSuite } from './suites/verifying.js'

// Only what happens at once can differ between the isolation levels. What comes one after the other runs in one of them.
const FOR_ALL = 'PostgreSQL, serializable by default'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnOtherDatabases((bench, _kind, name) => {
  const isAtOnceOnly = name !== FOR_ALL
  describe('several accounts at once', () => severalAccountsSuite(bench))
  describe('sending', () => sendingSuite(bench, isAtOnceOnly))
  describe('verifying', () => verifyingSuite(bench, isAtOnceOnly))
  describe('the authenticator app', () => appFactorSuite(bench, isAtOnceOnly))
  describe('backup codes', () => backupCodesSuite(bench, isAtOnceOnly))
  describe('notices', () => noticesSuite(bench, isAtOnceOnly))
  describe('transactions', () => transactionsSuite(bench, isAtOnceOnly))
  describe('the data of accounts', () => erasureSuite(bench, isAtOnceOnly))
  if (isAtOnceOnly) return
  describe('requests about known and unknown accounts', () => sameWorkSuite(bench))
  describe('a store that fails', () => failingStoreSuite(bench))
})
