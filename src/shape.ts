import * as z from 'zod'

/*
 * The members of an object are written as a class, so that the declarations of the package keep the doc comment of each one. TypeScript
 * writes the type of an object literal without its comments.
 */

/** A class whose members are schemas. */
export type Schemas<Members> = { readonly [Name in keyof Members]: z.ZodType }

/** The members of such a class, as an object schema has them. */
export type ShapeOf<Members extends Schemas<Members>> = { -readonly [Name in keyof Members]: Members[Name] }

/** The schema of an object with these members. */
export function createObjectSchema<Members extends Schemas<Members>>(
  members: Members,
): z.ZodObject<ShapeOf<Members>> {
  return z.object({ ...members })
}

/** The members that are not `undefined`. */
type OnlyGiven<Members> = string extends keyof Members
  ? Record<string, Exclude<Members[keyof Members], undefined>>
  : { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

/** The members that are given. `undefined` counts as "not given", so that an environment variable may be unset. */
export function pickGiven<const Members extends object>(members: Members): OnlyGiven<Members> {
  // Not taken apart as `[, value]`, which costs a verification more than all the rest of this.
  const given = Object.entries(members).filter((entry) => entry[1] !== undefined)
  return Object.fromEntries(given) as OnlyGiven<Members>
}
