import type { Settings } from '../../options/settings.js'
import { type ApprovalRequests, approvalRequestsIn } from './approval-requests.js'
import { type Approvals, type Attempts, approvalsIn, attemptsIn } from './attempts.js'
import {
  type AppOwners,
  appOwnersIn,
  type MessageBudget,
  messageBudgetIn,
  type SentBackupCodes,
  sentBackupCodesIn,
} from './budgets.js'
import { type FactorChanges, factorChangesIn } from './factor-changes.js'
import { openSteps } from './step-store.js'

/** Everything that is limited, counted in one store for all processes. */
export interface Limits {
  readonly attempts: Attempts
  readonly approvals: Approvals
  readonly approvalRequests: ApprovalRequests
  readonly messageBudget: MessageBudget
  readonly sentBackupCodes: SentBackupCodes
  readonly appOwners: AppOwners
  readonly factorChanges: FactorChanges
}

/** The limits in the store that the options name. */
export function openLimits(settings: Settings): Limits {
  const store = openSteps(settings.limits.store)
  return {
    attempts: attemptsIn(store, settings),
    approvals: approvalsIn(store),
    approvalRequests: approvalRequestsIn(store),
    messageBudget: messageBudgetIn(store, settings),
    sentBackupCodes: sentBackupCodesIn(store),
    appOwners: appOwnersIn(store),
    factorChanges: factorChangesIn(store),
  }
}
