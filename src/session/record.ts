import * as z from 'zod'
import { METHODS } from '../protocol/methods.js'

/*
 * What the session remembers. It comes back from a store that other programs write to, so it is read through these
 * schemas; what does not fit is worth nothing. It never holds a code, a secret or a contact (R10), and no counter:
 * sessions are read and written whole, so parallel requests would undo each other's counting.
 */

const time = z.number().int().nonnegative()

const way = z.enum([...METHODS, 'backup'])

const challenge = z.object({
  /** Our name of it; the tries are counted under this name. */
  id: z.string(),
  factorId: z.string(),
  method: way,
  delivery: z.enum(['sent', 'queued', 'none']),
  /** When it was asked for first. */
  startedAt: time.optional(),
  /** The service's name of it. */
  service: z.string().optional(),
  expiresAt: time,
  resendAt: time.optional(),
})

const record = z.object({
  version: z.literal(1),
  /** Whom it belongs to; void for anybody else (R04). */
  userId: z.string(),
  /** The session it was written into; void in any other, as after `keepSessionInfo` (R04). */
  sessionId: z.string(),
  /** Names this half-login, or the time since the last second factor. */
  transaction: z.string(),
  /** When the first factor was shown, in milliseconds since 1970. */
  startedAt: time,
  /** Where the person wanted to go: a path on this site. */
  returnTo: z.string().optional(),
  /** The one live challenge (R06). */
  challenge: challenge.optional(),
  /** An authenticator app that waits for its first code. */
  enrollment: z.object({ id: z.string(), startedAt: time }).optional(),
  /** A route asked for a fresh second factor. */
  stepUp: z
    .object({
      /** The ids of the factors that count for it. */
      factors: z.array(z.string()).optional(),
      /** Whether a backup code does. Defaults to yes. */
      backup: z.boolean().optional(),
    })
    .optional(),
  /** A form's POST that waits for a second factor and is offered again: to where, and what was typed. */
  interrupted: z
    .object({
      path: z.string(),
      at: time,
      fields: z.record(z.string(), z.string()),
      /** What the fields are called: one text, or one for each language; `false` for what is not shown. */
      labels: z
        .record(z.string(), z.union([z.string(), z.record(z.string(), z.string()), z.literal(false)]))
        .optional(),
    })
    .optional(),
  /** How many backup codes are left, if that is known here; when they are few, where the warning leads on. */
  backupCodes: z.object({ left: z.number().int().nonnegative(), next: z.string().optional() }).optional(),
  /** Backup codes were sent from here: how many, if the service tells, and where somebody wanted to go. */
  codesSent: z
    .object({ count: z.number().int().nonnegative().optional(), next: z.string().optional() })
    .optional(),
  /** The session goes on without a second factor, and why. Nothing is proven by it. */
  exemption: z.enum(['policy']).optional(),
  /** Signed in without having been asked, as far as it was known then; it is asked anew at each request. */
  unasked: z.literal(true).optional(),
  /** The trusted device that skipped the question. It proves nothing (R67), and counts while the device does. */
  trusted: z.object({ device: z.string() }).optional(),
  verified: z
    .object({
      at: time,
      amr: z.array(z.enum(['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'])),
      /** When each method was last shown in this session. */
      shown: z.partialRecord(way, time).default({}),
    })
    .optional(),
})

/** What `req.session.mfa` holds. */
export type MfaRecord = Readonly<z.output<typeof record>>

/** The one live challenge of a session. */
export type Challenge = Readonly<z.output<typeof challenge>>

/** The record in a session's data, if it is one and belongs to this user and session. */
export function readRecord(
  data: unknown,
  owner: { userId: string; sessionId: string },
): MfaRecord | undefined {
  if (data === undefined) return undefined
  const parsed = record.safeParse(data)
  if (!parsed.success) return undefined
  const { userId, sessionId } = parsed.data
  return userId === owner.userId && sessionId === owner.sessionId ? parsed.data : undefined
}
