import type { Counters } from './counter.js'

/** In milliseconds. Longer than any challenge lives, so that no approval is forgotten before it is worthless. */
export const APPROVAL_WINDOW_MS = 20 * 60_000

/** Of several right codes for one pending login, one becomes a session (R21). */
export interface Approvals {
  /** True for the first caller only, among all processes: it may turn this approval into a session. */
  acquire(approval: string): Promise<boolean>
  /** Gives an approval back that no session was made of. */
  release(approval: string): Promise<void>
}

/** Counts approvals in `store`. */
export function approvalsIn(store: Counters): Approvals {
  const acquired = store('claim', APPROVAL_WINDOW_MS)
  return {
    acquire: async (approval) => (await acquired.add(approval, 1)).count === 1,
    release: (approval) => acquired.remove(approval),
  }
}
