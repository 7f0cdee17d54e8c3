import { randomUUID } from 'node:crypto'

/** A reset that one member of staff asked for and another must approve. */
export interface ResetRequest {
  readonly id: string
  /** The user whose account is to be reset. */
  readonly username: string
  readonly reason: string
  /** The user name of the member of staff who asked for it. */
  readonly by: string
}

/** The resets that wait for approval, in the memory of this process. */
export interface ResetRequests {
  add(request: Omit<ResetRequest, 'id'>): ResetRequest
  /** Those that wait, oldest first. */
  list(): readonly ResetRequest[]
  /** Removes and returns the request, unless `approver` asked for it. Of two concurrent calls, one gets it. */
  takeToApprove(id: string, approver: string): ResetRequest | undefined
}

const LIFETIME_MS = 15 * 60_000

export function resetRequests(): ResetRequests {
  const waiting = new Map<string, ResetRequest & { readonly expiresAt: number }>()
  const live = () => [...waiting.values()].filter(({ expiresAt }) => expiresAt > Date.now())
  return {
    add(request) {
      const added = { ...request, id: randomUUID() }
      waiting.set(added.id, { ...added, expiresAt: Date.now() + LIFETIME_MS })
      return added
    },
    list: live,
    takeToApprove(id, approver) {
      const found = live().find((request) => request.id === id && request.by !== approver)
      if (found) waiting.delete(id)
      return found
    },
  }
}
