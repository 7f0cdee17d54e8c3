import type { ServiceProblemCode } from 'countersign/protocol'
import { TRANSCRIPT_FORMATS } from 'countersign/speech'
import type * as z from 'zod'
import type {
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi'
import type { VerbFlow } from '../../../flows/verb-flows.js'
import { problemBody } from '../problem.js'
import { PROBLEMS } from '../problem-catalogue.js'
import { describeVerb } from './described.js'
import { header } from './schemas.js'

/** The header with which a caller names its request. */
export const REQUEST_ID = { $ref: '#/components/parameters/RequestId' } as const
const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' } as const

const UPLOAD = {
  type: 'object' as const,
  required: ['file'],
  properties: {
    file: { description: 'The file itself.', contentMediaType: 'application/octet-stream' },
    language: { type: 'string' as const, description: 'The language of the speech, as a BCP 47 tag.' },
    prompt: { type: 'string' as const, description: 'Text that helps the engine, such as names.' },
    response_format: {
      type: 'string' as const,
      enum: [...TRANSCRIPT_FORMATS],
      description: 'The form of the transcript; `json` by default.',
    },
  },
}

/** A POST with an API key and parameters as JSON or as a form. */
export function post(about: {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly body: z.ZodType
  readonly answer: z.ZodType
  readonly problems: readonly ServiceProblemCode[]
  /** Whether the call sends messages: its response shows the budgets, and it accepts an Idempotency-Key. */
  readonly sends?: boolean
  /** Whether a file can be uploaded instead. */
  readonly acceptsFile?: boolean
  readonly tag?: string
  /** The status of a success. Defaults to 200. */
  readonly status?: 200 | 202
  /** Content types of the response other than JSON. */
  readonly otherAnswers?: ZodOpenApiContentObject
}): { readonly post: ZodOpenApiOperationObject } {
  const { id, summary, description, body, answer, problems, sends = false, acceptsFile = false } = about
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
          ...(acceptsFile && { 'multipart/form-data': { schema: UPLOAD } }),
        },
      },
      responses: {
        [about.status ?? 200]: {
          description: 'Success.',
          headers: {
            'X-Request-Id': header('RequestId'),
            ...(about.status === 202 && { Location: header('Location') }),
            ...(sends && {
              RateLimit: header('RateLimit'),
              'RateLimit-Policy': header('RateLimitPolicy'),
              'Idempotency-Replayed': header('IdempotencyReplayed'),
            }),
          },
          content: { 'application/json': { schema: answer }, ...about.otherAnswers },
        },
        // Speech belongs to no account.
        ...problemResponses([...WITH_BODY, ...(about.tag === 'Speech' ? [] : OF_ACCOUNTS), ...problems]),
      },
    },
  }
}

/** The operations of these verbs, by path. */
export function createOperations(verbs: readonly VerbFlow[]): ZodOpenApiPathsObject {
  return Object.fromEntries(verbs.map((verb) => [verb.verb.path, createOperation(verb)]))
}

function createOperation(described: VerbFlow): ZodOpenApiPathsObject[string] {
  const { verb, id, summary, description = '', tag = 'Second factor' } = described
  const { success = 'Success.', parameters = {} } = described
  const { problems, once: sends = false } = verb
  const { body, answer } = describeVerb(described)
  if (body) return post({ id, summary, description, tag, body, answer, problems, sends })
  return get({
    id,
    summary,
    tag,
    key: true,
    parameters: Object.entries(parameters).map(([name, { description, maxLength, example }]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', maxLength },
      example,
    })),
    responses: { 200: createKeyedResponse(success, answer) },
    problems,
  })
}

/** A response with JSON and the id of its request. */
export function createKeyedResponse(description: string, schema: z.ZodType): ZodOpenApiResponseObject {
  const headers = { 'X-Request-Id': header('RequestId') }
  return { description, headers, content: { 'application/json': { schema } } }
}

/** The response of a success that everybody may read, with a body of this type. */
export function openResponse(
  description: string,
  schema: z.ZodType | { readonly type: 'object' | 'string' },
  type = 'application/json',
): { readonly 200: ZodOpenApiResponseObject } {
  return { 200: { description, content: { [type]: { schema } } } }
}

/** A parameter of the query, a text of at most so many characters. */
export function queryText(name: string, description: string, maxLength: number, example?: string) {
  const schema = { type: 'string' as const, maxLength }
  return { name, in: 'query' as const, description, schema, ...(example && { example }) }
}

/** A GET. */
export function get(about: {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly key?: boolean
  readonly parameters?: ZodOpenApiOperationObject['parameters']
  readonly responses: ZodOpenApiOperationObject['responses']
  readonly problems?: readonly ServiceProblemCode[]
}): { readonly get: ZodOpenApiOperationObject } {
  const { id, summary, description, tag, key = false, parameters = [], responses, problems = [] } = about
  return {
    get: {
      operationId: id,
      summary,
      ...(description && { description }),
      tags: [tag],
      security: key ? [{ apiKey: [] }] : [],
      parameters: [REQUEST_ID, ...parameters],
      responses: {
        ...problemResponses(key ? ['invalid_api_key', 'missing_scope', ...problems] : problems),
        ...responses,
      },
    },
  }
}

const OF_EVERY_ROUTE: readonly ServiceProblemCode[] = [
  'method_not_allowed',
  'request_timeout',
  'head_too_large',
  'internal_error',
  'unavailable',
]

/** The additional problems of routes with a body and an API key. */
export const WITH_BODY: readonly ServiceProblemCode[] = [
  'invalid_request',
  'invalid_api_key',
  'missing_scope',
  'body_too_large',
  'unsupported_media_type',
]

const OF_ACCOUNTS: readonly ServiceProblemCode[] = ['account_busy']

/** The responses for problems, by status. */
export function problemResponses(
  codes: readonly ServiceProblemCode[],
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const all = [...new Set([...codes, ...OF_EVERY_ROUTE])].sort(
    (a, b) => PROBLEMS[a].status - PROBLEMS[b].status,
  )
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))]
  const responses = statuses.map((status) => [
    status,
    createProblemResponse(all.filter((code) => PROBLEMS[code].status === status)),
  ])
  return Object.fromEntries(responses)
}

function createProblemResponse(codes: readonly ServiceProblemCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('\n\n'),
    headers: {
      'X-Request-Id': header('RequestId'),
      ...(codes.some(hasRetryAfter) && { 'Retry-After': header('RetryAfter') }),
      ...(codes.includes('limited') && {
        RateLimit: header('RateLimit'),
        'RateLimit-Policy': header('RateLimitPolicy'),
      }),
      ...(codes.includes('invalid_api_key') && { 'WWW-Authenticate': header('WwwAuthenticate') }),
      ...(codes.includes('method_not_allowed') && { Allow: header('Allow') }),
    },
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: example(code) }])),
      },
    },
  }
}

function hasRetryAfter(code: ServiceProblemCode): boolean {
  const others: readonly ServiceProblemCode[] = ['idempotency_key_in_flight', 'engine_failed']
  return [429, 503].includes(PROBLEMS[code].status) || others.includes(code)
}

const EXAMPLE_RETRY_AFTER: Partial<Record<ServiceProblemCode, number>> = {
  idempotency_key_in_flight: 1,
  busy: 10,
  engine_failed: 60,
  engine_unavailable: 10,
  too_many_streams: 10,
  too_many_jobs: 60,
  unavailable: 5,
  account_busy: 1,
}

function example(code: ServiceProblemCode) {
  const errors = [{ field: 'Type', detail: 'must be one of EMAIL, SMS, WHATSAPP, CALL, DUAL' }]
  return problemBody(code, '', {
    ...(code === 'invalid_request' && { errors }),
    ...(code === 'missing_scope' && { scope: 'verify' as const }),
    ...(code === 'invalid_key' && { fault: 'challenge' as const }),
    ...(hasRetryAfter(code) && { retryAfterSeconds: EXAMPLE_RETRY_AFTER[code] ?? 600 }),
  })
}
