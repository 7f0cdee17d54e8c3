import type { Settings } from '../../options/settings.js'
import { approvalRequestsIn, tokenPlacesIn } from './approval-requests.js'
import { approvalsIn, attemptsIn } from './attempts.js'
import { appOwnersIn, lastEnrollmentsIn, messageBudgetIn, sentBackupCodesIn } from './budgets.js'
import { factorChangesIn } from './factor-changes.js'
import { openSteps } from './step-store.js'

/** Everything that is limited, counted in one store for all processes. */
export type Limits = Readonly<ReturnType<typeof openLimits>>

/** The limits in the store that the options name. */
export function openLimits(settings: Settings) {
  const store = openSteps(settings.limits.store, settings.users)
  return {
    attempts: attemptsIn(store, settings),
    approvals: approvalsIn(store),
    approvalRequests: approvalRequestsIn(store),
    tokenPlaces: tokenPlacesIn(store),
    messageBudget: messageBudgetIn(store, settings),
    sentBackupCodes: sentBackupCodesIn(store),
    appOwners: appOwnersIn(store),
    lastEnrollments: lastEnrollmentsIn(store),
    factorChanges: factorChangesIn(store),
  }
}
