import * as z from 'zod'
import { createOptionsSchema, duration, type Given, setType } from '../option-rules.js'

/** The rules of the option `keys`. */
export class KeyRules {
  /**
   * How long a browser is not offered a passkey again, `1h` to `365d`. The offer follows a sign-in with a code by a user
   * who has none. `false`: no offer. Defaults to `false`. See docs/keys.md#passkeys-without-a-prompt.
   */
  readonly offerPasskey = z.union([z.literal(false), duration('1h', '365d', '30d')]).default(false)
}

/** Security keys and passkeys. See docs/keys.md. */
export interface KeyOptions extends Given<KeyRules> {}

/** The option `keys`, if it is an object. */
export const keys = setType<KeyOptions>()(
  createOptionsSchema(new KeyRules(), 'must be true, false, or an object like { offerPasskey: "30d" }'),
)
