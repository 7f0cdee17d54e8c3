import * as z from 'zod'
import { createTextRule, parseJsonField } from './wire-parts.js'

/** The name of a browser or a system, and no `User-Agent`. */
const name = z.string().regex(/^[A-Za-z ]{1,20}$/, { error: 'must be a name like Firefox' })

/** The sign-in with a password that a code completes, for the email with the code. */
export const signIn = z
  .preprocess(
    parseJsonField,
    z
      .strictObject(
        {
          browser: name.optional(),
          system: name.optional(),
          location: createTextRule(60).optional(),
        },
        { error: 'must be an object with browser, system and location' },
      )
      .meta({ examples: [{ browser: 'Firefox', system: 'Windows', location: 'Vienna' }] }),
  )
  .optional()
