import type { Settings } from '../../options/settings.js'
import { createApprovalRequests, createTokenPlaces } from './approval-requests.js'
import { createAttempts, createTransactions } from './attempts.js'
import {
  createAppOwners,
  createLastEnrollments,
  createMessageBudget,
  createSentBackupCodes,
} from './budgets.js'
import { createFactorChanges } from './factor-changes.js'
import { openSteps } from './step-store.js'

/** Everything that is limited, counted in one store for all processes. */
export type Limits = Readonly<ReturnType<typeof openLimits>>

/** The limits in the store that the options name. */
export function openLimits(settings: Settings) {
  const store = openSteps(settings.limits.store, settings.users)
  return {
    attempts: createAttempts(store, settings),
    transactions: createTransactions(store),
    approvalRequests: createApprovalRequests(store),
    tokenPlaces: createTokenPlaces(store),
    messageBudget: createMessageBudget(store, settings),
    sentBackupCodes: createSentBackupCodes(store),
    appOwners: createAppOwners(store),
    lastEnrollments: createLastEnrollments(store),
    factorChanges: createFactorChanges(store),
  }
}
