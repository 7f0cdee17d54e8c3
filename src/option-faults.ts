import type * as z from 'zod'
import { innerSchemas } from './option-rules.js'

/** Each fault of options as one sentence that begins with the name. For an unknown name, it names the nearest option. */
export function optionFaults(
  error: z.ZodError,
  schema: z.core.$ZodType,
  above: readonly string[] = [],
): string[] {
  return error.issues.flatMap((issue) => {
    const name = [...above, ...issue.path.map(String)]
    if (issue.code !== 'unrecognized_keys') return `${name.join('.')} ${issue.message}`
    const known = issue.path.reduce(memberSchemas, [schema]).flatMap(namesIn)
    return issue.keys.map((key) => `${[...name, key].join('.')} is not an option; ${hint(key, known)}`)
  })
}

/** Whether a value is what `createMfa` returned, or a copy of it, in place of options. */
export function hasParts(given: unknown): boolean {
  return (
    typeof given === 'object' &&
    given !== null &&
    ['router', 'strategy', 'requireMfa'].every((part) => part in given)
  )
}

function hint(given: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, edits: edits(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= 2 && edits < name.length / 2)
    .sort((one, other) => one.edits - other.edits)
  return nearest ? `do you mean ${nearest.name}?` : 'check its spelling'
}

/** How many letters must be added, removed or replaced to turn one word into another (Levenshtein). */
function edits(one: string, other: string): number {
  const last = [...one].reduce(
    (above, letter, nth) =>
      [...other].reduce(
        (row, letterThere, at) => {
          const kept = (above[at] ?? 0) + (letter === letterThere ? 0 : 1)
          row.push(Math.min((above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1, kept))
          return row
        },
        [nth + 1],
      ),
    Array.from({ length: other.length + 1 }, (_, at) => at),
  )
  return last.at(-1) ?? 0
}

/** The schemas of a member, in any of several schemas. */
function memberSchemas(schemas: readonly z.core.$ZodType[], member: PropertyKey): z.core.$ZodType[] {
  return schemas.flatMap(objectsIn).flatMap(({ shape }) => shape[String(member)] ?? [])
}

const namesIn = (schema: z.core.$ZodType) => objectsIn(schema).flatMap(({ shape }) => Object.keys(shape))

/** The objects that a schema stands for, below its default and in its alternatives. */
function objectsIn(schema: z.core.$ZodType): z.core.$ZodObjectDef[] {
  const { def } = schema._zod
  return def.type === 'object' ? [def as z.core.$ZodObjectDef] : innerSchemas(schema).flatMap(objectsIn)
}
