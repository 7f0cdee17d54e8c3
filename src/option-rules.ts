import * as z from 'zod'
import type { Schemas, ShapeOf } from './shape.js'
import { type Duration, durationMs } from './time.js'

/** The values that an app may give for options with these rules. */
export type Given<Rules extends Schemas<Rules>> = z.input<z.ZodObject<ShapeOf<Rules>, z.core.$strict>>

/** The schema of options with these rules. `must` says what an app must give instead of what is no object. */
export function createOptionsSchema<Rules extends Schemas<Rules>>(rules: Rules, must?: string) {
  const shape: ShapeOf<Rules> = { ...rules }
  return convertToMilliseconds(z.strictObject(shape, must))
}

/** A schema whose input has a type with a name, which editors and errors show. */
export const setType =
  <Input>() =>
  <Schema extends z.ZodType>(schema: Schema) =>
    schema as unknown as z.ZodType<z.output<Schema>, Input>

/** Whether a value has these functions. */
export function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  )
}

/** A rule for a whole number in a range. */
export function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be a whole number of ${unit} from ${min} to ${max}`
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

/** A duration in a range, read as milliseconds. */
export function duration(min: Duration, max: Duration, example: Duration) {
  const [minMs = 0, maxMs = 0] = [durationMs(min), durationMs(max)]
  const isInRange = (given: unknown) => {
    const ms = durationMs(given)
    return ms !== undefined && ms >= minMs && ms <= maxMs
  }
  const formatDuration = (limit: Duration) => (typeof limit === 'number' ? `${limit} ms` : limit)
  const schema = z
    .custom<Duration>(isInRange, {
      // Otherwise zod skips the rules of the object around it, and their faults would only show at the next start.
      abort: false,
      error: `must be a time like "${example}", from ${formatDuration(min)} to ${formatDuration(max)}`,
    })
    .transform((given) => (durationMs(given) ?? 0) as Milliseconds)
  durations.add(schema)
  return schema
}

/** The schemas that a schema consists of: below its default, its alternatives, the items of a list. */
export function innerSchemas({ _zod: { def } }: z.core.$ZodType): readonly z.core.$ZodType[] {
  const { innerType, in: before, element, options = [] } = def as Composed
  return [innerType, before, element, ...options].filter((inner) => inner !== undefined)
}

type Composed = Partial<Record<'innerType' | 'in' | 'element', z.core.$ZodType>> & {
  readonly options?: readonly z.core.$ZodType[]
}

/** A duration that a schema has read. */
type Milliseconds = number & { readonly unit: 'ms' }
type IsTime<Value> = Extract<Value, Milliseconds | readonly Milliseconds[]> extends never ? false : true
type Plain<Value> = Value extends Milliseconds
  ? number
  : Value extends readonly Milliseconds[]
    ? readonly number[]
    : Value

/** Options with the unit in the name of every duration: `maxAge` is `maxAgeMs`. */
type InMilliseconds<Options> = {
  [Name in keyof Options as IsTime<Options[Name]> extends true ? `${Name & string}Ms` : Name]: Plain<
    Options[Name]
  >
}

/** Reads options, and adds the unit to the name of every duration: an app writes `maxAge`, our own code reads `maxAgeMs`. */
export function convertToMilliseconds<Schema extends z.ZodObject>(schema: Schema) {
  const isTime = (name: string) => schema.shape[name] !== undefined && holdsDuration(schema.shape[name])
  const addUnits = (given: object) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [isTime(name) ? `${name}Ms` : name, value]),
    )
  return schema.transform((given) => addUnits(given) as InMilliseconds<z.output<Schema>>)
}

const durations = new WeakSet<z.core.$ZodType>()

function holdsDuration(schema: z.core.$ZodType): boolean {
  return durations.has(schema) || innerSchemas(schema).some(holdsDuration)
}

/** A path on the app's own site, without a query. */
export function sitePath(example: string) {
  const error = `must be a path on this site, like ${example}`
  return z.string({ error }).regex(/^\/(?![/\\])[^\s?#\\]*$/, { error })
}

/** Each fault of options as one sentence that begins with the name. For an unknown name, it names the nearest option. */
export function optionFaults(
  error: z.ZodError,
  schema: z.core.$ZodType,
  above: readonly string[] = [],
): string[] {
  return error.issues.flatMap((issue) => {
    const name = [...above, ...issue.path.map(String)]
    if (issue.code !== 'unrecognized_keys') return `${name.join('.')} ${issue.message}`
    const known = issue.path.reduce(memberSchemas, [schema]).flatMap(listNames)
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
  return schemas.flatMap(listObjects).flatMap(({ shape }) => shape[String(member)] ?? [])
}

const listNames = (schema: z.core.$ZodType) => listObjects(schema).flatMap(({ shape }) => Object.keys(shape))

/** The objects that a schema stands for, below its default and in its alternatives. */
function listObjects(schema: z.core.$ZodType): z.core.$ZodObjectDef[] {
  const { def } = schema._zod
  return def.type === 'object' ? [def as z.core.$ZodObjectDef] : innerSchemas(schema).flatMap(listObjects)
}
