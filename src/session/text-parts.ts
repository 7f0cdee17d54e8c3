/*
 * The parts that the text of a record consists of.
 */

/** A time in base 36. */
export function readTime(text: string | undefined): number | undefined {
  const time = text !== undefined && /^[\da-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : undefined
  return Number.isSafeInteger(time) ? time : undefined
}

/** The name of each letter. */
export function invert<Name extends string>(letters: Readonly<Record<Name, string>>) {
  const names = Object.entries(letters).map(([name, letter]) => [letter, name] as const)
  return Object.assign(Object.create(null), Object.fromEntries(names)) as Readonly<
    Partial<Record<string, Name>>
  >
}
