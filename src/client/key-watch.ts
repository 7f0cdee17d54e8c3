import type { Dialect } from '../options/dialect.js'
import { keyRefused } from './refusals.js'
import { type Answer, observedTransport, type Transport } from './transport.js'

/** How many users in a row must get a 401 before the key is suspected. */
const USERS = 3
/** How often a suspected key is tried. */
const PROBE_EVERY_MS = 60_000

/**
 * Tells a refused API key from wrong codes where both are a 401. After a 401 of a call that checks no code, or for three users in a
 * row, the key is tried; while it is refused, no code is sent, so nobody can guess without losing attempts.
 */
export function watchedTransport(transport: Transport, { send, verify }: Dialect['paths']): Transport {
  const refusedUsers = new Set<string>()
  let isSuspect = false
  let triedAt: number | undefined
  let trying: Promise<unknown> | undefined

  const note = ({ status }: Answer, user?: string) => {
    if (status >= 200 && status < 300) {
      isSuspect = false
      refusedUsers.clear()
    } else if (status === 401 && user === undefined) isSuspect = true
    else if (status === 401 && user && refusedUsers.size < USERS) refusedUsers.add(user)
  }
  const watched = observedTransport(transport, note)
  const tryKey = async () => {
    isSuspect = (await watched.post(send, {})).status === 401
  }
  const tryKeyIfDue = async () => {
    const sinceMs = Date.now() - (triedAt ?? Number.NEGATIVE_INFINITY)
    // A clock that was set back must not keep the key from being tried.
    if (!trying && sinceMs >= 0 && sinceMs < PROBE_EVERY_MS) return
    triedAt = Date.now()
    trying ??= tryKey().finally(() => {
      trying = undefined
    })
    await trying
  }

  return {
    ...watched,
    async post(path, parameters, options) {
      if (path !== verify) return watched.post(path, parameters, options)
      if (isSuspect) await tryKeyIfDue()
      if (isSuspect) throw keyRefused()
      const answer = await transport.post(path, parameters, options)
      note(answer, parameters.User ?? '')
      // This code was evaluated, or may have been, so it counts as a wrong one in any case.
      if (answer.status === 401 && refusedUsers.size === USERS) await tryKeyIfDue().catch(() => {})
      return answer
    },
  }
}
