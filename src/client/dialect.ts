import * as z from 'zod'
import { onlyGiven } from '../option-rules.js'
import type { BackupMethod, DeliveredMethod } from '../protocol/methods.js'

/*
 * Everything the published interface leaves open, as one object. Nothing about a service's habits is decided
 * anywhere else in the client.
 */

const path = z
  .string({ error: 'must be a path like /v1/mfa' })
  .regex(/^\/[\w./~-]*$/, { error: 'must be a path like /v1/mfa' })
const word = z
  .string({ error: 'must be a Type word like WHATSAPP' })
  .regex(/^[A-Z_]{2,20}$/, { error: 'must be a Type word like WHATSAPP' })

const parts = { error: 'must be an object with the parts that differ' }
const paths = z.strictObject(
  {
    send: path,
    /** Where a DUAL code is asked for; the published page does not show whether it has a path of its own. */
    sendDual: path,
    verify: path,
    enrollApp: path,
    backup: path,
    backupDual: path,
    transcribe: path,
  },
  parts,
)
/** `Type` word for each way to send a code. */
const sendTypes = z.strictObject({ email: word, sms: word, whatsapp: word, call: word, dual: word }, parts)
/** `Type` word for each way to deliver backup codes. */
const backupTypes = z.strictObject({ email: word, sms: word, dual: word }, parts)

const dialectSchema = z.strictObject(
  {
    paths,
    /** How parameters travel. */
    contentType: z.enum(['form', 'json'], { error: 'must be "form" or "json"' }),
    sendTypes,
    backupTypes,
    /**
     * What a 200 of verify must say to be believed: `status` takes an empty body or an object without a negative
     * marker; `body` wants `valid: true` besides (R75).
     */
    validWhen: z.enum(['status', 'body'], { error: 'must be "status" or "body"' }),
    /** Whether the service takes our additions `Kind`, `Account`, `Purpose`, `Locale`, `ClientAddress`. */
    extras: z.boolean({ error: 'must be true or false' }),
  },
  {
    error: 'must be "published", "countersign" or an object with the parts that differ (see docs/dialect.md)',
  },
)

/** How one service speaks the API. */
export type Dialect = Readonly<z.output<typeof dialectSchema>>

const SEND: Record<DeliveredMethod, string> = {
  email: 'EMAIL',
  sms: 'SMS',
  whatsapp: 'WHATSAPP',
  call: 'CALL',
  dual: 'DUAL',
}
const BACKUP: Record<BackupMethod, string> = { email: 'EMAIL', sms: 'SMS', dual: 'DUAL' }

/** The published API, with the likeliest answer to each open question. */
const PUBLISHED: Dialect = {
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

/** Our own service: the published API and our additions. */
const COUNTERSIGN: Dialect = { ...PUBLISHED, validWhen: 'body', extras: true }

/** The option `dialect`, completed: a name, or the parts in which a service differs from the published API. */
export const dialectOption = z.preprocess(complete, dialectSchema)

function complete(given: unknown): unknown {
  if (given === undefined || given === 'published') return PUBLISHED
  if (given === 'countersign') return COUNTERSIGN
  return merge(PUBLISHED, given)
}

/** What is given over what is published, part by part; what is no object stays as it is and is found to be a fault. */
function merge(published: Readonly<Record<string, unknown>>, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const merged: Record<string, unknown> = { ...published }
  for (const [name, value] of Object.entries(onlyGiven({ ...given }))) {
    const part = published[name]
    merged[name] = typeof part === 'object' ? merge({ ...part }, value) : value
  }
  return merged
}
