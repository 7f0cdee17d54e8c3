import type { ServiceProblemCode } from 'countersign/protocol'
import type { ZodOpenApiResponseObject } from 'zod-openapi'
import { problemBody } from '../problem.js'
import { PROBLEMS } from '../problem-catalogue.js'
import { header } from './headers.js'

/** The problems of every route. */
const OF_EVERY_ROUTE: readonly ServiceProblemCode[] = [
  'method_not_allowed',
  'request_timeout',
  'head_too_large',
  'internal_error',
]

/** The additional problems of routes with a body and an API key. */
export const WITH_BODY: readonly ServiceProblemCode[] = [
  'invalid_request',
  'invalid_api_key',
  'body_too_large',
  'unsupported_media_type',
  'unavailable',
]

/** The additional problems of routes about an account. */
export const OF_ACCOUNTS: readonly ServiceProblemCode[] = ['account_busy']

/** The responses for problems, by status. */
export function problemResponses(
  codes: readonly ServiceProblemCode[],
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const all = [...codes, ...OF_EVERY_ROUTE].sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status)
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))]
  const responses = statuses.map((status) => [
    status,
    responseOf(all.filter((code) => PROBLEMS[code].status === status)),
  ])
  return Object.fromEntries(responses)
}

function responseOf(codes: readonly ServiceProblemCode[]): ZodOpenApiResponseObject {
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
    ...(code === 'invalid_key' && { fault: 'challenge' as const }),
    ...(hasRetryAfter(code) && { retryAfterSeconds: EXAMPLE_RETRY_AFTER[code] ?? 600 }),
  })
}
