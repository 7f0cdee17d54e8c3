import * as z from 'zod'
import { duration, inMilliseconds } from '../option-rules.js'
import type { Duration } from '../time.js'

/** Security keys and passkeys. See docs/keys.md. */
export interface KeyOptions {
  /**
   * How long a browser is not offered a passkey again after it was offered one, `1h` to `365d`. The offer follows a sign-in with a
   * code by a user who has no passkey. Where the browser can, the offer has it create one without a prompt. `false`: no offer. Defaults
   * to `false`.
   */
  offerPasskey?: Duration | false | undefined
}

/** The rules of the option `keys`. */
export const keys = inMilliseconds(
  z.strictObject(
    {
      offerPasskey: z.union([z.literal(false), duration('1h', '365d', '30d')]).default(false),
    } satisfies Record<keyof KeyOptions, z.ZodType>,
    { error: 'must be true, false, or an object like { offerPasskey: "30d" }' },
  ),
)
