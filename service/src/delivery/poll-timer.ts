/** A timer that fires at the earliest of the times it was scheduled for, and does not keep the process alive. */
export interface PollTimer {
  scheduleIn(delayMs: number): void
  /** Cancels the timer for good. */
  stop(): void
}

export function pollTimer(poll: () => void): PollTimer {
  let timer: NodeJS.Timeout | undefined
  let firesAt = Number.POSITIVE_INFINITY
  let stopped = false
  return {
    scheduleIn(delayMs) {
      const at = performance.now() + delayMs
      // Rescheduling to a later time would let a series of failures postpone the poll forever.
      if (stopped || at >= firesAt) return
      clearTimeout(timer)
      firesAt = at
      timer = setTimeout(() => {
        firesAt = Number.POSITIVE_INFINITY
        poll()
      }, delayMs).unref()
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
