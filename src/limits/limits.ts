import type { Settings } from '../settings.js'
import { type Approvals, type Attempts, approvalsIn, attemptsIn } from './attempts.js'
import {
  type AppOwners,
  appOwnersIn,
  type MessageBudget,
  messageBudgetIn,
  type RepeatedFailures,
  repeatedFailuresIn,
  type SentBackupCodes,
  sentBackupCodesIn,
} from './budgets.js'
import { openCounters } from './counter.js'
import { scriptedLimits } from './redis-limits.js'

/** Everything that is limited, counted in one store for all processes. */
export interface Limits {
  readonly attempts: Attempts
  readonly approvals: Approvals
  readonly messageBudget: MessageBudget
  readonly repeatedFailures: RepeatedFailures
  readonly sentBackupCodes: SentBackupCodes
  readonly appOwners: AppOwners
}

/** The limits in the store that the options name. */
export function openLimits(settings: Settings): Limits {
  const { store } = settings.limits
  const counters = openCounters(store)
  const approvals = approvalsIn(counters)
  const attempts = attemptsIn(counters, approvals, settings)
  const counted = { attempts, messageBudget: messageBudgetIn(counters, attempts, settings) }
  const limits =
    typeof store === 'object' && 'redis' in store ? scriptedLimits(counted, store, settings) : counted
  const isShared = store !== undefined && store !== 'memory'
  return {
    ...limits,
    approvals,
    appOwners: appOwnersIn(counters),
    repeatedFailures: repeatedFailuresIn(counters),
    sentBackupCodes: sentBackupCodesIn(counters, isShared ? 'shared' : 'memory'),
  }
}
