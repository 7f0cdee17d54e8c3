/** A timer that rings at the earliest of the times it was set to, and keeps no process alive. */
export interface Alarm {
  ringIn(delayMs: number): void
  /** Never rings again. */
  stop(): void
}

export function alarm(ring: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined
  let ringsAt = Number.POSITIVE_INFINITY
  let stopped = false
  return {
    ringIn(delayMs) {
      const at = performance.now() + delayMs
      // Setting it later would let one failure after the other put it off for good.
      if (stopped || at >= ringsAt) return
      clearTimeout(timer)
      ringsAt = at
      timer = setTimeout(() => {
        ringsAt = Number.POSITIVE_INFINITY
        ring()
      }, delayMs).unref()
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
