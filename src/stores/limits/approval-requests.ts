import { counterName, group, type StepStore } from './step.js'

/** How long a request can be approved, and how long an approval can be used afterwards (R122). */
export const APPROVAL_MS = 5 * 60_000

/** How many requests of a user can be open at once (R126). */
const MAX_OPEN = 3

const OPEN = 'approval'

/** All open requests of an account. Each is a counter of its own. */
export const OPEN_REQUESTS = group(OPEN)

/** The requests that wait for the user's approval, and the approvals that wait to be used, once each. */
export const createApprovalRequests = (store: StepStore) =>
  createOpenPlaces(store, { name: OPEN, most: MAX_OPEN, lifeMs: APPROVAL_MS })

/** How long a login of a client without cookies is kept (R150). */
export const TOKEN_LOGIN_MS = 10 * 60_000

/** The logins of clients without cookies that wait for a factor. */
export const createTokenPlaces = (store: StepStore) =>
  createOpenPlaces(store, { name: 'token-login', most: 10, lifeMs: TOKEN_LOGIN_MS })

/** The things that an account has open, of which there are so many at once. */
function createOpenPlaces(
  store: StepStore,
  { name, most, lifeMs }: { readonly name: string; readonly most: number; readonly lifeMs: number },
) {
  const nameOf = (id: string) => `${name} ${counterName(id)}`
  const begin = (id: string) => [{ counter: nameOf(id), set: 1, livesMs: [lifeMs] }]
  const isOpen = (id: string) => [{ counter: nameOf(id), from: 1 }]
  return {
    /** Opens a request, unless it is open. Resolves to 0, or to the seconds to wait if the user has too many. */
    async open(userId: string, id: string): Promise<number> {
      const requires = [
        { counter: nameOf(id), below: 1 },
        { counter: group(name), below: most },
      ]
      const { counters } = await store.run(userId, [{ requires, changes: begin(id) }])
      if (counters[0]?.count(nameOf(id))) return 0
      // A request that waited for the store was dated before the others.
      const leftMs = Math.min(lifeMs, counters[0]?.msLeft(group(name)) ?? 0)
      return Math.max(1, Math.ceil(leftMs / 1000))
    },
    /** Approves an open request, which then is open for as long again. */
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
      await store.run(userId, [{ changes: [{ counter: group(name), set: 0 }] }])
    },
  }
}
