import * as z from 'zod'
import { KEY_VERBS } from './key-verbs.js'
import {
  KEY_METHODS,
  KEY_TYPE,
  KEY_TYPES,
  keyMethodOf,
  VERIFY_TYPE,
  VERIFY_TYPES,
  type VerifyType,
} from './methods.js'
import type {
  BackupAnswer,
  DeliveryState,
  EnrollAppAnswer,
  MfaService,
  SendAnswer,
  SendRequest,
  VerifyAnswer,
  VerifyRequest,
} from './service.js'
import { waitSeconds } from './service-refusal.js'
import type { Verb } from './verb.js'
import {
  backupAnswer,
  backupBody,
  createBackupCodesAnswer,
  createBackupCodesBody,
  deliveryAnswer,
  enrollAppAnswer,
  enrollAppBody,
  factorsAnswer,
  factorsBody,
  removeFactorAnswer,
  removeFactorBody,
  type Scope,
  sendAnswer,
  sendBody,
  verifyAnswer,
  verifyBody,
} from './wire.js'

/*
 * The one table of the verbs. The HTTP client, the validation of a service in the same process and the breaker are derived of
 * it, and of the service its routes, its verbs without HTTP and its OpenAPI document. The names of the parameters: see verb.ts.
 */

const DAY_SECONDS = 86_400
const life = z
  .number()
  .nonnegative()
  .overwrite((value) => Math.min(Math.floor(value), DAY_SECONDS))
const count = z.int().nonnegative()

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

/** An answer with which a verb responds with status 200. */
type Granted<Answer> = Exclude<Answer, { readonly outcome: 'refused' | 'invalid' }>

/** The verbs of `MfaService` outside `keys`, whose methods take a request. */
export const VERBS = {
  send: {
    path: '/v1/mfa',
    body: sendBody,
    // Services of other dialects have answers of their own, which the client reads.
    answer: {
      in: sendAnswer,
      out: z.object({
        outcome: z.enum(['sent', 'queued']),
        challenge: z.string().max(1_000).optional(),
        expiresInSeconds: life.optional(),
        resendInSeconds: waitSeconds.optional(),
        deliveryReports: z.literal(true).optional(),
      }),
      toBody: (answer: Granted<SendAnswer>, { method }: SendRequest) => ({
        status: answer.outcome,
        challenge: answer.challenge,
        type: method.toUpperCase(),
        expires_in: answer.expiresInSeconds,
        resend_in: answer.resendInSeconds,
        delivery_reports: answer.deliveryReports,
      }),
    },
    words: {
      id: 'send',
      summary: 'Send a code',
      description:
        'Creates a code and sends it, or sends the code of an active challenge again. The response waits at most three seconds for the delivery.',
    },
    problems: ['factor_disabled', ...SENDING_PROBLEMS],
    part: 'delivery',
    scope: 'verify',
    once: true,
  },
  verify: {
    path: '/v1/mfa/verify',
    body: verifyBody,
    encode: ({ method }: VerifyRequest) => ({ Type: VERIFY_TYPE[method] }),
    answer: {
      in: verifyAnswer,
      out: z.object({
        outcome: z.literal('valid'),
        kind: z.literal('backup').optional(),
        backupCodesLeft: count.optional(),
        backupDelivery: z.literal('page').optional(),
      }),
      toBody: (answer: Granted<VerifyAnswer>, { type }: { readonly type: VerifyType }) => ({
        valid: true,
        type,
        backup_codes_left: answer.backupCodesLeft,
        backup_delivery: answer.backupDelivery,
      }),
    },
    words: {
      id: 'verify',
      summary: 'Verify a code',
      description:
        'Checks a code and uses it up. Wrong, expired, used and unknown codes get the same response, 401 `invalid_code`.',
    },
    problems: ['invalid_code', 'factor_disabled', 'method_off', 'locked'],
    part: 'checking',
    scope: 'verify',
  },
  enrollApp: {
    path: '/v1/mfa/app',
    body: enrollAppBody,
    answer: {
      in: enrollAppAnswer,
      out: z.object({
        outcome: z.literal('prepared'),
        qr: z.string().startsWith('data:image/'),
        uri: z.string().optional(),
        secret: z.string().optional(),
      }),
      toBody: ({ qr, uri, secret }: Granted<EnrollAppAnswer>) => ({
        qr: qr.slice(qr.indexOf(',') + 1),
        otpauth_uri: uri,
        secret,
      }),
    },
    contactsOf: 'app',
    words: {
      id: 'enrollApp',
      summary: 'Set up an authenticator app',
      description:
        'Creates a secret for an authenticator app. It proves nothing until its first valid code was verified; until then, a former app stays valid.',
    },
    problems: ['method_off', 'contact_refused', 'limited', 'locked', 'delivery_failed'],
    part: 'checking',
    scope: 'enroll',
  },
  sendBackupCodes: {
    path: '/v1/mfa/backup',
    body: backupBody,
    answer: {
      in: backupAnswer,
      out: z.object({ outcome: z.enum(['sent', 'queued']), count: count.optional() }),
      toBody: ({ outcome, count }: Granted<BackupAnswer>) => ({ status: outcome, count }),
    },
    words: {
      id: 'sendBackupCodes',
      summary: 'Send backup codes',
      description: 'Creates a set of backup codes and sends them to the user. Each code can be used once.',
    },
    problems: SENDING_PROBLEMS,
    part: 'delivery',
    scope: 'enroll',
    once: true,
  },
  factorsOf: {
    path: '/v1/mfa/factors',
    body: factorsBody,
    answer: z.codec(
      factorsAnswer,
      z.object({
        existing: z
          .array(
            z.object({
              method: z.enum(['app', ...KEY_METHODS]),
              usable: z.boolean(),
              digits: count.optional(),
              weak: z.literal(true).optional(),
            }),
          )
          .refine((existing) => new Set(existing.map(({ method }) => method)).size === existing.length, {
            error: 'lists a method twice',
          }),
        offeredKeys: z.array(z.enum(KEY_METHODS)).optional(),
        backupCodesLeft: count,
        backupDelivery: z.literal('page').optional(),
        lastUsed: z
          .array(
            z.object({
              type: z.enum([...VERIFY_TYPES, ...KEY_TYPES, 'BACKUP']),
              user: z.string().optional(),
              at: z.number().nonnegative(),
            }),
          )
          .optional(),
      }),
      {
        decode: ({ existing, offered_keys, backup_codes_left, backup_delivery, last_used }) => ({
          existing: existing.map(({ type, ...how }) => ({
            method: type === 'APP' ? ('app' as const) : keyMethodOf(type),
            ...how,
          })),
          offeredKeys: offered_keys.map(keyMethodOf),
          backupCodesLeft: backup_codes_left,
          backupDelivery: backup_delivery,
          lastUsed: last_used?.map(({ at, ...use }) => ({ ...use, at: Date.parse(at) })),
        }),
        encode: ({ existing, offeredKeys = [], backupCodesLeft, backupDelivery, lastUsed }) => ({
          existing: existing.map(({ method, ...how }) => ({
            type: method === 'app' ? ('APP' as const) : KEY_TYPE[method],
            ...how,
          })),
          offered_keys: offeredKeys.map((method) => KEY_TYPE[method]),
          backup_codes_left: backupCodesLeft,
          backup_delivery: backupDelivery,
          last_used: lastUsed?.map(({ at, ...use }) => ({ ...use, at: new Date(at).toISOString() })),
        }),
      },
    ),
    words: {
      id: 'readFactors',
      summary: 'Get the factors of an account',
      description:
        'Says whether the account has an authenticator app, how many backup codes are left, and when factors were last used. It changes nothing and sends nothing.',
    },
    problems: [],
    part: 'checking',
    scope: 'read',
  },
  removeFactor: {
    path: '/v1/mfa/factors/remove',
    body: removeFactorBody,
    answer: z.codec(removeFactorAnswer, z.object({ outcome: z.enum(['removed', 'none']) }), {
      decode: ({ removed }) => ({ outcome: removed ? ('removed' as const) : ('none' as const) }),
      encode: ({ outcome }) => ({ removed: outcome === 'removed' }),
    }),
    words: {
      id: 'removeFactor',
      summary: 'Remove a factor',
      description:
        'Removes the authenticator app of an account, or all its backup codes, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    },
    problems: ['contact_refused', 'factor_disabled', 'limited', 'locked'],
    part: 'checking',
    scope: 'enroll',
    without: 'undefined',
  },
  createBackupCodes: {
    path: '/v1/mfa/backup/codes',
    body: createBackupCodesBody,
    answer: z.codec(
      createBackupCodesAnswer,
      z.object({ outcome: z.literal('created'), codes: z.array(z.string().min(1).max(64)).min(1).max(100) }),
      { decode: ({ codes }) => ({ outcome: 'created' as const, codes }), encode: ({ codes }) => ({ codes }) },
    ),
    words: {
      id: 'createBackupCodes',
      summary: 'Create backup codes to show once',
      description:
        'Creates a set of backup codes and returns it, for a page that shows it once. It replaces all earlier codes at once, and is valid for the account with every contact. Each code can be used once. Ask for it only after a second factor was shown that is as strong as the strongest one of the account. The response is not kept, so a request that is sent again creates another set.',
    },
    problems: ['contact_refused', 'factor_disabled', 'limited', 'locked'],
    part: 'checking',
    scope: 'enroll',
    // Not `once`: the response holds codes, and must not be stored.
    without: 'undefined',
  },
  deliveryOf: {
    path: '/v1/mfa/deliveries/{challenge}',
    answer: z.codec(
      deliveryAnswer,
      z.looseObject({ status: z.enum(['queued', 'sent', 'delivered', 'failed', 'refused', 'expired']) }),
      {
        decode: ({ updated_at, ...state }) => ({ ...state, updatedAt: Date.parse(updated_at) }),
        encode: (state) => {
          const { updatedAt, ...others } = state as Readonly<Record<string, unknown>> & DeliveryState
          return { ...others, updated_at: new Date(updatedAt).toISOString() }
        },
      },
    ),
    words: {
      id: 'readDelivery',
      summary: 'Get the delivery state of a message',
      success: 'The delivery state of the latest message of the challenge.',
      parameters: {
        challenge: {
          description: 'The challenge in the response of `/v1/mfa`.',
          maxLength: 128,
          example: '3p_W79o5l64pvICP53C_rw',
        },
      },
    },
    problems: ['not_found'],
    absent: 'This challenge has no message.',
    // Delivery states can be unavailable while messages are delivered, so they have a breaker of their own.
    part: 'delivery_state',
    scope: 'read',
    timeoutMs: 1_000,
  },
} as const satisfies Readonly<
  Record<Exclude<keyof MfaService, 'approvals' | 'codes' | 'keys' | 'close'>, Verb>
>

/** The scopes of API keys that these verbs need together, which are those that a key of an app needs for signing users in. */
export const SIGN_IN_SCOPES: readonly Scope[] = [
  ...new Set([...Object.values(VERBS), ...Object.values(KEY_VERBS)].map(({ scope }) => scope)),
]

/** Wraps one verb. `name` is what a message calls it. */
export type WrapVerb = (
  name: string,
  verb: Verb,
  call: (request: unknown) => Promise<unknown>,
) => (request: never) => Promise<unknown>

/** The verbs that a service has, each of them wrapped. Its other members are left out. */
export function mapVerbs(service: MfaService, wrap: WrapVerb): MfaService {
  const { keys } = service
  return {
    ...mapped(VERBS, service, '', wrap),
    ...(keys && { keys: mapped(KEY_VERBS, keys, 'keys.', wrap) }),
  }
}

function mapped<Service extends object>(
  verbs: Readonly<Record<string, Verb>>,
  service: Service,
  prefix: string,
  wrap: WrapVerb,
): Service {
  const host: object = service
  const calls = Object.entries(verbs).flatMap(([name, verb]) => {
    if (typeof Reflect.get(host, name) !== 'function') return []
    const call = async (request: unknown): Promise<unknown> =>
      Reflect.apply(Reflect.get(host, name), host, [request])
    return [[name, wrap(`${prefix}${name}`, verb, call)] as const]
  })
  return Object.fromEntries(calls) as unknown as Service
}
