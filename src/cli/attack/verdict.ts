/** The state of a promise. `untried` is never `held`. */
export interface Verdict {
  readonly verdict: 'held' | 'broken' | 'untried'
  /** The observation, or the argument to give so that the attack can be tried. */
  readonly reason: string
}

/** Why an attack could not be tried, and what to give. */
export class Untried extends Error {}

/** The verdict on a promise that was kept. */
export const reportHeld = (reason: string): Verdict => ({ verdict: 'held', reason })
/** The verdict on a promise that was broken. */
export const reportBroken = (reason: string): Verdict => ({ verdict: 'broken', reason })

/** @throws {Untried} if an option was not given that the attack needs. */
export function requireGiven<Value>(value: Value | undefined, option: string): Value {
  if (value !== undefined) return value
  throw new Untried(`give ${option}`)
}
