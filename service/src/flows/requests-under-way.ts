import type { Application } from '../application.js'

/** When a request may be repeated that was refused because others of its account are under way. Most take less than a second. */
export const ACCOUNT_BUSY_SECONDS = 1

/** Counts the requests of each account that are under way in this process. */
export interface RequestsUnderWay {
  /**
   * Counts a request before its first query. Call the returned function when it has ended, even if its response was sent before.
   * `undefined` if as many requests of the account as the process allows are under way.
   */
  enter(application: Application, account: string): (() => void) | undefined
}

/**
 * Allows `maxPerAccount` requests of one account at once: they wait for the same rows, and would otherwise occupy all connections to
 * the database (R139).
 */
export function requestsUnderWay(maxPerAccount: number): RequestsUnderWay {
  const counts = new Map<string, number>()
  return {
    enter({ id }, account) {
      const name = `${id} ${account}`
      const count = counts.get(name) ?? 0
      if (count >= maxPerAccount) return undefined
      counts.set(name, count + 1)
      return () => {
        const left = (counts.get(name) ?? 1) - 1
        if (left > 0) counts.set(name, left)
        else counts.delete(name)
      }
    },
  }
}
