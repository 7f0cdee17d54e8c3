import { counterName, group, type StepStore } from './step.js'

/** How long a request can be approved, and how long an approval can be used afterwards (R122). */
export const APPROVAL_MS = 5 * 60_000

/** How many requests of a user can be open at once (R126). */
const MAX_OPEN = 3

/** The requests that wait for the user's approval, and the approvals that wait to be used, once each. */
export interface ApprovalRequests {
  /** Opens a request. Resolves to 0, or to the seconds to wait if the user has too many. */
  open(userId: string, id: string): Promise<number>
  /** Approves an open request, which can then be used for five minutes. */
  grant(userId: string, id: string): Promise<boolean>
  /** Ends a request or uses its approval. True for the first caller only, among all processes. */
  consume(userId: string, id: string): Promise<boolean>
  /** Ends all requests and approvals of a user. */
  closeAll(userId: string): Promise<void>
}

const OPEN = 'approval'

/** All open requests of an account. Each is a counter of its own. */
export const OPEN_REQUESTS = group(OPEN)

export function approvalRequestsIn(store: StepStore): ApprovalRequests {
  const nameOf = (id: string) => `${OPEN} ${counterName(id)}`
  const begin = (id: string) => [{ counter: nameOf(id), set: 1, livesMs: [APPROVAL_MS] }]
  const isOpen = (id: string) => [{ counter: nameOf(id), from: 1 }]
  return {
    async open(userId, id) {
      const requires = [{ counter: OPEN_REQUESTS, below: MAX_OPEN }]
      const { isPermitted, counters } = await store.run(userId, [{ requires, changes: begin(id) }])
      // A request that waited for the store was dated before the others.
      const leftMs = Math.min(APPROVAL_MS, counters[0]?.msLeft(OPEN_REQUESTS) ?? 0)
      return isPermitted ? 0 : Math.max(1, Math.ceil(leftMs / 1000))
    },
    async grant(userId, id) {
      return (await store.run(userId, [{ requires: isOpen(id), changes: begin(id) }])).isPermitted
    },
    async consume(userId, id) {
      const changes = [{ counter: nameOf(id), set: 0 }]
      return (await store.run(userId, [{ requires: isOpen(id), changes }])).isPermitted
    },
    async closeAll(userId) {
      await store.run(userId, [{ changes: [{ counter: OPEN_REQUESTS, set: 0 }] }])
    },
  }
}
