/** The response headers in the document. */
export const HEADERS = {
  RequestId: {
    description:
      'Identifies the request in the log of the service: your `X-Request-Id` if it was valid, else a new id.',
    schema: { type: 'string' as const },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer' as const, minimum: 1 },
  },
  RateLimit: {
    description:
      'What is left of each budget: `r` messages, and `t` seconds until one more is available. An IETF draft that may change.',
    schema: { type: 'string' as const },
    example: '"account";r=4;t=600, "application";r=9999;t=52000',
  },
  RateLimitPolicy: {
    description: 'The budgets: `q` messages in `w` seconds. An IETF draft that may change.',
    schema: { type: 'string' as const },
    example: '"account";q=5;w=600, "application";q=10000;w=86400',
  },
  IdempotencyReplayed: {
    description: '`true` when this is the response to an earlier request with the same key.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
  WwwAuthenticate: {
    description: 'Present only when the API key is invalid, never for a wrong code.',
    schema: { type: 'string' as const },
    example: 'Bearer',
  },
  Location: {
    description: 'The path of what was created.',
    schema: { type: 'string' as const },
    example: '/v1/transcribe/jobs/tj_3p_W79o5l64pvICP53C_rw',
  },
  Allow: {
    description: 'The methods that the address supports.',
    schema: { type: 'string' as const },
    example: 'POST',
  },
}

/** A reference to one of them. */
export function header(name: keyof typeof HEADERS): { readonly $ref: `#/components/headers/${string}` } {
  return { $ref: `#/components/headers/${name}` }
}
