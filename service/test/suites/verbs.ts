import { describe } from 'vitest'
import type { Bench } from '../kit.js'
import { appFactorSuite } from './app-factor.js'
import { backupCodesSuite } from './backup-codes.js'
import { erasureSuite } from './erasure.js'
import { failingStoreSuite } from './failing-store.js'
import { noticesSuite } from './notices.js'
import { sameWorkSuite } from './same-work.js'
import { sendingSuite } from './sending.js'
import { severalAccountsSuite } from './several-accounts.js'
import { transactionsSuite } from './transactions.js'
import { verifyingSuite } from './verifying.js'

/** Tests the verbs of codes; `isAtOnceOnly`: without what comes one after the other. */
export function verbsSuite(bench: () => Bench, isAtOnceOnly: boolean): void {
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
}
