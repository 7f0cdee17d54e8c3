const PREFIX = 'SERVICE_'

/** A fault for each variable that begins with `SERVICE_` and is not known, with the known name that it resembles. */
export function unknownVariableFaults(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !known.includes(name))
  return unknown.sort().map((name) => {
    const similar = closest(name, known)
    return `${name} is not a variable of the service${similar ? `: did you mean ${similar}?` : '.'}`
  })
}

function closest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .sort((a, b) => a.distance - b.distance)
  // More changes would make a short name resemble everything.
  return best && best.distance <= (name.length - PREFIX.length) / 3 ? best.other : undefined
}

/** How many characters must be inserted, deleted or replaced to make one text of the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
