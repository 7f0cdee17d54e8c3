import * as z from 'zod'
import { createObjectSchema } from '../shape.js'
import { KEY_METHODS, KEY_TYPES, VERIFY_TYPES } from './methods.js'
import { allowMissing, answer, keyMethod, time } from './names.js'
import { count } from './wire-parts.js'

class ExistingFactor {
  /** An authenticator app that is enrolled and confirmed, or a kind of keys. A disabled one counts, too. */
  readonly type = z.codec(z.enum(['APP', ...KEY_TYPES]), z.enum(['app', ...KEY_METHODS]), {
    decode: (type) => (type === 'APP' ? 'app' : z.decode(keyMethod, type)),
    encode: (method) => (method === 'app' ? 'APP' : z.encode(keyMethod, method)),
  })
  /** Whether it can be used now: its method is switched on, and for keys, the application has a relying party. */
  readonly usable = z.boolean()
  /** How many digits the codes of an authenticator app have. Defaults to what `codes` says of apps. */
  readonly digits = z.int().min(6).max(10).optional()
  /** An authenticator app whose imported secret has fewer than 128 bits, so that its user should set it up again. */
  readonly weak = z.literal(true).optional()
}

class FactorUse {
  /** The method by which the factor's codes are verified, or the kind of key. */
  readonly type = z.enum([...VERIFY_TYPES, ...KEY_TYPES, 'BACKUP'])
  /** The contact of a factor that receives codes, in canonical form. */
  readonly user = z.string().max(320).optional()
  /** To the hour, in milliseconds since 1970. */
  readonly at = time
}

/** The answer of `factorsOf`. */
export class AccountFactors {
  /** Every factor of the account, each method once, usable or not: the password alone must not let its user in (R132). */
  readonly existing = z
    .array(answer(new ExistingFactor(), { type: 'method' }))
    .max(3)
    .refine(
      (existing) => new Set(existing.map((factor) => Object.values(factor)[0])).size === existing.length,
      { error: 'lists a method twice' },
    )
  /** The kinds of keys that users can add now. Defaults to none. */
  readonly offered_keys = allowMissing(z.array(keyMethod).max(2))
  /** How many backup codes are left that are valid for the contact. */
  readonly backup_codes_left = count
  /** `page` if the backup codes were shown on a page and sent to no contact. */
  readonly backup_delivery = z.literal('page').optional()
  /** When factors were last used, if the service knows. */
  readonly last_used = z.array(createObjectSchema(new FactorUse())).optional()
}
