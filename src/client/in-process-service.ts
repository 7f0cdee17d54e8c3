import * as z from 'zod'
import { ServiceError } from '../errors.js'
import { KEY_METHODS, KEY_TYPES, VERIFY_TYPES } from '../protocol/methods.js'
import type {
  AccountFactors,
  BackupAnswer,
  BackupRequest,
  CreateBackupCodesRequest,
  CreatedBackupCodes,
  DeliveryState,
  EnrollAppAnswer,
  EnrollAppRequest,
  FactorsRequest,
  MfaService,
  RemoveFactorAnswer,
  RemoveFactorRequest,
  SendAnswer,
  VerifyAnswer,
} from '../protocol/service.js'
import type { TranscriptionService } from '../protocol/transcription.js'
import { withTimeout } from '../timeout.js'
import { SERVICE_TIMEOUT_MS, TRANSCRIBE_TIMEOUT_MS } from './address.js'
import { validatedKeys } from './in-process-keys.js'
import { refusedAnswer, waitSeconds } from './refused-answer.js'

/*
 * Schemas for the responses of a service that the host passes as an object. TypeScript does not check them at run time,
 * and an invalid value would be stored in a session and make it void.
 */

const DAY_SECONDS = 86_400
const seconds = z.number().nonnegative()
const life = seconds.transform((value) => Math.min(Math.floor(value), DAY_SECONDS))
const count = z.int().nonnegative()

const send = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.enum(['sent', 'queued']),
    challenge: z.string().max(1_000).optional(),
    expiresInSeconds: life.optional(),
    resendInSeconds: waitSeconds.optional(),
    deliveryReports: z.literal(true).optional(),
  }),
  refusedAnswer,
])
const verify = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('valid'),
    kind: z.literal('backup').optional(),
    backupCodesLeft: count.optional(),
    backupDelivery: z.literal('page').optional(),
  }),
  z.object({ outcome: z.literal('invalid'), clockSteps: z.int().optional() }),
  refusedAnswer,
])
const enrollApp = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('prepared'),
    qr: z.string().startsWith('data:image/'),
    uri: z.string().optional(),
    secret: z.string().optional(),
  }),
  refusedAnswer,
])
const sendBackupCodes = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.enum(['sent', 'queued']), count: count.optional() }),
  refusedAnswer,
])

const factorsOf = z.object({
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
})

const createBackupCodes = z
  .discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('created'), codes: z.array(z.string().min(1).max(64)).min(1).max(100) }),
    refusedAnswer,
  ])
  .optional()

const removeFactor = z
  .discriminatedUnion('outcome', [z.object({ outcome: z.enum(['removed', 'none']) }), refusedAnswer])
  .optional()

const deliveryOf = z
  .looseObject({ status: z.enum(['queued', 'sent', 'delivered', 'failed', 'refused', 'expired']) })
  .optional()

/**
 * Wraps the host's own service so that an invalid response is an error, and so is one that does not come in the time that a
 * service over HTTP has by default.
 */
export function validatedService(
  service: MfaService & Partial<TranscriptionService>,
): MfaService & Partial<TranscriptionService> {
  return {
    send: (request) => validated<SendAnswer>('send', send, () => service.send(request)),
    verify: (request) => validated<VerifyAnswer>('verify', verify, () => service.verify(request)),
    ...(service.enrollApp && {
      enrollApp: (request: EnrollAppRequest) =>
        validated<EnrollAppAnswer>('enrollApp', enrollApp, () => service.enrollApp?.(request)),
    }),
    ...(service.sendBackupCodes && {
      sendBackupCodes: (request: BackupRequest) =>
        validated<BackupAnswer>('sendBackupCodes', sendBackupCodes, () => service.sendBackupCodes?.(request)),
    }),
    ...(service.deliveryOf && {
      deliveryOf: (request: { readonly challenge: string }) =>
        validated<DeliveryState | undefined>('deliveryOf', deliveryOf, () => service.deliveryOf?.(request)),
    }),
    ...(service.factorsOf && {
      factorsOf: (request: FactorsRequest) =>
        validated<AccountFactors>('factorsOf', factorsOf, () => service.factorsOf?.(request)),
    }),
    ...(service.createBackupCodes && {
      createBackupCodes: (request: CreateBackupCodesRequest) =>
        validated<CreatedBackupCodes | undefined>('createBackupCodes', createBackupCodes, () =>
          service.createBackupCodes?.(request),
        ),
    }),
    ...(service.removeFactor && {
      removeFactor: (request: RemoveFactorRequest) =>
        validated<RemoveFactorAnswer | undefined>('removeFactor', removeFactor, () =>
          service.removeFactor?.(request),
        ),
    }),
    ...(service.keys && { keys: validatedKeys(service.keys, validated) }),
    ...transcriptionOf(service),
  }
}

/** These wait for a stream or a recording of any length. */
const OTHER_SPEECH_VERBS = [
  'transcribeLive',
  'createStreamTicket',
  'createTranscriptionJob',
  'transcriptionJob',
  'deleteTranscriptionJob',
] as const satisfies readonly (keyof TranscriptionService)[]

/** The verbs for speech that the host's own service has. */
function transcriptionOf(service: Partial<TranscriptionService>): Partial<TranscriptionService> {
  const transcribe = service.transcribe?.bind(service)
  const others = OTHER_SPEECH_VERBS.flatMap((verb) => {
    const call = service[verb]
    return call ? [[verb, call.bind(service)]] : []
  })
  return {
    ...Object.fromEntries(others),
    ...(transcribe && {
      transcribe: (request) => inTime('transcribe', () => transcribe(request), TRANSCRIBE_TIMEOUT_MS),
    }),
  }
}

async function validated<Answer>(
  verb: string,
  schema: z.ZodType,
  call: () => Promise<unknown> | undefined,
): Promise<Answer> {
  const parsed = schema.safeParse(await inTime(verb, call, SERVICE_TIMEOUT_MS))
  if (parsed.success) return parsed.data as Answer
  // The message names the member and what was expected, never its value (R78).
  const faults = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim())
  throw new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The object in the option service returned an invalid response from ${verb}: ${faults.join('; ')}.`,
  )
}

/** What the service answers within `timeoutMs`; a later answer is ignored. */
async function inTime<Answer>(
  verb: string,
  call: () => Promise<Answer> | Answer,
  timeoutMs: number,
): Promise<Answer> {
  return withTimeout(
    Promise.resolve(call()),
    timeoutMs,
    () =>
      new ServiceError(
        'ERR_MFA_SERVICE_TIMEOUT',
        `The object in the option service did not respond from ${verb} within ${timeoutMs} ms; a later response is ignored. Check what it waits for, and hand messages to a queue.`,
      ),
  )
}
