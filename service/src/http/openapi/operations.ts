import {
  backupAnswer,
  backupBody,
  deliveryAnswer,
  enrollAppAnswer,
  enrollAppBody,
  type ServiceProblemCode,
  sendAnswer,
  sendBody,
  TRANSCRIPTION_REFUSALS,
  transcribeAnswer,
  transcribeBody,
  verifyAnswer,
  verifyBody,
} from 'countersign/protocol'
import type * as z from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { header } from './headers.js'
import { inboxAnswer, readiness } from './own-schemas.js'
import { problemResponses, WITH_BODY } from './problems.js'

const REQUEST_ID = { $ref: '#/components/parameters/RequestId' } as const
const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' } as const

const UPLOAD = {
  type: 'object' as const,
  required: ['file'],
  properties: { file: { description: 'The file itself.', contentMediaType: 'application/octet-stream' } },
}

/** A call that does something: a POST with a key, parameters as JSON or as a form. */
function call(about: {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly body: z.ZodType
  readonly answer: z.ZodType
  readonly problems: readonly ServiceProblemCode[]
  /** Whether messages leave: budgets are told, and the call may carry an Idempotency-Key. */
  readonly sends?: boolean
  /** Whether a file may be sent instead. */
  readonly takesFile?: boolean
  readonly tag?: string
}): { readonly post: ZodOpenApiOperationObject } {
  const { id, summary, description, body, answer, problems, sends = false, takesFile = false } = about
  return {
    post: {
      operationId: id,
      summary,
      description,
      tags: [about.tag ?? 'Second factor'],
      security: [{ apiKey: [] }],
      parameters: sends ? [REQUEST_ID, IDEMPOTENCY_KEY] : [REQUEST_ID],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: body },
          'application/x-www-form-urlencoded': { schema: body },
          ...(takesFile && { 'multipart/form-data': { schema: UPLOAD } }),
        },
      },
      responses: {
        200: {
          description: 'Done.',
          headers: {
            'X-Request-Id': header('RequestId'),
            ...(sends && {
              RateLimit: header('RateLimit'),
              'RateLimit-Policy': header('RateLimitPolicy'),
              'Idempotency-Replayed': header('IdempotencyReplayed'),
            }),
          },
          content: { 'application/json': { schema: answer } },
        },
        ...problemResponses([...WITH_BODY, ...problems]),
      },
    },
  }
}

/** A call that only tells something. */
function page(about: {
  readonly id: string
  readonly summary: string
  readonly tag: string
  readonly key?: boolean
  readonly parameters?: ZodOpenApiOperationObject['parameters']
  readonly responses: ZodOpenApiOperationObject['responses']
  readonly problems?: readonly ServiceProblemCode[]
}): { readonly get: ZodOpenApiOperationObject } {
  const { id, summary, tag, key = false, parameters = [], responses, problems = [] } = about
  return {
    get: {
      operationId: id,
      summary,
      tags: [tag],
      security: key ? [{ apiKey: [] }] : [],
      parameters: [REQUEST_ID, ...parameters],
      responses: { ...responses, ...problemResponses(key ? ['invalid_api_key', ...problems] : problems) },
    },
  }
}

const html = { 'text/html': { schema: { type: 'string' as const } } }
const anyJson = { 'application/json': { schema: { type: 'object' as const } } }

/** Every address of the service. */
export const OPERATIONS: ZodOpenApiPathsObject = {
  '/v1/mfa': call({
    id: 'send',
    summary: 'Send a code',
    description:
      'Makes a code and sends it, or sends the code of a living challenge again. The answer waits three seconds at most for the message to leave.',
    body: sendBody,
    answer: sendAnswer,
    sends: true,
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
  }),
  '/v1/mfa/verify': call({
    id: 'verify',
    summary: 'Verify a code',
    description:
      'Checks a code and uses it up. Wrong, expired, used and unknown codes get one answer, 401 `invalid_code`.',
    body: verifyBody,
    answer: verifyAnswer,
    problems: ['invalid_code', 'factor_disabled', 'method_off', 'locked'],
  }),
  '/v1/mfa/app': call({
    id: 'enrollApp',
    summary: 'Set up an authenticator app',
    description:
      'Makes a secret for an authenticator app. It proves nothing until its first right code was verified; a former app counts until then.',
    body: enrollAppBody,
    answer: enrollAppAnswer,
    problems: ['contact_refused', 'limited', 'locked', 'delivery_failed'],
  }),
  '/v1/mfa/backup': call({
    id: 'sendBackupCodes',
    summary: 'Send backup codes',
    description: 'Makes a set of backup codes and sends them to the person. Each is worth one verification.',
    body: backupBody,
    answer: backupAnswer,
    sends: true,
    problems: [
      'method_off',
      'idempotency_key_in_flight',
      'contact_refused',
      'idempotency_key_reused',
      'limited',
      'locked',
      'delivery_failed',
    ],
  }),
  '/v1/mfa/deliveries/{challenge}': page({
    id: 'readDelivery',
    summary: 'Ask how a message stands',
    tag: 'Second factor',
    key: true,
    parameters: [
      {
        name: 'challenge',
        in: 'path',
        required: true,
        description: 'The challenge that `/v1/mfa` answered with.',
        schema: { type: 'string', maxLength: 128 },
        example: '3p_W79o5l64pvICP53C_rw',
      },
    ],
    responses: {
      200: {
        description: 'How the latest message of the challenge stands.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: deliveryAnswer } },
      },
    },
    problems: ['not_found'],
  }),
  '/v1/transcribe': call({
    id: 'transcribe',
    summary: 'Transcribe a recording',
    description:
      'Writes down what is said in an audio or video file of at most 25 MB and 10 minutes: one that the service fetches from its address, or one that is sent as `multipart/form-data`.',
    tag: 'Speech',
    takesFile: true,
    body: transcribeBody,
    answer: transcribeAnswer,
    problems: [...TRANSCRIPTION_REFUSALS],
  }),
  '/v1/test/inbox': page({
    id: 'readInbox',
    summary: 'Read messages that did not leave',
    tag: 'Test',
    key: true,
    parameters: [
      {
        name: 'to',
        in: 'query',
        description: 'One contact, whose messages are listed alone.',
        schema: { type: 'string', maxLength: 320 },
        example: 'ann@example.com',
      },
    ],
    responses: {
      200: {
        description:
          'The latest messages of test keys, and outside production of the development inbox; newest first.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: inboxAnswer } },
      },
    },
    problems: ['invalid_request', 'not_found'],
  }),
  '/healthz': page({
    id: 'health',
    summary: 'Whether the process lives',
    tag: 'Operation',
    responses: { 200: { description: 'It does.', content: anyJson } },
  }),
  '/readyz': page({
    id: 'readiness',
    summary: 'Whether the service may be given work',
    tag: 'Operation',
    responses: {
      200: { description: 'It may.', content: { 'application/json': { schema: readiness } } },
      503: {
        description: '`checks` tells what is missing.',
        content: { 'application/json': { schema: readiness } },
      },
    },
  }),
  '/metrics': page({
    id: 'metrics',
    summary: 'Figures for Prometheus',
    tag: 'Operation',
    responses: {
      200: {
        description:
          'With the key of the metrics as a bearer token; without such a key for the same machine alone.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
    problems: ['invalid_api_key', 'not_found'],
  }),
  '/problems': page({
    id: 'listProblems',
    summary: 'Every problem there is',
    tag: 'Documents',
    responses: { 200: { description: 'A page, or JSON.', content: { ...anyJson, ...html } } },
  }),
  '/problems/{code}': page({
    id: 'showProblem',
    summary: 'What happened, and what helps',
    tag: 'Documents',
    parameters: [
      { name: 'code', in: 'path', required: true, schema: { type: 'string' }, example: 'invalid_code' },
    ],
    responses: { 200: { description: 'A page, or JSON.', content: { ...anyJson, ...html } } },
    problems: ['not_found'],
  }),
  '/openapi.json': page({
    id: 'document',
    summary: 'This document',
    tag: 'Documents',
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        content: { 'application/vnd.oai.openapi+json;version=3.1': { schema: { type: 'object' } } },
      },
    },
  }),
  '/docs': page({
    id: 'docs',
    summary: 'This document, for people',
    tag: 'Documents',
    responses: { 200: { description: 'A page.', content: html } },
  }),
}
