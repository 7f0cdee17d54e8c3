import { inspect } from 'node:util'

/** Everything that a logger could make of a value. */
export function everythingAbout(value: unknown): string {
  const parts: string[] = []
  for (let one = value; one instanceof Error; one = one.cause) {
    parts.push(
      one.message,
      one.stack ?? '',
      String(one),
      JSON.stringify(one, Object.getOwnPropertyNames(one)),
    )
  }
  parts.push(inspect(value, { depth: Infinity, showHidden: true, getters: true }), JSON.stringify(value))
  return parts.join('\n')
}
