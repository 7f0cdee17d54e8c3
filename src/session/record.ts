import * as z from 'zod'
import type { Amr, ShownMethod } from '../protocol/factor.js'
import { KEY_FAULTS } from '../protocol/keys.js'
import { METHODS, type Method } from '../protocol/methods.js'

/*
 * The session's record: what `req.session.mfa` holds. It never holds a code, a secret or a contact (R10), and no counter:
 * express-session reads and writes a session as a whole, so parallel requests would overwrite each other's counts.
 *
 * `record-text.ts` writes it into the session as one short text and reads it back.
 */

/** The record of a session in which the first factor was shown. */
export type MfaRecord = PendingRecord | VerifiedRecord | TrustedRecord | ExemptRecord

/** The first factor was shown and the second is missing. */
export interface PendingRecord extends RecordBase {
  readonly stage: 'pending'
}

/** A second factor was shown in this session. */
export interface VerifiedRecord extends RecordBase {
  readonly stage: 'verified'
  /** When a second factor was last shown, in milliseconds since 1970. */
  readonly verifiedAt: number
  /** What was proven in this session. */
  readonly amr: readonly Amr[]
  /** When each method was last shown in this session, in milliseconds since 1970. */
  readonly shown: Shown
}

/** A trusted device took the place of the second factor. It proves nothing (R67), and is valid as long as the device is. */
interface TrustedRecord extends RecordBase {
  readonly stage: 'trusted'
  /** The device's public id. */
  readonly device: string
}

/** The user is signed in without a second factor. */
export interface ExemptRecord extends RecordBase {
  readonly stage: 'exempt'
  /**
   * `policy`: the host's policy exempted this session. `proven`: so did it, and the login itself proved the user (R120).
   * `not_required`: no second factor was required at sign-in; that is decided again at each request.
   */
  readonly exemption: 'policy' | 'proven' | 'not_required'
}

/** When each method was last shown, in milliseconds since 1970. A backup code counts by the contact that received it (R93). */
export type Shown = Readonly<Partial<Record<ShownMethod, number>>>

interface RecordBase extends Activity {
  /** The user that the record belongs to; it is void for any other (R04). */
  readonly userId: string
  /** The session that the record was written into; it is void in any other, as after `keepSessionInfo` (R04). */
  readonly sessionId: string
  /** The id of this pending login, or of the time since the last second factor. */
  readonly transaction: string
  /** When the first factor was shown, in milliseconds since 1970. */
  readonly startedAt: number
}

const time = z.number().int().nonnegative()
const method = z.enum([...METHODS, 'backup'])

/** A challenge as it is stored: a list, to keep the session short. */
const challenge = z
  .tuple([
    z.string(),
    z.string(),
    method,
    z.enum(['sent', 'queued', 'none']),
    time,
    time,
    time.nullable(),
    z.string().nullable(),
    z.literal(1).optional(),
  ])
  .transform(
    ([id, factorId, shownBy, delivery, startedAt, expiresAt, resendAt, service, reports]): Challenge => ({
      id,
      factorId,
      method: shownBy,
      delivery,
      startedAt,
      expiresAt,
      ...(resendAt !== null && { resendAt }),
      ...(service !== null && { service }),
      ...(reports && { reports: true }),
    }),
  )

/** The one live challenge of a session (R06). Times are milliseconds since 1970. */
export interface Challenge {
  /** The plugin's id of the challenge, under which its attempts are counted. */
  readonly id: string
  readonly factorId: string
  readonly method: Method | 'backup'
  readonly delivery: 'sent' | 'queued' | 'none'
  readonly startedAt: number
  readonly expiresAt: number
  readonly resendAt?: number
  /** The service's id of the challenge. */
  readonly service?: string
  /** Whether the service reports if the message arrived. */
  readonly reports?: true
}

/** What is under way in a session besides its stage, as it is stored. */
export const activitySchema = z.object({
  /** The return address: a path on this site. */
  returnTo: z.string().optional(),
  challenge: challenge.optional(),
  /** An authenticator app that waits for its first code. */
  enrollment: z
    .object({
      id: z.string(),
      startedAt: time,
      /** QR code and key, encrypted under a key that only the browser has. */
      sealed: z.string().optional(),
    })
    .optional(),
  /** A security key or passkey that the browser creates. */
  keyRegistration: z.object({ id: z.string(), startedAt: time }).optional(),
  /** A passkey is offered after the sign-in; the address after the page that offers it. */
  keyOffer: z.object({ next: z.string() }).optional(),
  /** The refusal of the last form, for the page at `path`, which shows it as often as it is loaded. */
  refused: z
    .object({
      path: z.string(),
      at: time,
      code: z.string(),
      attemptsLeft: z.number().int().nonnegative().optional(),
      clockSteps: z.number().int().optional(),
      fault: z.enum(KEY_FAULTS).optional(),
      retryAfterSeconds: z.number().nonnegative().optional(),
      /** Whether the form asked to trust this browser. */
      trust: z.boolean().optional(),
    })
    .optional(),
  /** An authenticator app or a key was set up in this session; the address after the page that says so. */
  enrolled: z.object({ next: z.string() }).optional(),
  /** The id of the reset that ended factors of the account: this pending login showed what it takes to set up a new one. */
  mustEnroll: z.string().optional(),
  /** A route requires a fresh second factor. */
  stepUp: z
    .object({
      /** The ids of the factors that count for it. Defaults to all. */
      factors: z.array(z.string()).optional(),
      /** Whether a backup code counts. Defaults to yes. */
      backup: z.boolean().optional(),
    })
    .optional(),
  /** A posted form that waits for a second factor: its path, and the fields to offer again. */
  interrupted: z
    .object({
      path: z.string(),
      at: time,
      fields: z.record(z.string(), z.string()),
      /** The labels of the fields: one text, or one for each language; `false` hides a field. */
      labels: z
        .record(z.string(), z.union([z.string(), z.record(z.string(), z.string()), z.literal(false)]))
        .optional(),
      /** What the form is about: one text, or one for each language. */
      title: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
    })
    .optional(),
  /** How many backup codes are left, if that is known; if they are few, the address after the warning page. */
  backupCodes: z.object({ left: z.number().int().nonnegative(), next: z.string().optional() }).optional(),
  /** Backup codes wait for the page that shows them once, encrypted under a key that only the browser has. */
  codesShown: z
    .object({ id: z.string(), at: time, sealed: z.string(), next: z.string().optional() })
    .optional(),
  /** Backup codes were sent from this session: how many, if the service says, and the return address. */
  codesSent: z
    .object({ count: z.number().int().nonnegative().optional(), next: z.string().optional() })
    .optional(),
})

/** What is under way in a session besides its stage. */
export type Activity = Readonly<z.output<typeof activitySchema>>

/** A posted form that waits for a second factor. */
export type InterruptedRequest = NonNullable<Activity['interrupted']>
