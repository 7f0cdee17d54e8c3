/*
 * What the parts do that an app leaves out, so that a caller need not ask whether they are there.
 */

/** Does nothing. */
export function ignore(): void {}

/** Finds nothing. */
export async function nothing(): Promise<undefined> {}

/** Nothing is so. */
export async function no(): Promise<false> {
  return false
}
