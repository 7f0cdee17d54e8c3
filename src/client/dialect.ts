import * as z from 'zod'
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

export const dialectSchema = z.strictObject({
  paths: z.strictObject({
    send: path,
    /** Where a DUAL code is asked for; the published page does not show whether it has a path of its own. */
    sendDual: path,
    verify: path,
    enrollApp: path,
    backup: path,
    backupDual: path,
  }),
  /** How parameters travel. */
  contentType: z.enum(['form', 'json'], { error: 'must be "form" or "json"' }),
  /** `Type` word for each way to send a code. */
  sendTypes: z.strictObject({ email: word, sms: word, whatsapp: word, call: word, dual: word }),
  /** `Type` word for each way to deliver backup codes. */
  backupTypes: z.strictObject({ email: word, sms: word, dual: word }),
  /**
   * What a 200 of verify must say to be believed: `status` takes an empty body or an object without a negative
   * marker; `body` wants `valid: true` besides (R75).
   */
  validWhen: z.enum(['status', 'body'], { error: 'must be "status" or "body"' }),
  /** Whether the service takes our additions `Kind`, `Account`, `Purpose`, `Locale`, `ClientAddress`. */
  extras: z.boolean({ error: 'must be true or false' }),
})

/** How one service speaks the API. */
export type Dialect = Readonly<z.output<typeof dialectSchema>>

const sendTypes: Record<DeliveredMethod, string> = {
  email: 'EMAIL',
  sms: 'SMS',
  whatsapp: 'WHATSAPP',
  call: 'CALL',
  dual: 'DUAL',
}
const backupTypes: Record<BackupMethod, string> = { email: 'EMAIL', sms: 'SMS', dual: 'DUAL' }

/** The published API, with the likeliest answer to each open question. */
export const PUBLISHED: Dialect = {
  paths: {
    send: '/v1/mfa',
    sendDual: '/v1/mfa',
    verify: '/v1/mfa/verify',
    enrollApp: '/v1/mfa/app',
    backup: '/v1/mfa/backup',
    backupDual: '/v1/mfa/backup',
  },
  contentType: 'form',
  sendTypes,
  backupTypes,
  validWhen: 'status',
  extras: false,
}

/** Our own service: the published API and our additions. */
export const COUNTERSIGN: Dialect = { ...PUBLISHED, validWhen: 'body', extras: true }
