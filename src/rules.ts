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
