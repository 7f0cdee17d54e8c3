import * as z from 'zod'

/** A function. Its parameters cannot be checked when the app starts; that it is one can. */
export const callback = <Callback>(remedy: string) =>
  z.custom<Callback>((value) => typeof value === 'function', { error: remedy })

/** Whether something has functions of these names. */
export function hasFunctions(value: unknown, ...names: string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  )
}

/** Whether something is a client of the package `redis`. Another package's, such as one of ioredis, is spoken to differently. */
export function isRedisClient(value: unknown): boolean {
  return hasFunctions(value, 'eval') && Reflect.has(Object(value), 'isReady')
}

/** How a table in the host's database may be named. */
export const TABLE_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** How names in a shared store may begin. */
export const PREFIX = /^[\w.-]{1,32}$/

/** A whole number in its range; outside it the app does not start. */
export function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be a whole number of ${unit} from ${min} to ${max}`
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

/** An object without what is `undefined`: to somebody who reads an environment variable that means "not given". */
export function onlyGiven<Value>(object: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  )
}
