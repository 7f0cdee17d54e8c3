import * as z from 'zod'
import { createObjectSchema } from '../shape.js'
import { AccountFactors } from './account-factors.js'
import { KEY_VERBS } from './key-verbs.js'
import {
  BACKUP_TYPES,
  CODE_KINDS,
  type CodeKind,
  type CodeMethod,
  MAX_CODE_LENGTH,
  SEND_TYPES,
  VERIFY_TYPE,
  VERIFY_TYPES,
} from './methods.js'
import { allowMissing, answer, createTrueWord, createWordPair, loosely, time } from './names.js'
import { waitSeconds } from './service-refusal.js'
import { signIn } from './sign-in.js'
import { createBody, type Verb } from './verb.js'
import type { Scope } from './wire.js'
import { approval, count, createTextRule, createWordRule, fitsMessage, hasApproval } from './wire-parts.js'

/*
 * The one table of the verbs. The interface `MfaService`, the HTTP client, the validation of a service in the same process and the
 * breaker are derived from it, and of the service its routes, its verbs without HTTP and its OpenAPI document. `User`, `Type` and `Code`
 * are the published names; `Challenge`, `Transaction`, `Kind`, `Account`, `ClientAddress`, `Locale` and `Purpose` are additions of the
 * Countersign service, all optional. How they name
 * the members of requests and answers: see names.ts.
 */

const challenge = createTextRule(128)
const DAY_SECONDS = 86_400
const life = z
  .number()
  .nonnegative()
  .overwrite((value) => Math.min(Math.floor(value), DAY_SECONDS))
const delivered = z.enum(['sent', 'queued'])

class SendBody {
  /** The method that delivers the code. */
  readonly Type = createWordRule(SEND_TYPES)
  /** The id of a valid challenge, to send its code again. */
  readonly Challenge = challenge.optional()
  /** The host's id for what the code is used for: a code is valid only in its transaction (R25, R38). */
  readonly Transaction = createTextRule(128).optional()
  /** The purpose of the code. Messages mention it (R45), and the service binds the code to it (R38). Defaults to `sign-in`. */
  readonly Purpose = createWordRule(['sign-in', 'step-up', 'enrollment', 'approval']).optional()
  /** With the purpose `approval`: what the message names, and what the code counts for. */
  readonly Approval = approval
  /** After a password: from where the user signs in. An email says so, and what a code means that its reader did not ask for. */
  readonly SignIn = signIn
}

class SendAnswer {
  /** `queued`: accepted, but not yet handed to the carrier. */
  readonly status = delivered
  /** The id of the challenge, if the service has one; pass it to `verify`. */
  readonly challenge = loosely(z.string().min(1).max(128), z.string().max(1_000))
  /** The `Type` of the request, which the routes of the service add. */
  readonly type = allowMissing(z.enum(SEND_TYPES))
  /** How long the code is valid, if the service says so. */
  readonly expires_in = loosely(count, life)
  /** The wait before the code can be sent again, if the service says so. */
  readonly resend_in = loosely(count, waitSeconds)
  /** Whether the delivery state will also say if the message arrived (`delivered` or `failed`). */
  readonly delivery_reports = z.literal(true).optional()
}

class VerifyBody {
  /** The kind of contact the code belongs to. */
  readonly Type = createWordRule(VERIFY_TYPES)
  /** The code in canonical form; a backup code as the user typed it, trimmed, for a service that does not say what `codes` look like. */
  readonly Code = createTextRule(MAX_CODE_LENGTH)
  /** The id of the challenge, if the service gave one. The code is valid for that challenge only (R38). */
  readonly Challenge = challenge.optional()
  /** The transaction that was passed to `send`. */
  readonly Transaction = createTextRule(128).optional()
  /** The action that the user approves with the code. A code that was sent for something else is wrong. */
  readonly Approval = approval
  /** The kind of the code (R91). A service that does not support kinds accepts any. */
  readonly Kind = createWordRule(CODE_KINDS).optional()
}

/** The value that `verify` takes in place of a `Type`. */
interface VerifiedMethod {
  /** The method of the factor that the code belongs to. */
  readonly method: CodeMethod
  /** The kind of the code (R91). A service that does not support kinds accepts any. */
  readonly kind: CodeKind
}

class VerifyAnswer {
  /** The code is correct, and used up. */
  readonly valid = createTrueWord('valid')
  /** The `Type` of the request, which the routes of the service add. */
  readonly type = allowMissing(z.enum(VERIFY_TYPES))
  /** After a backup code: how many are left, if the service says so. */
  readonly backup_codes_left = count.optional()
  /** `page` if the backup code was shown on a page and sent to no contact. */
  readonly backup_delivery = z.literal('page').optional()
}

class AcceptedAs {
  /** `backup` if the code could be nothing else. Without it, a backup code counts as one of its contact (R97). */
  readonly kind = z.literal('backup').optional()
}

class EnrollAppAnswer {
  /** The QR code as a `data:image/…` URL. */
  readonly qr = z.codec(z.base64().min(1), z.string().startsWith('data:image/'), {
    decode: (image) => `data:image/png;base64,${image}`,
    encode: (url) => url.slice(url.indexOf(',') + 1),
  })
  /** The `otpauth://` URI in the QR code, if the service returns it. */
  readonly otpauth_uri = loosely(z.string().regex(/^otpauth:\/\/totp\//), z.string())
  /** The base32 secret for manual entry, if the service returns it. */
  readonly secret = loosely(z.string().regex(/^[A-Z2-7]+$/), z.string())
}

class BackupBody {
  /** The method that delivers the codes. */
  readonly Type = createWordRule(BACKUP_TYPES)
}

class BackupAnswer {
  /** `queued`: accepted, but not yet handed to the carrier. */
  readonly status = delivered
  /** The number of codes, if the service says so. */
  readonly count = loosely(z.number().int().positive(), count)
}

class RemoveFactorBody {
  /** The authenticator app, or all backup codes. */
  readonly Factor = createWordRule(['APP', 'BACKUP'])
}

class RemoveFactorAnswer {
  /** `none`: the account had no such factor. */
  readonly removed = createWordPair('removed', 'none')
}

class CreatedBackupCodes {
  /** The codes as the user writes them down, such as `4T7K-9XQM-2HVD-W3RP`. */
  readonly codes = z.array(z.string().min(1).max(64)).min(1).max(100)
}

class DeliveryState {
  /**
   * `queued`: no carrier has accepted the message yet. `sent`: a carrier accepted it. `delivered` and `failed`: the carrier reports that it arrived, or did not.
   * `refused`: a carrier permanently refused it. `expired`: no carrier accepted it in time.
   */
  readonly status = z.enum(['queued', 'sent', 'delivered', 'failed', 'refused', 'expired'])
  /** How the message is sent. */
  readonly channel = z.enum(['email', 'sms', 'whatsapp', 'call'])
  /** The masked recipient (R46). */
  readonly to = z.string().max(64)
  /** The carrier that delivered the message or was tried last. */
  readonly carrier = z.string().max(64).optional()
  /** Time of the last change, in milliseconds since 1970. */
  readonly updated_at = time
}

/** The problems of every verb that sends a message. */
const SENDING_PROBLEMS = [
  'method_off',
  'idempotency_key_in_flight',
  'contact_refused',
  'phone_at_risk',
  'idempotency_key_reused',
  'limited',
  'locked',
  'delivery_failed',
] as const

const CHANGING_PROBLEMS = ['contact_refused', 'factor_disabled', 'limited', 'locked'] as const

/** The verbs of `MfaService` outside `keys`. */
export class CodeVerbs {
  /** Generates a code and delivers it. */
  readonly send = {
    path: '/v1/mfa',
    body: createBody(new SendBody())
      .refine(hasApproval.check, hasApproval.says)
      .refine(fitsMessage.check, fitsMessage.says),
    // Services of other dialects have answers of their own, which the client reads.
    answer: answer(new SendAnswer(), { status: 'outcome' }),
    problems: ['factor_disabled', ...SENDING_PROBLEMS],
    part: 'delivery',
    scope: 'verify',
    once: true,
  } as const satisfies Verb
  /** Checks a code. A correct code is used up. */
  readonly verify = {
    path: '/v1/mfa/verify',
    body: createBody(new VerifyBody()),
    encode: ({ method }: VerifiedMethod) => ({ Type: VERIFY_TYPE[method] }),
    answer: answer(new VerifyAnswer(), { valid: 'outcome' }, createObjectSchema(new AcceptedAs()).shape),
    problems: ['invalid_code', 'factor_disabled', 'method_off', 'locked'],
    part: 'checking',
    scope: 'verify',
  } as const satisfies Verb
  /**
   * Creates a secret for an authenticator app, which is not active until its first code was verified; the app shows the contact next to
   * the code. Optional; the routes for authenticator apps require it.
   */
  readonly enrollApp = {
    path: '/v1/mfa/app',
    body: createBody({}),
    answer: answer(new EnrollAppAnswer(), { otpauth_uri: 'uri' }, { outcome: z.literal('prepared') }),
    contactsOf: 'app',
    problems: ['method_off', 'contact_refused', 'limited', 'locked', 'delivery_failed'],
    part: 'checking',
    scope: 'enroll',
  } as const satisfies Verb
  /** Generates backup codes, which replace the old ones, and delivers them. Optional; the routes for backup codes require it. */
  readonly sendBackupCodes = {
    path: '/v1/mfa/backup',
    body: createBody(new BackupBody()),
    answer: answer(new BackupAnswer(), { status: 'outcome' }),
    problems: SENDING_PROBLEMS,
    part: 'delivery',
    scope: 'enroll',
    once: true,
  } as const satisfies Verb
  /**
   * Returns which factors an account has, so that an enrolled app is asked for although the host does not list it. Throws if
   * it cannot tell, since anything else would mean that there are none. Optional; a service without it requires the option
   * `onFactorsChanged`.
   */
  readonly factorsOf = {
    path: '/v1/mfa/factors',
    body: createBody({}),
    answer: answer(new AccountFactors()),
    problems: [],
    part: 'checking',
    scope: 'read',
  } as const satisfies Verb
  /**
   * Removes a factor that the service keeps. `undefined` if the service cannot. Optional; without it, or without `factorsOf`, the pages
   * do not offer it.
   */
  readonly removeFactor = {
    path: '/v1/mfa/factors/remove',
    body: createBody(new RemoveFactorBody()),
    answer: answer(new RemoveFactorAnswer(), { removed: 'outcome' }),
    problems: CHANGING_PROBLEMS,
    part: 'checking',
    scope: 'enroll',
    without: 'undefined',
  } as const satisfies Verb
  /**
   * Generates backup codes, which replace the old ones, and returns them, for a page that shows them once. `undefined` if the service
   * can only send them. Optional; used only beside `factorsOf`, which tells such codes from those that were sent.
   */
  readonly createBackupCodes = {
    path: '/v1/mfa/backup/codes',
    body: createBody({}),
    answer: answer(new CreatedBackupCodes(), {}, { outcome: z.literal('created') }),
    problems: CHANGING_PROBLEMS,
    part: 'checking',
    scope: 'enroll',
    // Not `once`: the response holds codes, and must not be stored.
    without: 'undefined',
  } as const satisfies Verb
  /**
   * Returns the delivery state of the latest message of a challenge, so that a page can offer another method if a carrier refused it;
   * for DUAL, that of the message with the worse state. `undefined` if the challenge is unknown. Optional.
   */
  readonly deliveryOf = {
    path: '/v1/mfa/deliveries/{challenge}',
    answer: answer(new DeliveryState()),
    problems: ['not_found'],
    absent: 'This challenge has no message.',
    // Delivery states can be unavailable while messages are delivered, so they have a breaker of their own.
    part: 'delivery_state',
    scope: 'read',
    timeoutMs: 1_000,
  } as const satisfies Verb
}

/** The verbs of `MfaService` outside `keys`. */
export const VERBS: CodeVerbs = { ...new CodeVerbs() }

/** The scopes of API keys that these verbs need together, which are those that a key of an app needs for signing users in. */
export const SIGN_IN_SCOPES: readonly Scope[] = [
  ...new Set([...Object.values(VERBS), ...Object.values(KEY_VERBS)].map(({ scope }) => scope)),
]
