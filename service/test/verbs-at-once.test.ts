import { afterEach, beforeEach, describe, vi } from 'vitest'
import { describeOnOtherDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { appFactorSuite } from './suites/app-factor.js'
import { backupCodesSuite } from './suites/backup-codes.js'
import { erasureSuite } from './suites/erasure.js'
import { noticesSuite } from './suites/notices.js'
import { sendingSuite } from './suites/sending.js'
import { severalAccountsSuite } from './suites/several-accounts.js'
import { transactionsSuite } from './suites/transactions.js'
import { verifyingSuite } from './suites/verifying.js'

// The verbs one after the other do the same in every isolation level; only what happens at once can differ.

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnOtherDatabases((bench) => {
  describe('several accounts at once', () => severalAccountsSuite(bench))
  describe('sending', () => sendingSuite(bench, true))
  describe('verifying', () => verifyingSuite(bench, true))
  describe('the authenticator app', () => appFactorSuite(bench, true))
  describe('backup codes', () => backupCodesSuite(bench, true))
  describe('notices', () => noticesSuite(bench, true))
  describe('transactions', () => transactionsSuite(bench, true))
  describe('the data of accounts', () => erasureSuite(bench, true))
})
