import { onTestFinished } from 'vitest'

/**
 * Which of these times have passed, in milliseconds from now. Timers fire in the order of their times even on a busy
 * machine, while a reading of the clock would include the time that the machine was busy.
 */
export function timesPassed(...times: readonly number[]): readonly number[] {
  const rung: number[] = []
  const timers = times.map((ms) => setTimeout(() => rung.push(ms), ms))
  onTestFinished(() => timers.forEach(clearTimeout))
  return rung
}
