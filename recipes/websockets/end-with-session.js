const INTERVAL_MS = Number(process.env.RECHECK_MS ?? 30_000)

/**
 * Calls `close` once the session of a connection is no longer signed in, or cannot be read. Call the returned function when the
 * connection ends by itself.
 */
export function endWithSession(upgrade, close) {
  const timer = setInterval(async () => {
    const isCurrent = await upgrade.isCurrent().catch(() => false)
    if (isCurrent) return
    clearInterval(timer)
    close()
  }, INTERVAL_MS)
  return () => clearInterval(timer)
}
