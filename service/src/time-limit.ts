/**
 * Does `work` with a signal that aborts after `limitMs`, or with one of `others`, whichever is first; the clock ends
 * with the work. When work fails because its time was up, `timeUp` says what it comes to; without it, the error stays.
 */
export async function withinTime<T>(
  limitMs: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
  timeUp?: () => T,
): Promise<T> {
  return await untilAny(others, async (signal, end) => {
    let isUp = false
    const timer = setTimeout(() => {
      isUp = !signal.aborted
      end(new DOMException(`It took longer than ${limitMs} ms.`, 'TimeoutError'))
    }, limitMs)
    try {
      return await work(signal)
    } catch (error) {
      if (isUp && timeUp) return timeUp()
      throw error
    } finally {
      clearTimeout(timer)
    }
  })
}

/** Does `work` with a signal that aborts with the first of `signals`, or when `end` is called with a reason. */
export async function untilAny<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal, end: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any: it holds what it follows weakly, so that a timeout which nobody else holds is collected and
  // never comes (nodejs/node issues 57736 and 65995).
  const guard = new AbortController()
  const end = (reason: unknown) => guard.abort(reason)
  const following = signals.map((signal) => ({ signal, follow: () => end(signal.reason) }))
  for (const { signal, follow } of following) {
    if (signal.aborted) follow()
    else signal.addEventListener('abort', follow, { once: true })
  }
  try {
    return await work(guard.signal, end)
  } finally {
    for (const { signal, follow } of following) signal.removeEventListener('abort', follow)
  }
}
