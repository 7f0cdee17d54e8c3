/** A file to create, or lines to insert into one. No line is changed or removed. */
export interface Change {
  /** From the folder of the app. */
  readonly path: string
  /** `undefined`: the file is new. */
  readonly before: string | undefined
  readonly insertions: readonly Insertion[]
}

interface Insertion {
  /** How many lines come before it. */
  readonly line: number
  readonly lines: readonly string[]
}

/** The lines of a text, without the line feed that ends the last one. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  return text.replace(/\n$/, '').split('\n')
}

/** The text of the file after a change. */
export function changed({ before = '', insertions }: Change): string {
  const lines = linesOf(before)
  const end = /\r\n/.test(before) ? '\r' : ''
  for (const { line, lines: inserted } of insertions.toReversed()) {
    lines.splice(line, 0, ...inserted.map((one) => one + end))
  }
  const endsWithFeed =
    before === '' || before.endsWith('\n') || insertions.some(({ line }) => line === linesOf(before).length)
  return lines.join('\n') + (endsWithFeed ? '\n' : '')
}

const CONTEXT = 3

/** A change as `diff -u` shows it, which `git apply` and `patch` can read. */
export function unifiedDiff({ path, before, insertions }: Change): string {
  const lines = linesOf(before ?? '')
  const hasFinalFeed = before === undefined || before === '' || before.endsWith('\n')
  const out = [before === undefined ? '--- /dev/null' : `--- a/${path}`, `+++ b/${path}`]
  let added = 0
  for (const group of groups(insertions)) {
    const first = Math.max(0, (group[0]?.line ?? 0) - CONTEXT)
    const last = Math.min(lines.length, (group.at(-1)?.line ?? 0) + CONTEXT)
    const body: string[] = []
    const rest = [...group]
    for (let line = first; line <= last; line++) {
      while (rest[0]?.line === line) body.push(...(rest.shift()?.lines ?? []).map((one) => `+${one}`))
      const text = lines[line]
      if (line === last || text === undefined) continue
      const isUnended = line === lines.length - 1 && !hasFinalFeed
      if (!isUnended) body.push(` ${text}`)
      else if (rest.length > 0) body.push(`-${text}`, NO_FEED, `+${text}`)
      else body.push(` ${text}`, NO_FEED)
    }
    const inserted = group.reduce((sum, one) => sum + one.lines.length, 0)
    out.push(
      `@@ -${rangeOf(first, last - first)} +${rangeOf(first + added, last - first + inserted)} @@`,
      ...body,
    )
    added += inserted
  }
  return out.join('\n')
}

const NO_FEED = '\\ No newline at end of file'

function rangeOf(first: number, count: number): string {
  return `${count === 0 ? first : first + 1},${count}`
}

/** Insertions whose surroundings touch are shown together. */
function groups(insertions: readonly Insertion[]): Insertion[][] {
  const found: Insertion[][] = []
  for (const one of insertions) {
    const last = found.at(-1)
    if (last && one.line - (last.at(-1)?.line ?? 0) <= 2 * CONTEXT) last.push(one)
    else found.push([one])
  }
  return found
}
