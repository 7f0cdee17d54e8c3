/**
 * Runs `work` with a signal that aborts after `limitMs`, or together with the first of `others`. The timer ends with
 * the work. When the time limit makes the work fail, `onTimeout` decides the result; without it the error is passed on.
 */
export async function withTimeLimit<T>(
  limitMs: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout?: () => T,
): Promise<T> {
  return await withSignals(others, async (signal, abort) => {
    let isTimeout = false
    const timer = setTimeout(() => {
      isTimeout = !signal.aborted
      abort(new DOMException(`It took longer than ${limitMs} ms.`, 'TimeoutError'))
    }, limitMs)
    try {
      return await work(signal)
    } catch (error) {
      if (isTimeout && onTimeout) return onTimeout()
      throw error
    } finally {
      clearTimeout(timer)
    }
  })
}

/** Runs `work` with a signal that aborts together with the first of `signals`, or when `abort` is called. */
export async function withSignals<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal, abort: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any: it references its sources weakly, so a timeout that nothing else references is collected
  // and never fires (nodejs/node issues 57736 and 65995).
  const controller = new AbortController()
  const abort = (reason: unknown) => controller.abort(reason)
  const listeners = signals.map((signal) => ({ signal, listener: () => abort(signal.reason) }))
  for (const { signal, listener } of listeners) {
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
  }
  try {
    return await work(controller.signal, abort)
  } finally {
    for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener)
  }
}
