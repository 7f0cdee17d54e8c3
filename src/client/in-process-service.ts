import * as z from 'zod'
import { ServiceError } from '../errors.js'
import { VERIFY_TYPES } from '../protocol/methods.js'
import type {
  AccountFactors,
  BackupAnswer,
  CreateBackupCodesRequest,
  CreatedBackupCodes,
  DeliveryState,
  EnrollAppAnswer,
  FactorsRequest,
  MfaService,
  RemoveFactorAnswer,
  RemoveFactorRequest,
  SendAnswer,
  VerifyAnswer,
} from '../protocol/service.js'

/*
 * Schemas for the responses of a service that the host passes as an object. TypeScript does not check them at run time,
 * and an invalid value would be stored in a session and make it void.
 */

const DAY_SECONDS = 86_400
const seconds = z.number().nonnegative()
// A wait ends when its last second does.
const wait = seconds.transform((value) => Math.min(Math.ceil(value), DAY_SECONDS))
const life = seconds.transform((value) => Math.min(Math.floor(value), DAY_SECONDS))
const count = z.int().nonnegative()

const refused = z.object({
  outcome: z.literal('refused'),
  refusal: z.discriminatedUnion('reason', [
    z.object({ reason: z.enum(['limited', 'locked']), retryAfterSeconds: wait }),
    z.object({ reason: z.enum(['method_off', 'contact_refused']), detail: z.string().optional() }),
    z.object({ reason: z.enum(['factor_disabled', 'delivery_failed']) }),
  ]),
})

const send = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.enum(['sent', 'queued']),
    challenge: z.string().max(1_000).optional(),
    expiresInSeconds: life.optional(),
    resendInSeconds: wait.optional(),
  }),
  refused,
])
const verify = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('valid'),
    kind: z.literal('backup').optional(),
    backupCodesLeft: count.optional(),
    backupDelivery: z.literal('page').optional(),
  }),
  z.object({ outcome: z.literal('invalid'), clockSteps: z.int().optional() }),
  refused,
])
const enrollApp = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('prepared'),
    qr: z.string().startsWith('data:image/'),
    uri: z.string().optional(),
    secret: z.string().optional(),
  }),
  refused,
])
const sendBackupCodes = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.enum(['sent', 'queued']), count: count.optional() }),
  refused,
])

const factorsOf = z
  .object({
    app: z.boolean(),
    backupCodesLeft: count,
    backupDelivery: z.literal('page').optional(),
    lastUsed: z
      .array(
        z.object({
          type: z.enum([...VERIFY_TYPES, 'BACKUP']),
          user: z.string().optional(),
          at: z.number().nonnegative(),
        }),
      )
      .optional(),
  })
  .optional()

const createBackupCodes = z
  .discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('created'), codes: z.array(z.string().min(1).max(64)).min(1).max(100) }),
    refused,
  ])
  .optional()

const removeFactor = z
  .discriminatedUnion('outcome', [z.object({ outcome: z.enum(['removed', 'none']) }), refused])
  .optional()

const deliveryOf = z.looseObject({ status: z.enum(['queued', 'sent', 'refused', 'expired']) }).optional()

/** Wraps the host's own service so that an invalid response is an error. */
export function validatedService(service: MfaService): MfaService {
  return {
    send: async (request) => validated<SendAnswer>('send', send, await service.send(request)),
    verify: async (request) => validated<VerifyAnswer>('verify', verify, await service.verify(request)),
    enrollApp: async (request) =>
      validated<EnrollAppAnswer>('enrollApp', enrollApp, await service.enrollApp(request)),
    sendBackupCodes: async (request) =>
      validated<BackupAnswer>('sendBackupCodes', sendBackupCodes, await service.sendBackupCodes(request)),
    ...(service.deliveryOf && {
      deliveryOf: async (request: { readonly challenge: string }) =>
        validated<DeliveryState | undefined>('deliveryOf', deliveryOf, await service.deliveryOf?.(request)),
    }),
    ...(service.factorsOf && {
      factorsOf: async (request: FactorsRequest) =>
        validated<AccountFactors | undefined>('factorsOf', factorsOf, await service.factorsOf?.(request)),
    }),
    ...(service.createBackupCodes && {
      createBackupCodes: async (request: CreateBackupCodesRequest) =>
        validated<CreatedBackupCodes | undefined>(
          'createBackupCodes',
          createBackupCodes,
          await service.createBackupCodes?.(request),
        ),
    }),
    ...(service.removeFactor && {
      removeFactor: async (request: RemoveFactorRequest) =>
        validated<RemoveFactorAnswer | undefined>(
          'removeFactor',
          removeFactor,
          await service.removeFactor?.(request),
        ),
    }),
    transcribe: (request) => service.transcribe(request),
  }
}

function validated<Answer>(verb: keyof MfaService, schema: z.ZodType, answer: unknown): Answer {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data as Answer
  // The message names the member and what was expected, never its value (R78).
  const faults = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim())
  throw new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The object in the option service returned an invalid response from ${verb}: ${faults.join('; ')}.`,
  )
}
