import * as z from 'zod'

/** The rule for a name that users see; `field` is the name of the option. */
export function displayName(field: string) {
  return z.string({ error: `${field} must be text: the name that users know` }).regex(/^[^\p{Cc}]{1,40}$/u, {
    error: `${field} must have 1 to 40 characters and no control characters`,
  })
}
