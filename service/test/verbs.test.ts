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

// The statements of the verbs are the same on both. On PostgreSQL, whose connections are many, requests race; `verbs-at-once.test.ts`
// runs there what comes one after the other.
describeOnBothDatabases((bench, database) => {
  const isAtOnceOnly = database === 'PostgreSQL'
  describe('sending', () => sendingSuite(bench, isAtOnceOnly))
  describe('several accounts at once', () => severalAccountsSuite(bench))
  describe('verifying', () => verifyingSuite(bench, isAtOnceOnly))
  describe('the authenticator app', () => appFactorSuite(bench, isAtOnceOnly))
  describe('backup codes', () => backupCodesSuite(bench, isAtOnceOnly))
  describe('notices', () => noticesSuite(bench, isAtOnceOnly))
  describe('transactions', () => transactionsSuite(bench, isAtOnceOnly))
  describe('the data of accounts', () => erasureSuite(bench, isAtOnceOnly))
  describe('security keys and passkeys', () => keysSuite(bench))
  if (isAtOnceOnly) return
  describe('requests about known and unknown accounts', () => sameWorkSuite(bench))
  describe('a store that fails', () => failingStoreSuite(bench))
})
