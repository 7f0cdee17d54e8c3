import * as z from 'zod'
import { type Duration, durationMs } from './duration.js'

/** A function. Only that it is one can be checked when the app starts. */
export const callback = <Callback>(remedy: string) =>
  z.custom<Callback>((value) => typeof value === 'function', { error: remedy })

/** Whether a value has functions of these names. */
export function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  )
}

/** A whole number in a range. */
export function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be a whole number of ${unit} from ${min} to ${max}`
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

/** A duration in a range, read as milliseconds. */
export function duration(min: Duration, max: Duration, example: Duration) {
  const [minMs = 0, maxMs = 0] = [durationMs(min), durationMs(max)]
  const inRange = (given: unknown) => {
    const ms = durationMs(given)
    return ms !== undefined && ms >= minMs && ms <= maxMs
  }
  const inWords = (limit: Duration) => (typeof limit === 'number' ? `${limit} ms` : limit)
  return z
    .custom<Duration>(inRange, {
      // Otherwise zod skips the rules of the object around it, and their faults would only show at the next start.
      abort: false,
      error: `must be a time like "${example}", from ${inWords(min)} to ${inWords(max)}`,
    })
    .transform((given) => durationMs(given) ?? 0)
}

/** A path on the app's own site, without a query. */
export function sitePath(example: string) {
  const error = `must be a path on this site, like ${example}`
  return z.string({ error }).regex(/^\/(?![/\\])[^\s?#\\]*$/, { error })
}

/** The members that are given. `undefined` counts as "not given", so that an environment variable may be unset. */
export function onlyGiven<Value>(object: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  )
}
