import { counterName, group, type StepStore } from './step.js'

/** How long a request can be approved, and how long an approval can be used afterwards (R122). */
export const APPROVAL_MS = 5 * 60_000

/** How many requests of a user can be open at once (R126). */
const MAX_OPEN = 3

const OPEN = 'approval'

/** All open requests of an account. Each is a counter of its own. */
export const OPEN_REQUESTS = group(OPEN)

/** The requests that wait for the user's approval, and the approvals that wait to be used, once each. */
export function approvalRequestsIn(store: StepStore) {
  const nameOf = (id: string) => `${OPEN} ${counterName(id)}`
  const begin = (id: string) => [{ counter: nameOf(id), set: 1, livesMs: [APPROVAL_MS] }]
  const isOpen = (id: string) => [{ counter: nameOf(id), from: 1 }]
  return {
    /** Opens a request, unless it is open. Resolves to 0, or to the seconds to wait if the user has too many. */
    async open(userId: string, id: string): Promise<number> {
      const requires = [
        { counter: nameOf(id), below: 1 },
        { counter: OPEN_REQUESTS, below: MAX_OPEN },
      ]
      const { counters } = await store.run(userId, [{ requires, changes: begin(id) }])
      if (counters[0]?.count(nameOf(id))) return 0
      // A request that waited for the store was dated before the others.
      const leftMs = Math.min(APPROVAL_MS, counters[0]?.msLeft(OPEN_REQUESTS) ?? 0)
      return Math.max(1, Math.ceil(leftMs / 1000))
    },
    /** Approves an open request, which can then be used for five minutes. */
    async grant(userId: string, id: string): Promise<boolean> {
      return (await store.run(userId, [{ requires: isOpen(id), changes: begin(id) }])).isPermitted
    },
    /** Ends a request or uses its approval. True for the first caller only, among all processes. */
    async consume(userId: string, id: string): Promise<boolean> {
      const changes = [{ counter: nameOf(id), set: 0 }]
      return (await store.run(userId, [{ requires: isOpen(id), changes }])).isPermitted
    },
    /** Ends all requests and approvals of a user. */
    async closeAll(userId: string): Promise<void> {
      await store.run(userId, [{ changes: [{ counter: OPEN_REQUESTS, set: 0 }] }])
    },
  }
}
