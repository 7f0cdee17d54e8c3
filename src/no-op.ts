/*
 * Stand-ins for the functions of parts that an app leaves out. Callers need not check whether the part exists.
 */

/** Does nothing. */
export function ignore(): void {}

/** Does nothing, or finds nothing. */
export async function nothing(): Promise<undefined> {}

/** Answers no. */
export async function answerNo(): Promise<false> {
  return false
}

/** Answers an empty list. */
export async function answerNone(): Promise<readonly []> {
  return []
}
