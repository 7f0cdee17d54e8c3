import * as z from 'zod'
import { KEY_VERBS } from './key-verbs.js'
import {
  type BackupMethod,
  KEY_METHODS,
  KEY_TYPE,
  KEY_TYPES,
  keyMethodOf,
  VERIFY_TYPE,
  VERIFY_TYPES,
} from './methods.js'
import { waitSeconds } from './refused-answer.js'
import type { DeliveryState, MfaService, RemoveFactorRequest, SendRequest, VerifyRequest } from './service.js'
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
  sendAnswer,
  sendBody,
  verifyAnswer,
  verifyBody,
} from './wire.js'

/*
 * The one table of the verbs. The HTTP client, the validation of a service in the same process, the breaker, the service's routes
 * and its OpenAPI document are derived of it.
 */

const DAY_SECONDS = 86_400
const life = z
  .number()
  .nonnegative()
  .overwrite((value) => Math.min(Math.floor(value), DAY_SECONDS))
const count = z.int().nonnegative()

/** The verbs of `MfaService` outside `keys`, whose methods take a request. */
export const VERBS = {
  send: {
    path: '/v1/mfa',
    body: sendBody,
    encode: ({ method, challenge, transaction, purpose }: SendRequest) => ({
      Type: method.toUpperCase(),
      Challenge: challenge,
      Transaction: transaction,
      Purpose: purpose,
    }),
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
    },
    problems: [
      'factor_disabled',
      'method_off',
      'idempotency_key_in_flight',
      'contact_refused',
      'idempotency_key_reused',
      'limited',
      'locked',
      'delivery_failed',
    ],
    part: 'delivery',
    once: true,
  },
  verify: {
    path: '/v1/mfa/verify',
    body: verifyBody,
    encode: ({ method, code, kind, challenge, transaction }: VerifyRequest) => ({
      Type: VERIFY_TYPE[method],
      Code: code,
      Kind: kind.toUpperCase(),
      Challenge: challenge,
      Transaction: transaction,
    }),
    answer: {
      in: verifyAnswer,
      out: z.object({
        outcome: z.literal('valid'),
        kind: z.literal('backup').optional(),
        backupCodesLeft: count.optional(),
        backupDelivery: z.literal('page').optional(),
      }),
    },
    problems: ['invalid_code', 'factor_disabled', 'method_off', 'locked'],
    part: 'checking',
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
    },
    problems: ['contact_refused', 'limited', 'locked', 'delivery_failed'],
    part: 'checking',
  },
  sendBackupCodes: {
    path: '/v1/mfa/backup',
    body: backupBody,
    encode: ({ method }: { readonly method: BackupMethod }) => ({ Type: method.toUpperCase() }),
    answer: {
      in: backupAnswer,
      out: z.object({ outcome: z.enum(['sent', 'queued']), count: count.optional() }),
    },
    problems: [
      'method_off',
      'idempotency_key_in_flight',
      'contact_refused',
      'idempotency_key_reused',
      'limited',
      'locked',
      'delivery_failed',
    ],
    part: 'delivery',
    once: true,
  },
  factorsOf: {
    path: '/v1/mfa/factors',
    body: factorsBody,
    answer: z.codec(
      factorsAnswer,
      z.object({
        existing: z
          .array(z.object({ method: z.enum(['app', ...KEY_METHODS]), usable: z.boolean() }))
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
          existing: existing.map(({ type, usable }) => ({
            method: type === 'APP' ? ('app' as const) : keyMethodOf(type),
            usable,
          })),
          offeredKeys: offered_keys.map(keyMethodOf),
          backupCodesLeft: backup_codes_left,
          backupDelivery: backup_delivery,
          lastUsed: last_used?.map(({ at, ...use }) => ({ ...use, at: Date.parse(at) })),
        }),
        encode: ({ existing, offeredKeys = [], backupCodesLeft, backupDelivery, lastUsed }) => ({
          existing: existing.map(({ method, usable }) => ({
            type: method === 'app' ? ('APP' as const) : KEY_TYPE[method],
            usable,
          })),
          offered_keys: offeredKeys.map((method) => KEY_TYPE[method]),
          backup_codes_left: backupCodesLeft,
          backup_delivery: backupDelivery,
          last_used: lastUsed?.map(({ at, ...use }) => ({ ...use, at: new Date(at).toISOString() })),
        }),
      },
    ),
    problems: [],
    part: 'checking',
  },
  removeFactor: {
    path: '/v1/mfa/factors/remove',
    body: removeFactorBody,
    encode: ({ factor }: RemoveFactorRequest) => ({ Factor: factor.toUpperCase() }),
    answer: z.codec(removeFactorAnswer, z.object({ outcome: z.enum(['removed', 'none']) }), {
      decode: ({ removed }) => ({ outcome: removed ? ('removed' as const) : ('none' as const) }),
      encode: ({ outcome }) => ({ removed: outcome === 'removed' }),
    }),
    problems: ['contact_refused', 'factor_disabled', 'limited', 'locked'],
    part: 'checking',
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
    problems: ['contact_refused', 'factor_disabled', 'limited', 'locked'],
    part: 'checking',
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
    problems: ['not_found'],
    // Delivery states can be unavailable while messages are delivered, so they have a breaker of their own.
    part: 'delivery_state',
    timeoutMs: 1_000,
  },
} as const satisfies Readonly<Record<Exclude<keyof MfaService, 'codes' | 'keys' | 'close'>, Verb>>

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
