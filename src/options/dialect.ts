import * as z from 'zod'
import { setType } from '../option-rules.js'
import type { BackupMethod, DeliveredMethod } from '../protocol/methods.js'
import { pickGiven } from '../shape.js'

/*
 * Everything that the published API leaves open. No other file of the client depends on how a particular service
 * behaves.
 */

const path = z
  .string({ error: 'must be a path like /v1/mfa' })
  .regex(/^\/[\w./~-]*$/, { error: 'must be a path like /v1/mfa' })
const word = z
  .string({ error: 'must be a Type value like WHATSAPP' })
  .regex(/^[A-Z_]{2,20}$/, { error: 'must be a Type value like WHATSAPP' })

const parts = { error: 'must be an object with the parts that differ from the published API' }
const paths = z.strictObject(
  {
    send: path,
    /** For DUAL codes. The published documentation does not say whether they have a path of their own. */
    sendDual: path,
    verify: path,
    enrollApp: path,
    backup: path,
    backupDual: path,
    transcribe: path,
    /** The path above the calls for security keys and passkeys. The published API has none. */
    keys: path.optional(),
  },
  parts,
)
/** The `Type` value of each method for sending a code. */
const sendTypes = z.strictObject({ email: word, sms: word, whatsapp: word, call: word, dual: word }, parts)
/** The `Type` value of each method for delivering backup codes. */
const backupTypes = z.strictObject({ email: word, sms: word, dual: word }, parts)

const dialectSchema = z.strictObject(
  {
    paths,
    /** The encoding of request bodies. */
    contentType: z.enum(['form', 'json'], { error: 'must be "form" or "json"' }),
    sendTypes,
    backupTypes,
    /**
     * When a 200 response to verify means a valid code. `status`: if the body is empty, or an object without a negative
     * marker. `body`: only if the body also has `valid: true` (R75).
     */
    validWhen: z.enum(['status', 'body'], { error: 'must be "status" or "body"' }),
    /** Whether the service supports the additional parameters `Kind`, `Account`, `Purpose`, `Locale`, `ClientAddress`. */
    extras: z.boolean({ error: 'must be true or false' }),
  },
  {
    error:
      'must be "published", "countersign" or an object with the parts that differ from the published API (see docs/dialect.md)',
  },
)

/** How a service implements the API. */
export type Dialect = Readonly<z.output<typeof dialectSchema>>

/** The parts in which a service differs from the published API. See docs/dialect.md. */
export type DialectInput = {
  [Part in keyof Dialect]?:
    | (Dialect[Part] extends object ? PartsOf<Dialect[Part]> : Dialect[Part])
    | undefined
}

type PartsOf<Whole> = { [Part in keyof Whole]?: Whole[Part] | undefined }

const SEND: Record<DeliveredMethod, string> = {
  email: 'EMAIL',
  sms: 'SMS',
  whatsapp: 'WHATSAPP',
  call: 'CALL',
  dual: 'DUAL',
}
const BACKUP: Record<BackupMethod, string> = { email: 'EMAIL', sms: 'SMS', dual: 'DUAL' }

/** The published API. Where it leaves something open, the most likely behavior. */
export const PUBLISHED: Dialect = {
  paths: {
    send: '/v1/mfa',
    sendDual: '/v1/mfa',
    verify: '/v1/mfa/verify',
    enrollApp: '/v1/mfa/app',
    backup: '/v1/mfa/backup',
    backupDual: '/v1/mfa/backup',
    transcribe: '/v1/transcribe',
  },
  contentType: 'form',
  sendTypes: SEND,
  backupTypes: BACKUP,
  validWhen: 'status',
  extras: false,
}

/** The Countersign service: the published API with its additions. */
export const COUNTERSIGN: Dialect = {
  ...PUBLISHED,
  paths: { ...PUBLISHED.paths, keys: '/v1/mfa/keys' },
  validWhen: 'body',
  extras: true,
}

const dialect = z.unknown().transform((given, context): Dialect | 'detect' => {
  if (given === 'detect') return given
  if (given === 'countersign') return COUNTERSIGN
  if (given === 'published') return PUBLISHED
  const parsed = dialectSchema.safeParse(merge(PUBLISHED, given))
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) context.addIssue({ ...issue, path: [...issue.path] })
  return z.NEVER
})

/** The option `dialect`: a name, or the parts in which a service differs from the published API. */
export const dialectOption = setType<'detect' | 'published' | 'countersign' | DialectInput>()(
  dialect,
).prefault('detect')

/** Merges the given parts into the published ones. A value that is not an object is kept, so that validation rejects it. */
function merge(published: Readonly<Record<string, unknown>>, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const merged: Record<string, unknown> = { ...published }
  for (const [name, value] of Object.entries(pickGiven({ ...given }))) {
    const part = published[name]
    merged[name] = typeof part === 'object' ? merge({ ...part }, value) : value
  }
  return merged
}
