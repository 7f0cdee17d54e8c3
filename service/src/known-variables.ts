import { closestMatch } from 'leven'

const PREFIX = 'SERVICE_'

/** A fault for each variable that begins with `SERVICE_` and is not known, with the known name that it resembles. */
export function unknownVariableFaults(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !known.includes(name))
  return unknown.sort().map((name) => {
    // More changes would make a short name resemble everything.
    const maxDistance = Math.floor((name.length - PREFIX.length) / 3)
    const similar = closestMatch(name, known, { maxDistance })
    return `${name} is not a variable of the service${similar ? `: did you mean ${similar}?` : '.'}`
  })
}
