/** Seconds from `now` until a time, rounded up; 0 when it has passed. Both are in milliseconds since 1970. */
export function secondsUntil(then: number, now: number): number {
  return Math.max(0, Math.ceil((then - now) / 1000))
}
