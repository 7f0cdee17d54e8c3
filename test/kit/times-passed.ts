import { onTestFinished } from 'vitest'

/**
 * Which of these times have passed, in milliseconds from now. Timers ring in the order of their times however long the machine
 * was busy with something else, which a reading of the clock would count.
 */
export function timesPassed(...times: readonly number[]): readonly number[] {
  const rung: number[] = []
  const timers = times.map((ms) => setTimeout(() => rung.push(ms), ms))
  onTestFinished(() => timers.forEach(clearTimeout))
  return rung
}
