import * as z from 'zod'
import { BINDINGS } from '../protocol/details.js'
import { AMR_VALUES, type Amr, SHOWN_METHODS, type ShownMethod, STRENGTHS } from '../protocol/factor.js'
import { KEY_FAULTS, KEY_MEDIATIONS } from '../protocol/keys.js'
import { METHODS } from '../protocol/methods.js'
import { detailLines } from '../protocol/wire-parts.js'

/*
 * The session's record: what `req.session.mfa` holds. It never holds a code, a secret or a contact (R10), and no counter:
 * express-session reads and writes a session as a whole, so parallel requests would overwrite each other's counts.
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
  /** The factors proven in this session. */
  readonly amr: readonly Amr[]
  /** When each method was last shown in this session, in milliseconds since 1970. */
  readonly shown: Shown
}

/** A trusted device took the place of the second factor. It proves nothing (R67), and is valid as long as the device is. */
export interface TrustedRecord extends RecordBase {
  readonly stage: 'trusted'
  /** The device's public id. */
  readonly device: string
  /** The factors that the trust is bound to, as a digest. */
  readonly factors: string
  readonly settled: Settled
}

/** When the decision was made that let a session in without a factor, and after how many changes of the user's factors (R133). */
export interface Settled {
  /** When the service was asked, in milliseconds since 1970. */
  readonly at: number
  /** How many changes of the user's factors this app had counted before. */
  readonly changes: number
}

/** The user is signed in without a second factor. */
export interface ExemptRecord extends RecordBase {
  readonly stage: 'exempt'
  /** `policy`: the policy let it in. `proven`: so did it, and the login proved the user (R120). `not_required`: for now. */
  readonly exemption: 'policy' | 'proven' | 'not_required'
  readonly settled: Settled
}

/** The methods that were shown or set up in a session. */
export function listMethods({ shown, setUp }: Pick<VerifiedRecord, 'shown' | 'setUp'>): ShownMethod[] {
  return Object.keys({ ...shown, ...setUp }) as ShownMethod[]
}

/** When each method was last shown, in milliseconds since 1970. A backup code counts by the contact that received it (R93). */
export type Shown = Readonly<Partial<Record<ShownMethod, number>>>

/** The product, user and session that a record must belong to. */
export interface RecordOwner {
  /** The product whose options decided (R142), as `nameProduct` names it. */
  readonly product: string
  /** The user that the record belongs to; it is void for any other (R04). */
  readonly userId: string
  /** The session that the record was written into; it is void in any other, as after `keepSessionInfo` (R04). */
  readonly sessionId: string
}

interface RecordBase extends Activity, RecordOwner {
  /** The id of this pending login, or of the time since the last second factor. */
  readonly transaction: string
  /** When the first factor was shown, in milliseconds since 1970. */
  readonly startedAt: number
}

const time = z.number().int().nonnegative()
const method = z.enum([...METHODS, 'backup'])

/** The stored form is a list: see record-text.ts. */
export const challengeSchema = z.object({
  /** The plugin's id of the challenge, under which its attempts are counted. */
  id: z.string(),
  factorId: z.string(),
  method,
  delivery: z.enum(['sent', 'queued', 'none']),
  startedAt: time,
  expiresAt: time,
  resendAt: time.optional(),
  /** The service's id of the challenge. */
  service: z.string().optional(),
  /** Whether the service reports if the message arrived. */
  reports: z.literal(true).optional(),
})

/** The one live challenge of a session (R06). Times are milliseconds since 1970. */
export type Challenge = Readonly<z.output<typeof challengeSchema>>

const strength = z.enum(STRENGTHS)

const evidence = z.object({
  issuer: z.string(),
  amr: z.array(z.string()),
  acr: z.string().optional(),
  /** When the user showed the factors, in milliseconds since 1970. */
  authTime: time,
  /** Absent if the evidence does not count. */
  strength: strength.optional(),
  /** Whether it is enough to set up the first factor of an account. */
  mayEnroll: z.boolean().optional(),
})

/** The method by which the user approved the change, if an approval was needed. */
const approvedBy = z.enum(SHOWN_METHODS).optional()

/** Transient parts of a session record, as it is stored. */
export const activitySchema = z.object({
  /** The return address: a path on this site. */
  returnTo: z.string().optional(),
  challenge: challengeSchema.optional(),
  /** An authenticator app that waits for its first code. */
  enrollment: z
    .object({
      id: z.string(),
      startedAt: time,
      /** QR code and key, encrypted under a key that only the browser has. */
      sealed: z.string().optional(),
      approvedBy,
    })
    .optional(),
  /** A security key or passkey that the browser creates; `conditional`: without a prompt. `offered`: after a sign-in. */
  keyRegistration: z
    .object({
      id: z.string(),
      startedAt: time,
      mediation: z.enum(KEY_MEDIATIONS).optional(),
      offered: z.literal(true).optional(),
      approvedBy,
    })
    .optional(),
  /** A passkey is offered; `next`: the address after it. `tried`: the browser was asked without a prompt. */
  keyOffer: z.object({ next: z.string(), tried: z.literal(true).optional() }).optional(),
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
      /** Whether the form asked to trust this device. */
      trust: z.boolean().optional(),
    })
    .optional(),
  /** The id of the last end of the user's sessions before this login, if there was one. */
  lastEnd: z.string().optional(),
  /** The account's authenticator app has a short secret, and should be set up again. */
  weakApp: z.literal(true).optional(),
  /** An authenticator app or a key was set up in this session; the address after the page that says so. */
  enrolled: z.object({ next: z.string() }).optional(),
  /** When each method was last set up here, which permits no change of factors. */
  setUp: z.partialRecord(z.enum(SHOWN_METHODS), time).optional(),
  /** The evidence that the login brought along, and the factor that it counts as (R109). */
  evidence: evidence.optional(),
  /** A member of staff acts for the user in this session (R117). */
  acting: z
    .object({
      /** Who acts: the host's id of that person. */
      actor: z.string(),
      /** The id of the session that they acted from, which `record` belongs to. */
      from: z.string(),
      /** The factors that they had proven, as that session stored it. */
      record: z.unknown(),
      /** The actor, as Passport serialized them. */
      user: z.unknown(),
      reason: z.string(),
    })
    .optional(),
  /** The browser was sent to an issuer to show a factor again; `askedAt` is when, in milliseconds since 1970. */
  issuerStepUp: z.object({ issuer: z.string(), askedAt: time }).optional(),
  /** The least strength of the factor that makes this pending login a verified session (R115, R116). */
  minStrength: strength.optional(),
  /** Until when the user may sign in with less than the policy requires: with less than this strength, or without a factor. */
  grace: z.object({ until: time, minStrength: strength.optional() }).optional(),
  /** Says that the factor was shown that a setup requires: for the reset with this id or, with `stronger`, the login. */
  mustEnroll: z.string().optional(),
  /** A recovery was asked for: a weaker factor is accepted for it, or was, the one in `shown`. */
  recovery: z.object({ shown: z.enum(SHOWN_METHODS).optional(), at: time }).optional(),
  /** A route requires a fresh second factor. */
  stepUp: z
    .object({
      /** The ids of the factors that count for it. Defaults to all. */
      factors: z.array(z.string()).optional(),
      /** Whether a backup code counts. Defaults to yes. */
      backup: z.boolean().optional(),
    })
    .optional(),
  /** A request that waits for the user's approval or, with `granted`, has it (R121). The store knows if it is open. */
  approval: z
    .object({
      id: z.string(),
      /** When it was opened or approved. */
      at: time,
      /** Of everything that it is bound to. */
      digest: z.string(),
      details: z.looseObject({ type: z.string() }),
      /** The lines that the user is shown. */
      lines: detailLines,
      granted: z
        .object({
          method,
          shown: z.enum(SHOWN_METHODS),
          amr: z.array(z.enum(AMR_VALUES)),
          binding: z.enum(BINDINGS),
          /** The id of the factor; absent for a backup code. */
          factor: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
  /** A posted form that waits for a second factor: its path, and the fields to offer again. */
  interrupted: z
    .object({
      path: z.string(),
      at: time,
      fields: z.record(z.string(), z.string()),
      /** The id of the approval that it waits for. `offered`: its page was shown since, and sends the form by itself no more. */
      approval: z.string().optional(),
      offered: z.literal(true).optional(),
      /** The labels of the fields: one text, or one for each language; `false` hides a field. */
      labels: z
        .record(z.string(), z.union([z.string(), z.record(z.string(), z.string()), z.literal(false)]))
        .optional(),
      /** The subject of the form: one text, or one for each language. */
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

/** Transient parts of a session record. */
export type Activity = Readonly<z.output<typeof activitySchema>>

/** A record without some of what is under way in it. */
export function removeActivity<Rest extends MfaRecord>(
  record: Rest,
  ...names: readonly (keyof Activity)[]
): Rest {
  const rest = { ...record }
  for (const name of names) delete rest[name]
  return rest
}

/** The members that a session does not continue under another id. */
export const DROPPED = [
  'challenge',
  'enrollment',
  'stepUp',
  'codesSent',
  'refused',
  'approval',
  'returnTo',
] as const

/** The evidence that a login brought along. */
export type Evidence = NonNullable<Activity['evidence']>

/** A running grace period. `until` is in milliseconds since 1970. */
export type Grace = NonNullable<Activity['grace']>

/** A request that the user is asked to approve, or has approved. */
export type RequestedApproval = NonNullable<Activity['approval']>

/** A posted form that waits for a second factor. */
export type InterruptedRequest = NonNullable<Activity['interrupted']>
