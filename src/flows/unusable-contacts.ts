import type { Factor } from '../protocol/factor.js'
import type { Method } from '../protocol/methods.js'
import { remember } from '../remember.js'

/** How long the same contacts of a user are not reported again. */
const REPORTED_FOR_MS = 60_000

/** Reports factors whose contacts cannot be used (R153), at most once a minute for each user. `fault` quotes no contact. */
export function unusableContacts(
  report: (userId: string, method: Method, fault: string) => void,
): (userId: string, listed: readonly Factor[]) => void {
  const reported = new Map<string, number>()
  return (userId, listed) => {
    const unusable = listed.filter((factor) => factor.unusable)
    if (unusable.length === 0 || (reported.get(userId) ?? 0) > Date.now()) return
    remember(reported, userId, Date.now() + REPORTED_FOR_MS)
    for (const { method, unusable: found } of unusable) {
      for (const fault of found?.faults ?? []) report(userId, method, fault)
    }
  }
}
